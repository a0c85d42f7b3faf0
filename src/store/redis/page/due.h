/* Counts the timers that are due in spans of time, over all shards. */
#ifndef DW_STORE_REDIS_DUE_H
#define DW_STORE_REDIS_DUE_H

#include "port/op.h"

struct redis_store;

/* due_begin begins a DUE operation, and answers it later. */
void due_begin(struct redis_store *, dw_op *);

#endif
