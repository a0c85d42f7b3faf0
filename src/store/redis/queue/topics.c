#include "store/redis/queue/topics.h"

#include "store/redis/core.h"
#include "store/redis/page/ends.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/queue/queues.h"
#include "store/redis/queue/topic_calls.h"

/* is_turn returns true if the operation need not wait for changes under way. Changes do not wait
 * for each other. Every other operation waits until all changes submitted before it are in all
 * shards. If there are almost too many topics, changes are sent one at a time, so that each is
 * counted. */
static bool is_turn(const struct topic_ops *topics, const dw_op *op)
{
	return topics->changing <
	       (!topic_is_change(op) || !topics->has_room ? 1 : TOPIC_CHANGES_MAX);
}

/* may_send returns true if the operation can be sent now. A client that changes settings in a new
 * namespace must first fix the number of shards. An owner does not change settings while it
 * acquires a shard that has lost its data. */
static bool may_send(struct redis_store *store, const dw_op *op)
{
	struct shard *shard;

	if (!cut_off_settled(store) || store->now < store->nodes.pause_until || store->stopped ||
	    store->ownership.acquisition.active || !is_turn(&store->later.topics, op) ||
	    !layout_is_known(store))
		return false;
	if (!topic_is_change(op))
		return true;
	shard = shard_of(store, op->topic);
	if (shard_is_ours(shard))
		return shard->rebuild.state == REBUILD_NONE || shard->rebuild.state == REBUILD_TOLD;
	if (shard->channel.handshake == HANDSHAKE_NONE)
		handshake_begin(store, shard);
	return shard->channel.handshake == HANDSHAKE_DONE;
}

static bool is_cut_off(struct redis_store *store, const dw_op *op)
{
	const char *name = ends_asks(op) ? op->id : op->topic;

	if (op->kind == DW_OP_TOPIC_COUNT)
		return !shard_first(store);
	return name && op->kind != DW_OP_TOPIC_LIST && shard_is_cut_off(shard_of(store, name));
}

void topics_send(struct redis_store *store)
{
	struct op_queue *waiting = &store->later.topics.waiting;

	while (waiting->first && may_send(store, waiting->first)) {
		dw_op *op = op_queue_pop(waiting);
		int status = is_cut_off(store, op) ? DW_ESTORE
			     : ends_asks(op)       ? ends_send(store, op)
			     : queues_has(op)      ? queues_send(store, op, waiting)
						   : topic_call_send(store, op);

		if (status != DW_OK)
			queues_give_up(store, op, status);
	}
}

void topics_submit(struct later *later, dw_op *op)
{
	op_queue_push(&later->topics.waiting, op);
}

void topics_overdue(struct redis_store *store)
{
	dw_op *op = op_queue_take(&store->later.topics.waiting);

	while (op) {
		dw_op *next = op->next;

		if (store->now >= place_of(op)->deadline)
			queues_give_up(store, op, DW_ESTORE);
		else
			op_queue_push(&store->later.topics.waiting, op);
		op = next;
	}
}

void topics_end(struct redis_store *store, int status)
{
	dw_op *op;

	while ((op = op_queue_pop(&store->later.topics.waiting)))
		queues_give_up(store, op, status);
}

void redis_topics_free(struct redis_store *store)
{
	copies_forget(store);
	consumers_free(&store->later);
}

void topics_note_changes(struct later *later, const struct shard *shard, uint64_t changes)
{
	if (shard->topic_changes != changes + 1)
		later->topics.has_changed = true;
}

void topics_work(struct redis_store *store)
{
	consumers_listen(store);
	topics_send(store);
}
