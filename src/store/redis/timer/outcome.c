/* Turns replies into answers of the operations on one timer, and finds out what became of the
 * commands on a lost connection. */
#include "store/redis/timer/outcome.h"

#include <string.h>

#include "store/redis/core.h"

/* A script's code for an entry whose value is missing. */
enum { HALF_DELETED = 6 };

static int status_of(int64_t code)
{
	static const int statuses[] = {DW_OK,       DW_EEXIST, DW_ENOENT, DW_ESTALE, DW_ELATE,
				       DW_ECORRUPT, DW_ENOENT, DW_ENEWER, DW_ESTORE, DW_EPAUSED};

	return code >= 0 && code < (int64_t)(sizeof statuses / sizeof *statuses) ? statuses[code]
										 : DW_ESTORE;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* note_generation makes the next version that this store asks for later than this generation. It
 * does not do so if the generation is more than 60 s ahead of all known versions. */
static void note_generation(struct redis_store *store, struct shard *shard, uint64_t generation)
{
	struct server_clock *clock = &shard->node->clock;

	token_note_version(shard, generation);
	if (generation > clock->floor &&
	    generation <= clock_latest(clock, store->now) + DW_SECONDS(60))
		clock->floor = generation;
}

/* take_item turns a script's item for one operation into a status. */
static int take_item(struct redis_store *store, struct shard *shard, dw_op *op,
		     const struct reply *item)
{
	int status;

	if (op->kind == DW_OP_DROP && reply_is(item, "NEWER"))
		return DW_ENEWER;
	if (op->kind == DW_OP_DROP) {
		op->count = (uint64_t)reply_number(item);
		return op->count > 0 ? DW_OK : DW_ENOENT;
	}
	if (item->kind == REPLY_BULK && value_head(item->bytes, item->size, &op->head)) {
		note_generation(store, shard, op->head.generation);
		return DW_OK;
	}
	if (item->kind != REPLY_ARRAY)
		return status_of(item->integer);
	status = status_of(item->items[0].integer);
	op->rows = value_row(&store->alloc, op->id, strlen(op->id), item->items[1].bytes,
			     item->items[1].size);
	if (!op->rows)
		return status == DW_OK ? answer_in_doubt(op, DW_ENOMEM) : DW_ENOMEM;
	op->row_count = 1;
	token_note_row(shard, op->rows);
	if (status == DW_OK)
		op->head = op->rows->head;
	if (status == DW_OK && op->kind == DW_OP_PUT)
		/* The same recurring timer was stored already, and stays as it is. */
		op->flags |= DW_OP_DONE;
	return status;
}

/* tell answers an operation of the request, if need be only when the replicas have the change. */
static void tell(struct redis_store *store, const struct redis_request *request, dw_op *op,
		 int status)
{
	struct held_source source = {request->shard, request->number, request->as_owner};

	held_answer(store, &source, op, status);
}

/* forget_answered answers a BURY or NEXT after the shard has dropped old dead letters. */
static void forget_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	dw_op *op = op_queue_pop(&request->ops);
	bool done = call_failed(store, request, reply) == FAILURE_NONE;

	call_number_done(request, done);
	if (done) {
		op->count += (uint64_t)reply_number(&reply->items[1]);
		request->shard->dead_count = (uint64_t)reply_number(&reply->items[2]);
	}
	answer(store, op, DW_OK);
	request_free(&store->alloc, request);
}

static void forget_lost(struct redis_store *store, struct redis_request *request)
{
	answer_all(store, &request->ops, DW_OK);
	request_free(&store->alloc, request);
}

/* forget_letters drops old dead letters of the shard. If that fails, the next BURY drops them. */
static void forget_letters(struct redis_store *store, struct shard *shard, dw_op *op)
{
	struct redis_request *request =
	    request_new(&store->alloc, shard, forget_answered, forget_lost);

	if (request) {
		request->number = shard->channel.next;
		call_begin_rare(&store->draft, SCRIPT_FORGET, shard);
		call_guard(store, shard, request->number);
		batch_add_forget(store, shard);
		op_queue_push(&request->ops, op);
		if (!shard->channel.is_broken && request_send(store, request) == DW_OK)
			return;
		(void)op_queue_take(&request->ops);
		request_free(&store->alloc, request);
	}
	answer(store, op, DW_OK);
}

/* set_head fills in the head of a timer that the script has stored just as the operation asked. */
static void set_head(struct redis_store *store, struct shard *shard, dw_op *op)
{
	bool claimed = op->flags & DW_OP_CLAIMED;

	if (op->kind == DW_OP_CLAIM) {
		op->head.state = DW_CLAIMED;
		op->head.attempt++;
	} else if (op->kind == DW_OP_PUT || op->kind == DW_OP_NEXT) {
		op->head = (dw_head){.generation = fresh_version(store, shard, op),
				     .due = op->head.due,
				     .attempt = claimed,
				     .state = claimed ? DW_CLAIMED : DW_PENDING};
		note_generation(store, shard, op->head.generation);
	}
}

/* take_as_given answers all operations DW_OK, because the script has applied them as they asked. */
static void take_as_given(struct redis_store *store, struct redis_request *request)
{
	dw_op *op;

	while ((op = op_queue_pop(&request->ops))) {
		set_head(store, request->shard, op);
		tombstone_note(store, request->shard, op);
		tell(store, request, op, DW_OK);
	}
}

/* retry puts operations that were not applied back into a queue, ahead of later operations, which
 * may concern the same timers. Rebuild writes stay ahead of all others. */
static void retry(struct shard_sets *sets, struct shard *shard, struct op_queue *ops)
{
	bool rebuilds =
	    ops->first && (ops->first->kind == DW_OP_REPUSH || ops->first->kind == DW_OP_REDELETE);

	batch_take_back(rebuilds ? &shard->queues.rebuild : &shard->queues.retry, ops);
	shard_queued(sets, shard);
}

static bool is_half_deleted(const dw_op *op, const struct reply *item)
{
	return is_number(item) && item->integer == HALF_DELETED && !(op->flags & OP_HALF_DELETED);
}

/* write_half_deleted is called when the values of these timers are missing, and perhaps others of
 * the shard. So the engine first writes all that it knows of the shard; then these operations are
 * sent again. */
static void write_half_deleted(struct redis_store *store, struct shard *shard,
			       struct op_queue *half_deleted)
{
	if (!half_deleted->first)
		return;
	complain(store,
		 "shard %u: another program has deleted the value of timer %s: rewriting the "
		 "shard from memory",
		 shard->number, half_deleted->first->id);
	for (dw_op *op = half_deleted->first; op; op = op->next)
		op->flags |= OP_HALF_DELETED;
	retry(&store->sets, shard, half_deleted);
	shard_mark(&store->sets, shard, SHARD_INCOMPLETE);
}

/* makes_letter returns true if the operation has made a dead letter, so that old letters must be
 * dropped. */
static bool makes_letter(const struct redis_store *store, const dw_op *op)
{
	if (store->url.replicas > 0 && op->asked)
		return false; /* the next BURY drops them: this answer is to be held only once */
	return (op->kind == DW_OP_BURY || (op->kind == DW_OP_NEXT && op->reason)) &&
	       !(op->flags & OP_OURS);
}

static void take_items(struct redis_store *store, struct redis_request *request,
		       const struct reply *reply)
{
	struct op_queue half_deleted = {0};

	held_note(store, &request->ops);
	if (reply->count == 1)
		take_as_given(store, request);
	for (size_t i = 1; i < reply->count; i++) {
		dw_op *op = op_queue_pop(&request->ops);
		int status;

		if (is_half_deleted(op, &reply->items[i])) {
			op_queue_push(&half_deleted, op);
			continue;
		}
		if (confirm_takes(store, request->shard, op, &reply->items[i]))
			continue;
		status = take_item(store, request->shard, op, &reply->items[i]);
		/* DW_ENOENT: the timer has ended, perhaps by an earlier sending of this same
		 * command, whose reply was lost. */
		if (status == DW_OK ||
		    (status == DW_ENOENT && (op->kind == DW_OP_CANCEL || op->kind == DW_OP_SETTLE)))
			tombstone_note(store, request->shard, op);
		if (makes_letter(store, op) && status == DW_OK)
			forget_letters(store, request->shard, op);
		else if (!(op->kind == DW_OP_DROP && status == DW_ENOENT &&
			   stray_ask_next(store, request->shard, op)))
			tell(store, request, op, status);
	}
	write_half_deleted(store, request->shard, &half_deleted);
}

/* must_go_on returns true if the operation must be sent again, because the engine does not repeat
 * it, or because later operations must not overtake it. */
static bool must_go_on(const dw_op *op)
{
	return op->kind == DW_OP_REDELETE || op->kind == DW_OP_REPLAY;
}

static void retry_later(struct redis_store *store, struct shard *shard, struct op_queue *ops)
{
	shard->channel.pause_until =
	    usec_max(shard->channel.pause_until, usec_add(store->now, PAUSE));
	retry(&store->sets, shard, ops);
}

/* retry_once returns true if it sends the operations again, because the server may refuse all of
 * their shard. Then they fail like all operations of a shard that is cut off, after the engine was
 * told. If types.lua is not refused, they are sent once more, and fail. */
static bool retry_once(struct redis_store *store, struct shard *shard, struct op_queue *ops)
{
	if (!(shard->marks & SHARD_REFUSES) || place_of(ops->first)->is_refused)
		return false;
	for (dw_op *op = ops->first; op; op = op->next)
		place_of(op)->is_refused = true;
	retry(&store->sets, shard, ops);
	return true;
}

/* refused is called when the server has applied nothing of the request. */
static void refused(struct redis_store *store, struct redis_request *request, enum failure failure)
{
	struct shard *shard = request->shard;

	switch (failure) {
	case FAILURE_LOOK:
		batch_forget(&request->ops);
		retry(&store->sets, shard, &request->ops);
		return;
	case FAILURE_AGAIN:
		retry(&store->sets, shard, &request->ops);
		return;
	case FAILURE_FENCED:
		retry(&store->sets, shard, &request->ops);
		if (shard->channel.handshake == HANDSHAKE_DONE)
			shard_mark(&store->sets, shard, SHARD_HANDSHAKE);
		return;
	case FAILURE_LOST:
		retry(&store->sets, shard, &request->ops);
		shard_mark(&store->sets, shard, SHARD_SUSPECT);
		return;
	case FAILURE_FULL:
		if (request->ops.first->kind == DW_OP_PUT ||
		    request->ops.first->kind == DW_OP_REQUEUE)
			answer_all(store, &request->ops, DW_EFULL);
		else if (must_go_on(request->ops.first))
			retry_later(store, shard, &request->ops);
		else
			retry(&store->sets, shard, &request->ops);
		return;
	default:
		if (!must_go_on(request->ops.first)) {
			if (retry_once(store, shard, &request->ops))
				return;
			answer_all(store, &request->ops, DW_ESTORE);
			return;
		}
		retry_later(store, shard, &request->ops);
	}
}

/* give_up_misread answers operations whose replies had a wrong shape twice. */
static void give_up_misread(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		if (!(op->flags & OP_MISREAD_AGAIN)) {
			op_queue_push(queue, op);
		} else {
			answer(store, op, answer_in_doubt(op, DW_ESTORE));
		}
		op = next;
	}
}

void write_answered(struct redis_store *store, struct redis_request *request,
		    const struct reply *reply)
{
	enum failure failure = call_failed(store, request, reply);

	call_number_done(request, failure == FAILURE_NONE);
	if (failure == FAILURE_NONE)
		take_items(store, request, reply);
	else if (request->as_owner && !shard_is_ours(request->shard))
		refuse_fenced(store, request->shard, &request->ops);
	else
		refused(store, request, failure);
	request_free(&store->alloc, request);
}

/* write_lost keeps the request until the handshake tells whether the command was applied. If this
 * store has changed its role since, no handshake will tell this. */
void write_lost(struct redis_store *store, struct redis_request *request)
{
	give_up_misread(store, &request->ops);
	suspect_lost(request);
	if (request->as_owner == shard_is_ours(request->shard)) {
		request_push(&request->shard->in_doubt.requests, request);
		shard_queued(&store->sets, request->shard);
		return;
	}
	answer_doubtful(store, &request->ops);
	request_free(&store->alloc, request);
}

/* ---- Looking at what is stored --------------------------------------------------------------- */

static int take_value(struct alloc *alloc, struct shard *shard, dw_op *op,
		      const struct reply *value)
{
	if (value->kind != REPLY_BULK)
		return DW_ENOENT;
	op->rows = value_row(alloc, op->id, strlen(op->id), value->bytes, value->size);
	if (!op->rows)
		return DW_ENOMEM;
	token_note_row(shard, op->rows);
	op->row_count = 1;
	return DW_OK;
}

/* is_its returns true if the row has what the put stores. */
static bool is_its(const dw_op *op, const dw_row *row)
{
	return row->status == DW_OK && row->head.due == op->head.due &&
	       row->body_size == op->body_size && memcmp(row->body, op->body, op->body_size) == 0;
}

/* applied_status returns the answer to an operation that was applied and whose reply was lost.
 * `found` says what is stored now, but another process may have changed it since. A client's cancel
 * may have met a claim, so the timer may start even if nothing is stored now. With DW_OP_DONE
 * nobody knows whether the operation was applied, so only a put whose timer is found counts as
 * applied. */
static int applied_status(dw_op *op, int found, bool as_owner)
{
	bool its = found == DW_OK && is_its(op, op->rows);
	bool newer = found == DW_OK && op->rows->status == DW_ENEWER;
	bool is_sure = !(op->flags & DW_OP_DONE);

	op->flags |= DW_OP_DONE;
	if (found == DW_ENOMEM || op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE ||
	    op->kind == DW_OP_DROP)
		return DW_EUNKNOWN;
	if (op->kind == DW_OP_CANCEL)
		return found == DW_OK || !as_owner ? DW_EUNKNOWN : DW_ENOENT;
	if (newer || (!its && (!is_sure || op->flags & (DW_OP_NEW | DW_OP_EXACT | OP_CLOSED))))
		/* The put was refused, or its timer was moved or replaced since. */
		return DW_EUNKNOWN;
	return DW_OK;
}

static void drop_rows(struct alloc *alloc, dw_op *op)
{
	rows_free(alloc, op->rows);
	op->rows = NULL;
	op->row_count = 0;
}

static void look_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	bool resolves = request->context != NULL;
	size_t i = 0;
	dw_op *op;

	if (reply->kind == REPLY_ERROR) {
		if (call_failed(store, request, reply) == FAILURE_AGAIN && !resolves)
			retry(&store->sets, request->shard, &request->ops);
		if (resolves)
			answer_doubtful(store, &request->ops);
		answer_all(store, &request->ops, DW_ESTORE);
		request_free(&store->alloc, request);
		return;
	}
	while ((op = op_queue_pop(&request->ops))) {
		int status = take_value(&store->alloc, request->shard, op, &reply->items[i++]);

		if (resolves)
			status = applied_status(op, status, request->as_owner);
		if (status == DW_ENOENT && op->kind == DW_OP_CANCEL)
			tombstone_note(store, request->shard, op);
		if (status != DW_OK)
			drop_rows(&store->alloc, op);
		if (resolves)
			tell(store, request, op, status); /* the number of a look-up is 0 */
		else
			answer(store, op, status);
	}
	request_free(&store->alloc, request);
}

/* look_lost repeats the look-up after the handshake, if the operations were applied. Their request
 * has number 0, so it counts as applied. */
static void look_lost(struct redis_store *store, struct redis_request *request)
{
	give_up_misread(store, &request->ops);
	suspect_lost(request);
	if (request->context) {
		request_push(&request->shard->in_doubt.requests, request);
		shard_queued(&store->sets, request->shard);
		return;
	}
	retry(&store->sets, request->shard, &request->ops);
	request_free(&store->alloc, request);
}

int send_look(struct redis_store *store, struct shard *shard, struct op_queue *queue, size_t count,
	      void *resolves)
{
	struct redis_request *request = request_new(&store->alloc, shard, look_answered, look_lost);
	const dw_op *op = queue->first;
	int status;

	if (!request)
		return DW_ENOMEM;
	request->context = resolves;
	command_begin(&store->draft, COMMAND_HMGET);
	command_text(&store->draft.words, shard->keys.name[KEY_VALUES]);
	for (size_t i = 0; i < count; i++, op = op->next)
		command_text(&store->draft.words, op->id);
	status = request_send(store, request);
	if (status != DW_OK) {
		request_free(&store->alloc, request);
		return status;
	}
	while (count-- > 0)
		op_queue_push(&request->ops, op_queue_pop(queue));
	return DW_OK;
}

/* ---- After a lost connection ----------------------------------------------------------------- */

/* look_after looks up the results of operations that were applied. Suspects are looked up one by
 * one, because the reply with their rows may be what made the server close the connection. */
static void look_after(struct redis_store *store, struct shard *shard, struct op_queue *ops)
{
	while (ops->first) {
		bool fails = suspect_fails(store, ops->first);
		struct op_queue some = {0};

		do
			op_queue_push(&some, op_queue_pop(ops));
		while (!place_is_alone(some.first) && ops->first && !place_is_alone(ops->first));
		/* A context that is not NULL says that the operations were applied. */
		if (fails || send_look(store, shard, &some, some.count, store) != DW_OK)
			answer_doubtful(store, &some);
	}
}

void outcome_resolve(struct redis_store *store, struct shard *shard, struct redis_request *request,
		     bool applied)
{
	const dw_op *first = request->ops.first;

	/* A client's REPUSH is also not repeated: the owner may have settled the timer since. */
	if (first && applied && first->kind == DW_OP_REPUSH && !request->as_owner) {
		answer_all(store, &request->ops, DW_OK);
		return;
	}
	if (!first || !applied || !answer_is_waited_for(first)) {
		retry(&store->sets, shard, &request->ops);
		return;
	}
	look_after(store, shard, &request->ops);
}
