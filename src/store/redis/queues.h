/* The messages of queue topics: push, take, answer, and the letters of those that are dead. */
#ifndef DW_STORE_REDIS_QUEUES_H
#define DW_STORE_REDIS_QUEUES_H

#include "port/op.h"

struct redis_store;

/* queues_send sends the operation. A PUSH takes those of its topic behind it in `behind` along.
 * DW_OK: its answer comes later. Otherwise it was not sent, and is still the caller's. */
int queues_send(struct redis_store *, dw_op *, struct op_queue *behind);

#endif
