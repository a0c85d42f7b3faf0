/* Hands answers over, and decides when an operation is given up. An answer waits for no other
 * answer, so a shard that does not answer holds up no other shard. The commands of a shard go over
 * one connection. Their answers are handed over in the order of the replies, which is the order in
 * which the server has carried them out. So the engine gets a read after all changes that the read
 * has seen. */
#include "store/redis/timer/completion.h"

#include <string.h>

#include "store/redis/core.h"

#define OVERDUE_EVERY DW_MILLISECONDS(50)

static bool changes_timer(const dw_op *op)
{
	if (op->flags & OP_OURS)
		return false;
	switch (op->kind) {
	case DW_OP_PUT:
	case DW_OP_CLAIM:
	case DW_OP_RETRY:
	case DW_OP_MOVE:
	case DW_OP_CANCEL:
	case DW_OP_SETTLE:
	case DW_OP_BURY:
	case DW_OP_NEXT:
		return true;
	default:
		return false;
	}
}

void answer_take(struct completion *completion, dw_op *op)
{
	struct op_place *place = place_of(op);

	place->closed_on = 0;
	place->closings = 0;
	place->is_suspect = false;
	place->is_change = changes_timer(op);
	completion->changes += place->is_change;
	if (op->kind == DW_OP_OWN) {
		completion->own_order = place->order;
		completion->before_own = completion->changes;
	}
}

static void hand_over(struct redis_store *store, dw_op *op)
{
	bool first = !store->completion.answers.first;
	bool ours = op->kind == DW_OP_REDELETE || op->kind == DW_OP_MEND || op->flags & OP_OURS;

	/* The handover goes on while the server takes rebuild writes. */
	if (store->handover.is_on && op->kind == DW_OP_REPUSH && op->status == DW_OK)
		store->handover.until = usec_add(store->now, PATIENCE);
	/* If the engine saw DW_EFENCED now, it would forget its timers before it has written them
	 * for the new owner. */
	if (store->handover.is_on && op->status == DW_EFENCED && !ours) {
		op_queue_push(&store->completion.withheld, op);
		return;
	}

	if (ours) {
		op_free(&store->alloc, op);
		return;
	}
	if (op->kind == DW_OP_INBOX || op->kind == DW_OP_SCAN || op->kind == DW_OP_AUDIT)
		tombstone_note_ended(store, op);
	/* The inbox shows which timer has replaced another one. */
	if (op->rows && op->kind != DW_OP_SCAN)
		tombstone_note_newer(store, op);
	op_queue_push(&store->completion.answers, op);
	if (first && !store->completion.in_turn)
		store->env.wake(store->env.wake_user);
}

void answer_withheld(struct redis_store *store)
{
	dw_op *op;

	store->handover.is_on = false;
	while ((op = op_queue_pop(&store->completion.withheld)))
		hand_over(store, op);
}

void answer_later(struct redis_store *store, dw_op *op)
{
	struct completion *completion = &store->completion;
	struct op_place *place = place_of(op);
	dw_op *own = completion->own;

	if (!place->is_change)
		return;
	place->is_change = false;
	completion->changes--;
	if (place->order > completion->own_order || --completion->before_own > 0 || !own)
		return;
	completion->own = NULL;
	hand_over(store, own);
}

void answer(struct redis_store *store, dw_op *op, int status)
{
	bool is_change = place_of(op)->is_change;

	op->status = status;
	op->next = NULL;
	if (op->kind == DW_OP_OWN && status == DW_OK && store->completion.before_own > 0) {
		store->completion.own = op;
		return;
	}
	hand_over(store, op);
	if (is_change)
		answer_later(store, op); /* an OWN may wait for it */
}

void answer_all(struct redis_store *store, struct op_queue *queue, int status)
{
	dw_op *op;

	while ((op = op_queue_pop(queue)))
		answer(store, op, status);
}

/* ---- Giving up ------------------------------------------------------------------------------- */

bool answer_is_waited_for(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_NEXT:
	case DW_OP_ACK:
	case DW_OP_INBOX:
	case DW_OP_LOSS:
	case DW_OP_REPUSH:
	case DW_OP_REPLAY:
	case DW_OP_REDELETE:
	case DW_OP_MEND:
		return false;
	default:
		return true;
	}
}

int answer_in_doubt(dw_op *op, int otherwise)
{
	if (!answer_is_waited_for(op))
		return otherwise;
	op->flags |= DW_OP_DONE;
	return DW_EUNKNOWN;
}

/* is_overdue returns true if less than `time` is left until the operation must be answered. */
static bool is_overdue(const struct redis_store *store, const dw_op *op, dw_usec time)
{
	return answer_is_waited_for(op) &&
	       usec_add(store->now, time) >= place_of_const(op)->deadline;
}

/* queue_overdue answers operations that have too little time left to be sent. The reply to an
 * operation that is sent now may take up to REPLY_TIME. */
static void queue_overdue(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		if (is_overdue(store, op, REPLY_TIME))
			answer(store, op, DW_ESTORE); /* the operation was never applied */
		else
			op_queue_push(queue, op);
		op = next;
	}
}

/* note_doubt notes that a put may have been applied, so that the put is not applied twice if it is
 * sent again. Without memory for the note the put counts as applied, and its outcome stays
 * unknown. */
static void note_doubt(struct alloc *alloc, struct shard *shard, dw_op *op, uint64_t number)
{
	size_t id_size = strlen(op->id) + 1;
	struct put_in_doubt *put = NULL;

	if (op->kind != DW_OP_PUT)
		return;
	if (shard->in_doubt.count < DOUBTS_MAX)
		put = alloc_new(alloc, sizeof *put + id_size);
	if (!put) {
		op->flags |= DW_OP_DONE;
		return;
	}
	put->number = number;
	memcpy(put->id, op->id, id_size);
	put->next = shard->in_doubt.puts;
	shard->in_doubt.puts = put;
	shard->in_doubt.count++;
}

void answer_never_known(struct put_in_doubt *puts)
{
	for (; puts; puts = puts->next)
		if (puts->doubt == DOUBT_OPEN)
			puts->doubt = DOUBT_FOR_EVER;
}

void answer_doubtful(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op;

	while ((op = op_queue_pop(queue))) {
		op->flags |= DW_OP_DONE;
		answer(store, op, DW_EUNKNOWN);
	}
}

/* A request with number 0 looks up operations that were noted before. */
void answer_note_closed(struct shard *shard, uint64_t number)
{
	for (struct redis_request *request = shard->in_doubt.requests.first; request;
	     request = request->next)
		for (dw_op *op = request->ops.first;
		     op && request->number > 0 && request->number <= number; op = op->next)
			op->flags |= OP_CLOSED;
}

/* recall_in_doubt answers operations that may have been applied. Operations that may be repeated
 * get DW_ESTORE at once. Operations of a caller get DW_EUNKNOWN when the caller has waited for
 * `patience`. */
static void recall_in_doubt(struct redis_store *store, struct shard *shard, dw_usec patience)
{
	for (struct redis_request *request = shard->in_doubt.requests.first; request;
	     request = request->next) {
		struct op_queue kept = {0};
		dw_op *op;

		while ((op = op_queue_pop(&request->ops))) {
			if (!answer_is_waited_for(op)) {
				answer(store, op, DW_ESTORE); /* the operation may be repeated */
			} else if (store->now >= usec_add(op->asked, patience)) {
				note_doubt(&store->alloc, shard, op, request->number);
				answer(store, op, DW_EUNKNOWN);
			} else {
				op_queue_push(&kept, op);
			}
		}
		request->ops = kept;
	}
}

void answer_recall(struct redis_store *store, dw_usec patience)
{
	answer_all(store, &store->completion.suspects.aside, DW_ESTORE);
	for (unsigned i = shard_next(&store->sets.queued, 0); i < store->shard_count;
	     i = shard_next(&store->sets.queued, i + 1)) {
		struct shard *shard = &store->shards[i];

		answer_all(store, &shard->queues.retry, DW_ESTORE);
		answer_all(store, &shard->queues.waiting, DW_ESTORE);
		recall_in_doubt(store, shard, patience);
	}
}

static void in_doubt_overdue(struct redis_store *store, struct shard *shard)
{
	for (struct redis_request *request = shard->in_doubt.requests.first; request;
	     request = request->next) {
		dw_op *op = op_queue_take(&request->ops);

		while (op) {
			dw_op *next = op->next;

			if (shard_is_cut_off(shard) || is_overdue(store, op, 0)) {
				note_doubt(&store->alloc, shard, op, request->number);
				answer(store, op, DW_EUNKNOWN);
			} else {
				op_queue_push(&request->ops, op);
			}
			op = next;
		}
	}
}

void answer_cut_off(struct redis_store *store, struct shard *shard)
{
	answer_all(store, &shard->queues.retry, DW_ESTORE);
	answer_all(store, &shard->queues.waiting, DW_ESTORE);
	in_doubt_overdue(store, shard);
}

void answer_overdue(struct redis_store *store)
{
	if (store->now < store->completion.overdue_at)
		/* Looking at every queue takes longer than the rest of a turn, so not every turn
		 * does this. */
		return;
	store->completion.overdue_at = usec_add(store->now, OVERDUE_EVERY);
	for (unsigned i = shard_next(&store->sets.queued, 0); i < store->shard_count;
	     i = shard_next(&store->sets.queued, i + 1)) {
		struct shard *shard = &store->shards[i];

		queue_overdue(store, &shard->queues.retry);
		queue_overdue(store, &shard->queues.waiting);
		in_doubt_overdue(store, shard);
	}
	queue_overdue(store, &store->completion.suspects.aside);
}

/* ---- A lost ownership ------------------------------------------------------------------------ */

void refuse_fenced(struct redis_store *store, struct shard *shard, struct op_queue *queue)
{
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		if (op->kind == DW_OP_GET)
			op_queue_push(queue, op);
		else if (op->kind == DW_OP_REPUSH && store->handover.is_on)
			op_queue_push(&shard->queues.rebuild, op);
		else
			answer(store, op, DW_EFENCED);
		op = next;
	}
	shard_queued(&store->sets, shard);
}

void refuse_fenced_all(struct redis_store *store, struct shard *shard)
{
	struct redis_request *request;

	while ((request = request_pop(&shard->in_doubt.requests))) {
		if (request->ops.first && request->ops.first->kind == DW_OP_REPUSH)
			refuse_fenced(store, shard, &request->ops);
		answer_doubtful(store, &request->ops);
		request_free(&store->alloc, request);
	}
	answer_never_known(shard->in_doubt.puts);
	refuse_fenced(store, shard, &shard->queues.rebuild);
	refuse_fenced(store, shard, &shard->queues.retry);
	refuse_fenced(store, shard, &shard->queues.waiting);
}
