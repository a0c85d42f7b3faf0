/* Calls of the scripts of queues. */
#ifndef DW_STORE_REDIS_QUEUE_CALL_H
#define DW_STORE_REDIS_QUEUE_CALL_H

#include "port/op.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/wire/script_call.h"

struct redis_store;
struct shard;

#define QUEUE_TOPICS_MAX 100 /* the most topics of one call; each topic costs the server 3 us */

enum { QUEUE_KEY_SIZE = 160 }; /* enough for a namespace and a topic of 63 bytes each */

/* Buffers for texts to which a command points until it is sent. */
struct queue_room {
	char keys[QUEUE_KEYS_MAX][QUEUE_KEY_SIZE];
	char consumer[CONSUMER_NAME_SIZE];
};

/* queue_call_begin begins a command with the keys of the operation's topic, and the topic.
 * queue_call_begin_rare is the same, but sends the text of the script, like call_begin_rare().
 * queue_call_begin_await begins the command of an AWAIT in a shard. */
void queue_call_begin(struct redis_store *, enum redis_script_id, const dw_op *,
		      struct queue_room *);
void queue_call_begin_rare(struct redis_store *, enum redis_script_id, const dw_op *,
			   struct queue_room *);
void queue_call_begin_await(struct redis_store *, const struct shard *, const dw_op *,
			    struct queue_room *);

/* queue_call_add_keys adds those keys of the topic's queue that the script gets, as keys of this
 * shard. */
void queue_call_add_keys(struct redis_store *, enum redis_script_id, const struct shard *,
			 const char *topic, struct queue_room *);

/* queue_call_begin_topics begins a command about the queues of some topics in this shard, at most
 * QUEUE_TOPICS_MAX. */
void queue_call_begin_topics(struct redis_store *, enum redis_script_id, const struct shard *,
			     const char *const *topics, size_t count);

/* queue_call_key writes the name of one key of the topic's queue. */
void queue_call_key(struct redis_store *, const char *topic, const char *kind,
		    char ret_key[QUEUE_KEY_SIZE]);

/* queue_call_is_applied returns false if the command was not applied. Then it has answered its
 * operations, or put them back to be sent again. queue_call_end does the same for the operation in
 * request->context, and frees the request. */
bool queue_call_is_applied(struct redis_store *, struct op_queue *, enum failure,
			   const struct reply *);
bool queue_call_end(struct redis_store *, struct redis_request *, const struct reply *);

/* queue_call_waits is called when the request was lost. If the server certainly has not got it, the
 * operations wait for the next connection. Returns false if the server may have got it. */
bool queue_call_waits(struct redis_store *, const struct redis_request *, struct op_queue *);

/* queue_call_lost answers DW_EUNKNOWN to the operation in request->context, unless the operation
 * can wait for the next connection. */
void queue_call_lost(struct redis_store *, struct redis_request *);

#endif
