/* Calls of the scripts of queues. */
#ifndef DW_STORE_REDIS_QUEUE_CALL_H
#define DW_STORE_REDIS_QUEUE_CALL_H

#include "port/op.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/wire/script_call.h"

struct redis_store;
struct shard;

#define QUEUE_TOPICS_MAX 100 /* topics of one call, of 3 us of the server each */

enum { QUEUE_KEY_SIZE = 160 }; /* a namespace and a topic of 63 bytes each */

/* Room for what a command points to, until it is sent. */
struct queue_room {
	char keys[QUEUE_KEYS_MAX][QUEUE_KEY_SIZE];
	char consumer[CONSUMER_NAME_SIZE];
};

/* queue_call_begin begins a command with the keys of the operation's topic, and the topic.
 * queue_call_begin_rare does so as call_begin_rare(). queue_call_begin_await begins the command of
 * an AWAIT in a shard. */
void queue_call_begin(struct redis_store *, enum redis_script_id, const dw_op *,
		      struct queue_room *);
void queue_call_begin_rare(struct redis_store *, enum redis_script_id, const dw_op *,
			   struct queue_room *);
void queue_call_begin_await(struct redis_store *, const struct shard *, const dw_op *,
			    struct queue_room *);

/* queue_call_add_keys adds the keys of the topic's queue that the script has, in that shard. */
void queue_call_add_keys(struct redis_store *, enum redis_script_id, const struct shard *,
			 const char *topic, struct queue_room *);

/* queue_call_begin_topics begins a command about the queues of some topics, at most
 * QUEUE_TOPICS_MAX, in that shard. */
void queue_call_begin_topics(struct redis_store *, enum redis_script_id, const struct shard *,
			     const char *const *topics, size_t count);

/* queue_call_key writes a key of the topic's queue. */
void queue_call_key(struct redis_store *, const char *topic, const char *kind,
		    char ret_key[QUEUE_KEY_SIZE]);

/* queue_call_is_applied returns false if the command was not applied. Then its operations are taken
 * care of. queue_call_end does the same for the operation in request->context, and frees the
 * request. */
bool queue_call_is_applied(struct redis_store *, struct op_queue *, enum failure,
			   const struct reply *);
bool queue_call_end(struct redis_store *, struct redis_request *, const struct reply *);

/* queue_call_waits lets the operations of a lost request wait for the next connection if the server
 * certainly has not got them. Returns false if it may have got them. */
bool queue_call_waits(struct redis_store *, const struct redis_request *, struct op_queue *);

/* queue_call_lost answers the operation in request->context DW_EUNKNOWN, unless it can wait for the
 * next connection. */
void queue_call_lost(struct redis_store *, struct redis_request *);

#endif
