#include "store/redis/queue/queue_call.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

void queue_call_add_keys(struct redis_store *store, enum redis_script_id script,
			 const struct shard *shard, const char *topic, struct queue_room *room)
{
	for (size_t i = 0; i < redis_scripts[script].queue_keys; i++) {
		(void)snprintf(room->keys[i], QUEUE_KEY_SIZE, "{%s:%02u}:%s%s", store->names.name,
			       shard->number, redis_queue_ends[i],
			       i < QUEUE_KEYS ? topic : ""); /* always fits */
		command_text(&store->draft.words, room->keys[i]);
	}
}

void queue_call_begin_topics(struct redis_store *store, enum redis_script_id script,
			     const struct shard *shard, const char *const *topics, size_t count)
{
	struct queue_room *rooms;

	rooms = (struct queue_room *)(void *)call_begin_topics(&store->draft, script, shard, count,
							       count * sizeof *rooms);
	for (size_t i = 0; rooms && i < count; i++)
		queue_call_add_keys(store, script, shard, topics[i], &rooms[i]);
}

void queue_call_begin(struct redis_store *store, enum redis_script_id script, const dw_op *op,
		      struct queue_room *room)
{
	const struct shard *shard = shard_of(store, op->topic);

	call_begin(&store->draft, script, shard);
	queue_call_add_keys(store, script, shard, op->topic, room);
	command_text(&store->draft.words, op->topic);
}

void queue_call_begin_rare(struct redis_store *store, enum redis_script_id script, const dw_op *op,
			   struct queue_room *room)
{
	const struct shard *shard = shard_of(store, op->topic);

	call_begin_rare(&store->draft, script, shard);
	queue_call_add_keys(store, script, shard, op->topic, room);
	command_text(&store->draft.words, op->topic);
}

void queue_call_key(struct redis_store *store, const char *topic, const char *kind,
		    char ret_key[QUEUE_KEY_SIZE])
{
	(void)snprintf(ret_key, QUEUE_KEY_SIZE, "{%s:%02u}:%s%s", store->names.name,
		       shard_of(store, topic)->number, kind, topic); /* always fits */
}

/* failed answers the operations of a command that was not applied, or puts them back to be sent
 * again. */
static void failed(struct redis_store *store, struct op_queue *ops, enum failure failure)
{
	if (failure == FAILURE_AGAIN)
		batch_take_back(&store->later.topics.waiting, ops);
	else
		answer_all(store, ops, failure == FAILURE_FULL ? DW_EFULL : DW_ESTORE);
}

bool queue_call_is_applied(struct redis_store *store, struct op_queue *ops, enum failure failure,
			   const struct reply *reply)
{
	if (failure != FAILURE_NONE) {
		failed(store, ops, failure);
		return false;
	}
	if (!reply_is(&reply->items[0], "TYPE"))
		return true;
	complain_of_key(store, reply);
	answer_all(store, ops, DW_ECORRUPT);
	return false;
}

bool queue_call_waits(struct redis_store *store, const struct redis_request *request,
		      struct op_queue *ops)
{
	if (!request->is_unsent || store->stopped)
		return false;
	batch_take_back(&store->later.topics.waiting, ops);
	return true;
}

void queue_call_lost(struct redis_store *store, struct redis_request *request)
{
	struct op_queue ops = {0};

	op_queue_push(&ops, request->context);
	if (!queue_call_waits(store, request, &ops))
		answer(store, op_queue_pop(&ops), DW_EUNKNOWN);
	request_free(&store->alloc, request);
}

bool queue_call_end(struct redis_store *store, struct redis_request *request,
		    const struct reply *reply)
{
	enum failure failure = call_failed(store, request, reply);
	struct op_queue ops = {0};

	op_queue_push(&ops, request->context);
	request_free(&store->alloc, request);
	return queue_call_is_applied(store, &ops, failure, reply);
}

void queue_call_begin_await(struct redis_store *store, const struct shard *shard, const dw_op *op,
			    struct queue_room *room)
{
	struct redis_command *words = &store->draft.words;
	const char *prefix = op->body;
	const char *end = prefix + op->body_size;

	call_begin(&store->draft, SCRIPT_AWAIT, shard);
	queue_call_add_keys(store, SCRIPT_AWAIT, shard, "", room);
	command_text(words, "");
	command_text(words,
		     consumers_name(&store->later.consumers, op->head.generation, room->consumer));
	for (; prefix < end; prefix += strlen(prefix) + 1)
		command_text(words, prefix);
}
