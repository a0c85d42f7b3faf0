/* What became of an id: its last end that is kept, and its last dead letter. */
#ifndef DW_STORE_REDIS_ENDS_H
#define DW_STORE_REDIS_ENDS_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;

/* ends_asks returns true if the operation is an ENDED, or a DEAD_SCAN of an id. ends_send sends it.
 * DW_OK: its answer comes later. Otherwise it was not sent, and is still the caller's. */
bool ends_asks(const dw_op *);
int ends_send(struct redis_store *, dw_op *);

#endif
