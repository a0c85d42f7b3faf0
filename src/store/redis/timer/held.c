#include "store/redis/timer/held.h"

#include "store/redis/core.h"

/* says returns true if this status depends on what the server has stored. */
static bool says(const dw_op *op, int status)
{
	switch (op->kind) {
	case DW_OP_PUT:
	case DW_OP_CANCEL:
	case DW_OP_MOVE:
	case DW_OP_REQUEUE:
		return status == DW_OK || status == DW_EEXIST || status == DW_ENOENT;
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_NEXT:
		return status == DW_OK || status == DW_ENOENT;
	case DW_OP_PUSH:
	case DW_OP_ANSWER:
		return status == DW_OK;
	default:
		return false;
	}
}

/* is_held returns true if the answer must wait for the replicas. Operations with op->asked are
 * calls of the program. */
static bool is_held(const struct redis_store *store, const struct node *node, const dw_op *op,
		    int status)
{
	return store->url.replicas > 0 && op->asked != 0 && !node->held.is_late &&
	       !store->stopped && says(op, status);
}

void held_note(const struct redis_store *store, struct op_queue *ops)
{
	if (store->url.replicas == 0)
		return;
	for (dw_op *op = ops->first; op; op = op->next) {
		place_of(op)->generation = op->head.generation;
		place_of(op)->attempt = op->head.attempt;
	}
}

/* ---- Holding --------------------------------------------------------------------------------- */

static void drop_rows(struct alloc *alloc, dw_op *op)
{
	rows_free(alloc, op->rows);
	op->rows = NULL;
	op->row_count = 0;
}

/* answer_lost answers an operation if nobody knows whether the next server has it. */
static void answer_lost(struct redis_store *store, dw_op *op)
{
	drop_rows(&store->alloc, op);
	if (op->kind != DW_OP_PUSH && op->kind != DW_OP_ANSWER)
		op->flags |= DW_OP_DONE;
	answer(store, op, DW_EUNKNOWN);
}

static void answer_lost_all(struct redis_store *store, struct op_queue *ops)
{
	dw_op *op;

	while ((op = op_queue_pop(ops)))
		answer_lost(store, op);
}

/* is_unique returns true if the operation is refused when it is applied a second time, so that it
 * must not be sent again. */
static bool is_unique(const dw_op *op)
{
	return op->kind == DW_OP_REQUEUE || op->flags & (DW_OP_NEW | DW_OP_EXACT | DW_OP_ONCE);
}

/* restore sets the operations back to what they were before they were sent. After a rebuild of the
 * shard nobody can tell whether the server that was set back has them. */
static void restore(struct redis_store *store, const struct shard *shard, struct op_queue *ops)
{
	bool is_rebuilt = shard->rebuild.state != REBUILD_NONE;
	dw_op *op = op_queue_take(ops);

	while (op) {
		dw_op *next = op->next;

		op->next = NULL;
		if (is_rebuilt && is_unique(op)) {
			answer_lost(store, op);
		} else {
			drop_rows(&store->alloc, op);
			op->status = DW_OK;
			op->head.generation = place_of(op)->generation;
			op->head.attempt = place_of(op)->attempt;
			if (!(op->flags & DW_OP_AGAIN))
				op->flags &= ~DW_OP_DONE;
			op_queue_push(ops, op);
		}
		op = next;
	}
}

/* held_lost puts the request in doubt. A verdict may be sent again, as if its reply had been lost.
 * Commands on messages have no numbers, so nobody can tell whether they were applied. */
static void held_lost(struct redis_store *store, struct redis_request *request)
{
	struct shard *shard = request->shard;
	dw_op_kind kind = request->ops.first->kind;

	if (kind != DW_OP_PUSH && kind != DW_OP_ANSWER &&
	    request->as_owner == shard_is_ours(shard)) {
		if (!answer_is_waited_for(request->ops.first)) {
			restore(store, shard, &request->ops);
			request->held = 0;
		}
		request_push(&shard->in_doubt.requests, request);
		shard_queued(&store->sets, shard);
		return;
	}
	answer_lost_all(store, &request->ops);
	request_free(&store->alloc, request);
}

static bool is_from(const struct redis_request *request, const struct held_source *source)
{
	return source->number > 0 && request->number == source->number &&
	       request->shard == source->shard && request->as_owner == source->as_owner;
}

/* place_for returns the request in which the answer waits, or NULL without memory. */
static struct redis_request *place_for(struct redis_store *store, const struct held_source *source)
{
	struct node *node = source->shard->node;
	struct redis_request *place = node->held.requests.last;

	if (place && is_from(place, source))
		return place;
	place = request_new(&store->alloc, source->shard, NULL, held_lost);
	if (!place)
		return NULL;
	place->node = node;
	place->history = node->history;
	place->number = source->number;
	place->as_owner = source->as_owner;
	place->sent = store->now;
	place->held = ++node->held.count;
	request_push(&node->held.requests, place);
	return place;
}

void held_answer(struct redis_store *store, const struct held_source *source, dw_op *op, int status)
{
	struct redis_request *place = NULL;

	if (is_held(store, source->shard->node, op, status))
		place = place_for(store, source);
	if (!place) { /* or without memory to hold the answer back */
		answer(store, op, status);
		return;
	}
	op->status = status;
	op->next = NULL;
	op_queue_push(&place->ops, op);
}

void held_answer_message(struct redis_store *store, dw_op *op, int status)
{
	struct held_source source = {.shard = shard_of(store, op->topic)};

	held_answer(store, &source, op, status);
}

/* ---- After a lost connection ----------------------------------------------------------------- */

bool held_is_elsewhere(const struct redis_store *store, const struct redis_request *request)
{
	return store->url.replicas > 0 && request->history != request->node->history;
}

bool held_again(struct redis_store *store, struct shard *shard, struct redis_request *request,
		bool applied)
{
	bool is_rebuilt = request->held && shard->rebuild.state != REBUILD_NONE;
	struct held_source source = {shard, request->number, request->as_owner};
	dw_op *op;

	if (request->number == 0 && (is_rebuilt || held_is_elsewhere(store, request))) {
		answer_lost_all(store, &request->ops);
		return true;
	}
	if (!request->held)
		return false;
	if (!applied) {
		restore(store, shard, &request->ops);
		return !request->ops.first;
	}
	while ((op = op_queue_pop(&request->ops)))
		held_answer(store, &source, op, op->status);
	return true;
}

void held_doubt(struct redis_store *store, struct shard *shard)
{
	struct request_list *list = &shard->node->held.requests;
	struct request_list all = *list;
	struct redis_request *request;

	*list = (struct request_list){0};
	while ((request = request_pop(&all))) {
		dw_op_kind kind = request->ops.first->kind;

		if (request->shard == shard && kind != DW_OP_PUSH && kind != DW_OP_ANSWER)
			held_lost(store, request);
		else
			request_push(list, request);
	}
}

void held_release(struct redis_store *store, struct node *node, uint64_t last, dw_level level)
{
	struct held *held = &node->held;
	struct redis_request *request;
	dw_op *op;

	while (held->requests.first && held->requests.first->held <= last) {
		dw_usec waited;

		request = request_pop(&held->requests);
		waited = usec_sub(store->now, request->sent);
		while ((op = op_queue_pop(&request->ops))) {
			op->level = level;
			held->stats.waited++;
			held->stats.late += level == DW_STORED;
			held->stats.waited_us += waited;
			answer(store, op, op->status);
		}
		request_free(&store->alloc, request);
	}
}
