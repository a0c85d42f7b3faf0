/* The messages of queue topics: push, take, answer, and the letters of those that are dead. */
#ifndef DW_STORE_REDIS_QUEUES_H
#define DW_STORE_REDIS_QUEUES_H

#include "port/op.h"
#include "store/redis/queue/consumers.h"

struct redis_store;
struct shard;

enum { QUEUE_KEYS = 8, QUEUE_KEY_SIZE = 160 }; /* a namespace and a topic of 63 bytes each */

/* Room for what a command points to, until it is sent. */
struct queue_room {
	char keys[QUEUE_KEYS][QUEUE_KEY_SIZE];
	char consumer[CONSUMER_NAME_SIZE];
};

/* queues_begin_await begins the command of an AWAIT in a shard. */
void queues_begin_await(struct redis_store *, const struct shard *, const dw_op *,
			struct queue_room *);

/* queues_send sends the operation. A PUSH takes those of its topic behind it in `behind` along.
 * DW_OK: its answer comes later. Otherwise it was not sent, and is still the caller's. */
int queues_send(struct redis_store *, dw_op *, struct op_queue *behind);

#endif
