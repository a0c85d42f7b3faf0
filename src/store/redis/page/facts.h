/* What the servers report about themselves, for the operator. */
#ifndef DW_STORE_REDIS_FACTS_H
#define DW_STORE_REDIS_FACTS_H

#include "port/op.h"

struct redis_store;

/* facts_begin asks all connected servers, and answers the FACTS operation with a row for each fact:
 * its name as id, its value as body with a NUL, and the server as token. */
void facts_begin(struct redis_store *, dw_op *);

#endif
