/* Answers what became of an id: the last remembered end, and the last dead letter. */
#ifndef DW_STORE_REDIS_ENDS_H
#define DW_STORE_REDIS_ENDS_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;

/* ends_asks returns true if the operation is an ENDED, or a DEAD_SCAN of an id. ends_send sends the
 * operation. If ends_send returns DW_OK, the answer comes later. Otherwise the operation was not
 * sent, and stays the caller's. */
bool ends_asks(const dw_op *);
int ends_send(struct redis_store *, dw_op *);

#endif
