/* The messages of queue topics: push, take and answer, and the dead letters of messages. */
#ifndef DW_STORE_REDIS_QUEUES_H
#define DW_STORE_REDIS_QUEUES_H

#include "port/op.h"

struct redis_store;

/* queues_has returns true for an operation on messages. */
bool queues_has(const dw_op *);

/* queues_send sends the operation. A PUSH takes along PUSHes of the same topic that wait in
 * `behind`. Returns DW_OK if the answer comes later. Otherwise the operation was not sent, and
 * stays the caller's. */
int queues_send(struct redis_store *, dw_op *, struct op_queue *behind);

/* queues_give_up answers an operation that is not sent any more. A TAKE hands over the messages
 * that it already has, and an ANSWER reports the results that it already has. */
void queues_give_up(struct redis_store *, dw_op *, int status);

#endif
