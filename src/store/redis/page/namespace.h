/* Operations that ask every shard. */
#ifndef DW_STORE_REDIS_NAMESPACE_H
#define DW_STORE_REDIS_NAMESPACE_H

#include "port/op.h"

struct redis_store;

void namespace_begin(struct redis_store *, dw_op *);

#endif
