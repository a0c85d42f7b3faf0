/* Turns operations on timers into calls of the scripts. Consecutive operations of one kind become
 * one call; the script applies them one after the other. */
#include "store/redis/timer/write.h"

#include <string.h>

#include "store/redis/core.h"

/* script_of returns the script for an operation, or SCRIPT_COUNT if the operation needs none. */
static enum redis_script_id script_of(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_PUT:
		return SCRIPT_PUT;
	case DW_OP_CLAIM:
		return batch_is_known(op) ? SCRIPT_CLAIM_KNOWN : SCRIPT_CLAIM;
	case DW_OP_SETTLE:
		return batch_is_known(op) ? SCRIPT_SETTLE_KNOWN : SCRIPT_SETTLE;
	case DW_OP_RETRY:
		return SCRIPT_RETRY;
	case DW_OP_BURY:
		return SCRIPT_BURY;
	case DW_OP_NEXT:
		return batch_is_known(op) ? SCRIPT_NEXT_KNOWN : SCRIPT_NEXT;
	case DW_OP_CANCEL:
		return SCRIPT_CANCEL;
	case DW_OP_MOVE:
		return SCRIPT_MOVE;
	case DW_OP_ACK:
		return SCRIPT_ACK;
	case DW_OP_REQUEUE:
		return SCRIPT_REQUEUE;
	case DW_OP_DROP:
		return SCRIPT_DROP;
	case DW_OP_REPUSH:
		return SCRIPT_REPUSH;
	case DW_OP_REPLAY:
		return SCRIPT_REPLAY;
	case DW_OP_REDELETE:
		return SCRIPT_REDELETE;
	case DW_OP_MEND:
		return SCRIPT_MEND;
	default:
		return SCRIPT_COUNT; /* a GET is a plain HMGET */
	}
}

bool write_is_one(const dw_op *op)
{
	return op->kind == DW_OP_GET || (script_of(op) != SCRIPT_COUNT && op->id);
}

/* may_be_applied returns true if a put that was given up, and is sent again now, was applied, or if
 * nobody will ever know. It frees the note that the put was in doubt. */
static bool may_be_applied(struct alloc *alloc, struct shard *shard, dw_op *op)
{
	struct put_in_doubt **at = &shard->in_doubt.puts;

	if (op->kind != DW_OP_PUT || !(op->flags & DW_OP_AGAIN))
		return false;
	if (op->flags & DW_OP_DONE)
		return true;
	while (*at && strcmp((*at)->id, op->id) != 0)
		at = &(*at)->next;
	if (*at) {
		struct put_in_doubt *put = *at;
		enum doubt doubt = put->doubt;

		*at = put->next;
		shard->in_doubt.count--;
		alloc_free(alloc, put);
		if (doubt == DOUBT_FOR_EVER)
			op->flags |= DW_OP_DONE;
		return doubt == DOUBT_APPLIED || doubt == DOUBT_FOR_EVER;
	}
	return false;
}

/* say writes the words of the command. Returns false if one operation cannot be stored. */
static bool say(struct redis_store *store, struct shard *shard, const struct op_queue *queue,
		size_t count)
{
	call_begin(&store->draft, script_of(queue->first), shard);
	call_guard(store, shard, shard->channel.next);
	return batch_add(store, shard, queue, count);
}

static int send_run(struct redis_store *store, struct shard *shard, struct op_queue *queue)
{
	struct redis_request *request;
	size_t bytes;
	size_t count = batch_run(queue, &bytes);
	int status = batch_room(store, bytes);
	bool said;

	if (status != DW_OK)
		return status;
	request = request_new(&store->alloc, shard, write_answered, write_lost);
	if (!request)
		return DW_ENOMEM;
	request->number = shard->channel.next;
	said = say(store, shard, queue, count);
	/* One body is not a record. So the first operation is tried alone. */
	if (!said) {
		count = 1;
		said = say(store, shard, queue, count);
	}
	if (!said) {
		request_free(&store->alloc, request);
		answer(store, op_queue_pop(queue), DW_EINVAL);
		return DW_OK;
	}
	status = request_send(store, request);
	if (status != DW_OK) {
		request_free(&store->alloc, request);
		return status;
	}
	while (count-- > 0)
		op_queue_push(&request->ops, op_queue_pop(queue));
	return DW_OK;
}

static size_t gets_of(const struct op_queue *queue)
{
	size_t count = 0;

	for (const dw_op *op = queue->first; op && op->kind == DW_OP_GET && count < BATCH_MAX;
	     op = op->next) {
		if (count > 0 && (place_is_alone(op) || place_is_alone(queue->first)))
			break;
		count++;
	}
	return count;
}

int write_send(struct redis_store *store, struct shard *shard, struct op_queue *queue)
{
	if (queue->first->kind == DW_OP_GET)
		return send_look(store, shard, queue, gets_of(queue), NULL);
	if (may_be_applied(&store->alloc, shard, queue->first)) {
		struct op_queue one = {0};

		op_queue_push(&one, op_queue_pop(queue));
		if (send_look(store, shard, &one, 1, store) != DW_OK)
			answer_doubtful(store, &one);
		return DW_OK;
	}
	return send_run(store, shard, queue);
}
