/* Takes operations over, and puts each into the queue in which it waits. */
#include "store/redis/timer/submit.h"

#include "store/redis/core.h"
#include "store/redis/owner/member_numbers.h"
#include "store/redis/page/ends.h"
#include "store/redis/page/facts.h"
#include "timer/record.h"
#include "timer/transition.h"

static void park(struct redis_store *store, dw_op *op)
{
	if (store->inbox.op) {
		answer(store, op, DW_EBUSY); /* there is only one INBOX at a time */
		return;
	}
	store->inbox.op = op;
}

static void put_in_queue(struct shard_sets *sets, const struct shard *shard, struct op_queue *queue,
			 dw_op *op)
{
	op_queue_push(queue, op);
	shard_queued(sets, shard);
}

/* push queues a rebuild write, unless the timer has a tombstone. The engine may still know a timer
 * that has ended: if a page of a scan was read before the timer ended, the engine may learn of the
 * timer after its end. */
static void push(struct redis_store *store, dw_op *op)
{
	struct shard *shard = shard_of(store, op->id);

	if (tombstone_covers(shard, op->id, op->head.generation))
		answer(store, op, DW_ENOENT);
	else
		put_in_queue(&store->sets, shard, &shard->queues.rebuild, op);
}

/* disown gives every lease back, because only a newer durawheel understands a timer. It notes this
 * in the shard of that timer. */
static void disown(struct redis_store *store, dw_op *op)
{
	if (op->id && op->body)
		shard_of(store, op->id)->lease.newer = record_version(op->body);
	restore_lose(store);
	answer(store, op, DW_OK);
}

static bool is_of_topics(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_TOPIC_SET:
	case DW_OP_TOPIC_DROP:
	case DW_OP_TOPIC_LIST:
	case DW_OP_TOPIC_COUNT:
	case DW_OP_PUSH:
	case DW_OP_TAKE:
	case DW_OP_AWAIT:
	case DW_OP_ANSWER:
	case DW_OP_LETTER:
		return true;
	default:
		return ends_asks(op);
	}
}

/* take takes an operation over. `shard` is the shard of its timer, or NULL if the operation is not
 * about one timer. */
static void take(struct redis_store *store, struct shard *shard, dw_op *op)
{
	/* A DISOWN overtakes all other operations, because those may wait for shards that nobody
	 * rebuilds any more. */
	if (op->kind == DW_OP_DISOWN) {
		disown(store, op);
	} else if (store->later.barrier && op->kind != DW_OP_LOSS && op->kind != DW_OP_REPUSH) {
		op_queue_push(&store->later.behind, op);
	} else if (is_of_topics(op)) {
		topics_submit(&store->later, op);
	} else if (op->kind == DW_OP_ACK && op->id[0] == '\0') {
		/* The acknowledged row was the note about topics, which is not an inbox entry. */
		answer(store, op, DW_OK);
	} else if (op->kind == DW_OP_INBOX) {
		park(store, op);
	} else if (op->kind == DW_OP_LOSS) {
		restore_park(store, op);
	} else if (op->kind == DW_OP_GIVE) {
		give_begin(store, op);
	} else if (op->kind == DW_OP_REPUSH) {
		push(store, op);
	} else if (shard) {
		if (op->kind == DW_OP_CLAIM && op->head.generation <= shard->lease.jump)
			op->flags &= ~DW_OP_KNOWN; /* only the script knows the attempt */
		put_in_queue(&store->sets, shard, &shard->queues.waiting, op);
	} else {
		if (later_is_barrier(op))
			store->later.barrier = op;
		op_queue_push(&store->later.ops, op);
	}
}

/* shard_for returns the shard of the operation's timer, or NULL if the operation is about the whole
 * namespace. */
static struct shard *shard_for(struct redis_store *store, const dw_op *op)
{
	return write_is_one(op) && op->id[0] ? shard_of(store, op->id) : NULL;
}

/* role_in returns the role of this store in a shard, or in the namespace if shard is NULL. While a
 * shard is being given away its role is not known, so DW_OWNER lets its operations wait. */
static dw_role role_in(const struct redis_ownership *ownership, const struct shard *shard)
{
	if (!shard)
		return ownership->role;
	return shard_may_serve(shard) || shard->give.op ? DW_OWNER : DW_CLIENT;
}

/* permit returns whether the operation is allowed in this role. If the engine made an owner's
 * operation before it knew that the ownership is lost, the result is DW_EFENCED, not DW_EROLE. */
static int permit(const struct redis_store *store, const struct shard *shard, const dw_op *op)
{
	int status = life_permits(op, role_in(&store->ownership, shard));

	if (store->handover.is_on && op->kind == DW_OP_LOSS)
		return DW_OK; /* the engine has now written all that it knows */
	if (status == DW_EROLE && (store->env.role == DW_OWNER || store->ownership.was_owner))
		return DW_EFENCED;
	return status;
}

/* makes_generation returns true if the operation makes a new version. The version is chosen at
 * submission, because the calls lose their order in the shards' queues. */
static bool makes_generation(const dw_op *op)
{
	return op->kind == DW_OP_PUT || op->kind == DW_OP_MOVE || op->kind == DW_OP_NEXT ||
	       op->kind == DW_OP_REQUEUE;
}

void submit_one(struct redis_store *store, dw_op *op)
{
	struct shard *shard = shard_for(store, op);
	int status = store->stopped ? DW_ECLOSED : permit(store, shard, op);

	op->status = DW_OK;
	op->level = DW_STORED;
	place_of(op)->deadline = usec_add(op->asked ? op->asked : store->now, PATIENCE);
	place_of(op)->order = ++store->completion.submitted;
	if (makes_generation(op))
		place_of(op)->floor = clock_version(store, shard->node);
	answer_take(&store->completion, op);
	if (status != DW_OK)
		answer(store, op, status);
	else
		take(store, shard, op);
}

/* take_if_permitted takes an operation that waited behind a barrier. Meanwhile the ownership may
 * have been lost, or the barrier may have purged the timer. */
static void take_if_permitted(struct redis_store *store, dw_op *op)
{
	struct shard *shard = shard_for(store, op);
	int status = permit(store, shard, op);

	op->flags &= ~DW_OP_KNOWN;
	if (status != DW_OK)
		answer(store, op, status);
	else
		take(store, shard, op);
}

void submit_later(struct redis_store *store)
{
	while (later_may_begin(store)) {
		dw_op *op = op_queue_pop(&store->later.ops);

		int status =
		    permit(store, NULL, op); /* the ownership may have been lost meanwhile */

		if (status == DW_OK && op->kind == DW_OP_PURGE && shard_is_shared(store) &&
		    !members_has_all(store))
			status = DW_EOWNED;
		if (status == DW_OK && store->sets.cut_off_count > 0 && later_needs_all(op))
			status = DW_ESTORE;
		if (status != DW_OK) {
			later_end_barrier(&store->later, op);
			answer(store, op, status);
			continue;
		}
		/* Before an OWN all commands are sent that the store numbered as a client. A server
		 * answers them before the acquisition. */
		if (op->kind == DW_OP_OWN)
			(shard_is_shared(store) ? members_own : lease_acquire)(store, op);
		else if (op->kind == DW_OP_MEMBERS)
			numbers_ask_members(store, op);
		else if (op->kind == DW_OP_FACTS)
			facts_begin(store, op);
		else if (op->kind == DW_OP_SCAN || op->kind == DW_OP_DEAD_SCAN)
			scan_begin(store, op);
		else if (op->kind == DW_OP_DUE)
			due_begin(store, op);
		else if (op->kind == DW_OP_AUDIT)
			audit_begin(store, op);
		else
			namespace_begin(store, op);
	}
	while (!store->later.barrier && store->later.behind.first)
		take_if_permitted(store, op_queue_pop(&store->later.behind));
}
