/* Keeps operations that ask every shard until all earlier operations are sent. A barrier also holds
 * up later operations. */
#include "store/redis/page/later.h"

#include "store/redis/core.h"
#include "store/store.h"

bool later_is_barrier(const dw_op *op)
{
	return op->kind == DW_OP_PURGE || (op->kind == DW_OP_DROP && !op->id);
}

static bool reads_only(const dw_op *op)
{
	return op->kind == DW_OP_SCAN || op->kind == DW_OP_DEAD_SCAN || op->kind == DW_OP_STATUS ||
	       op->kind == DW_OP_DUE || op->kind == DW_OP_CHECK || op->kind == DW_OP_MEMBERS ||
	       op->kind == DW_OP_FACTS;
}

/* has_older returns true if an operation in the queue was submitted before `order`. */
static bool has_older(const struct op_queue *queue, uint64_t order)
{
	const dw_op *op = queue->first;

	while (op && place_of_const(op)->order > order)
		op = op->next;
	return op != NULL;
}

/* is_sent returns true if every operation that was submitted before op is on its way or answered.
 * Later operations do not count, because under load there are always some. While the server refuses
 * every change, a caller's read need not wait. */
static bool is_sent(const struct redis_store *store, const dw_op *op)
{
	if (!cut_off_settled(store) || store->ownership.acquisition.active)
		return false;
	if (op->asked && reads_only(op) && node_refuses(store->nodes.home))
		return true;
	if (store->now < store->nodes.pause_until)
		return false;
	if (later_is_barrier(op) &&
	    has_older(&store->completion.suspects.aside, place_of_const(op)->order))
		return false;
	for (unsigned i = shard_next(&store->sets.queued, 0); i < store->shard_count;
	     i = shard_next(&store->sets.queued, i + 1)) {
		const struct shard *shard = &store->shards[i];

		if (shard->in_doubt.requests.first ||
		    has_older(&shard->queues.retry, place_of_const(op)->order) ||
		    has_older(&shard->queues.waiting, place_of_const(op)->order))
			return false;
	}
	return true;
}

/* is_ready returns true if the shards accept changes and are not being rebuilt. It looks at our own
 * shards, or at all shards for a barrier, but not at shards that are cut off. A barrier also
 * requires that no command of these shards is under way. If such a command failed, the server would
 * refuse the barrier behind it, and a barrier cannot be sent again. */
static bool is_ready(struct redis_store *store, bool for_barrier)
{
	bool ready = true;

	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard_is_cut_off(shard) || !(for_barrier || shard_is_ours(shard)))
			continue;
		if (shard->channel.handshake == HANDSHAKE_NONE)
			handshake_begin(store, shard);
		ready = ready && shard->channel.handshake == HANDSHAKE_DONE &&
			!shard->channel.is_broken && shard->rebuild.state == REBUILD_NONE &&
			store->now >= shard->channel.pause_until &&
			!(for_barrier && shard->channel.under_way > 0);
	}
	return ready;
}

/* is_resting returns true if a shard is paused because the server has refused one of its commands,
 * or if types.lua is running for that reason. */
static bool is_resting(const struct redis_store *store)
{
	if (store->sets.looks > 0)
		return true;
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->now < store->shards[i].channel.pause_until)
			return true;
	return false;
}

/* reads_shards returns true for reads that come back to this queue after a refusal. They wait until
 * the shards are no longer paused. */
static bool reads_shards(const dw_op *op)
{
	return op->kind == DW_OP_STATUS || op->kind == DW_OP_DUE || op->kind == DW_OP_CHECK;
}

/* changes_shards returns true if the operation's commands have numbers. The REPORT of an owner that
 * has lost its shards does not count, because it is refused at once. */
static bool changes_shards(const struct redis_ownership *ownership, const dw_op *op)
{
	return later_is_barrier(op) || (op->kind == DW_OP_REPORT && ownership->role == DW_OWNER);
}

bool later_may_begin(struct redis_store *store)
{
	const dw_op *op = store->later.ops.first;

	if (!op || !is_sent(store, op) || !layout_is_known(store))
		return false;
	if (changes_shards(&store->ownership, op) && !is_ready(store, later_is_barrier(op)))
		return false;
	return !(reads_shards(op) && is_resting(store) && !node_refuses(store->nodes.home));
}

bool later_needs_all(const dw_op *op)
{
	bool is_page = op->kind == DW_OP_SCAN || op->kind == DW_OP_DEAD_SCAN;

	return later_is_barrier(op) || (is_page && op->asked && !(op->flags & DW_OP_PARTIAL));
}

void later_end_barrier(struct later *later, const dw_op *op)
{
	if (later->barrier == op)
		later->barrier = NULL;
}

void later_recall(struct redis_store *store)
{
	dw_op *op;

	while ((op = op_queue_pop(&store->later.ops))) {
		later_end_barrier(&store->later, op);
		answer(store, op, DW_ESTORE);
	}
	answer_all(store, &store->later.behind, DW_ESTORE);
}

void later_overdue(struct redis_store *store)
{
	dw_op *op = op_queue_take(&store->later.ops);

	while (op) {
		dw_op *next = op->next;

		if (store->now >= place_of(op)->deadline) {
			later_end_barrier(&store->later, op);
			answer(store, op, DW_ESTORE);
		} else {
			op_queue_push(&store->later.ops, op);
		}
		op = next;
	}
}
