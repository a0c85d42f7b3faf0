#include "store/redis/page/ends.h"

#include "store/redis/core.h"

bool ends_asks(const dw_op *op)
{
	return op->kind == DW_OP_ENDED || (op->kind == DW_OP_DEAD_SCAN && op->id);
}

/* take_row adds the row of the reply to the answer. row is NULL if the reply had none. */
static void take_row(struct alloc *alloc, dw_op *op, dw_row *row)
{
	dw_row **tail = &op->rows;

	op->status = DW_OK;
	(void)op_add_row(alloc, op, &tail, row); /* without memory, op->status has the error */
}

static void ends_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	dw_op *op = request->context;
	const struct reply *items = reply->items;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	if (failure == FAILURE_AGAIN) {
		op_queue_push(&store->later.topics.waiting, op);
		return;
	}
	op->status = failure == FAILURE_NONE ? DW_ENOENT : DW_ESTORE;
	if (failure == FAILURE_NONE && op->kind == DW_OP_ENDED && items[1].kind == REPLY_BULK)
		take_row(&store->alloc, op,
			 row_new(&store->alloc, op->id, items[1].bytes, items[1].size));
	else if (failure == FAILURE_NONE && op->kind == DW_OP_DEAD_SCAN && reply->count > 1)
		take_row(&store->alloc, op, letter_row(store, shard_of(store, op->id), &items[1]));
	answer(store, op, op->status);
}

static void ends_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	request_free(&store->alloc, request);
	answer(store, op, DW_ESTORE);
}

int ends_send(struct redis_store *store, dw_op *op)
{
	bool is_end = op->kind == DW_OP_ENDED;

	call_begin_rare(&store->draft, is_end ? SCRIPT_ENDED : SCRIPT_DEAD_OF,
			shard_of(store, op->id));
	command_text(&store->draft.words, op->id);
	return request_post(store, NULL, ends_answered, ends_lost, op) == DW_OK ? DW_OK : DW_ESTORE;
}
