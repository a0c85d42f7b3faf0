/* The messages of queue topics: push, take, answer, and the letters of those that are dead. */
#ifndef DW_STORE_REDIS_QUEUES_H
#define DW_STORE_REDIS_QUEUES_H

#include "port/op.h"

struct redis_store;

/* queues_has returns true for an operation on messages. */
bool queues_has(const dw_op *);

/* queues_send sends the operation. A PUSH takes those of its topic behind it in `behind` along.
 * DW_OK: its answer comes later. Otherwise it was not sent, and is still the caller's. */
int queues_send(struct redis_store *, dw_op *, struct op_queue *behind);

/* queues_give_up answers an operation that is not sent any more. A TAKE that has messages already
 * hands them out, and an ANSWER tells what it knows already. */
void queues_give_up(struct redis_store *, dw_op *, int status);

#endif
