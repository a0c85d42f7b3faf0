#include "store/redis/timer/confirm.h"

#include <stdlib.h>

#include "store/redis/core.h"

enum { WAIT = 8 }; /* the script's code for a change that must wait for the owner */

/* What confirm.lua returns for one change. */
enum { CODE_SURE = 0, CODE_WAITS = 1, CODE_GONE = 2, CODE_LATE = 4 };

#define FIRST DW_MILLISECONDS(2)
#define LAST DW_MILLISECONDS(64)

static void answer_unknown(struct redis_store *store, dw_op *op)
{
	op->flags |= DW_OP_DONE; /* when the change is submitted again, it is not applied again */
	answer(store, op, DW_EUNKNOWN);
}

/* take lets a change wait. `words` is "version:fence:code". It notes in place->floor the version
 * that the owner must acknowledge, in place->order the owner's fence, in place->generation the
 * node's history, and in op->status the answer for when the change is certain. */
static void take(struct redis_store *store, struct shard *shard, dw_op *op, const char *words)
{
	char *end;

	answer_later(store, op);
	place_of(op)->floor = strtoull(words, &end, 10);
	place_of(op)->order = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
	op->status = *end == ':' && end[1] != '0' ? DW_ENOENT : DW_OK;
	op->head.generation = place_of(op)->floor;
	place_of(op)->generation = shard->node->history;
	op->next = NULL;
	if (shard->confirm.pause == 0) {
		shard->confirm.pause = FIRST;
		shard->confirm.at = usec_add(store->now, FIRST);
		shard_add(&store->sets.unconfirmed, shard->number);
	}
	op_queue_push(&shard->confirm.ops, op);
}

bool confirm_takes(struct redis_store *store, struct shard *shard, dw_op *op,
		   const struct reply *item)
{
	if ((op->kind != DW_OP_CANCEL && op->kind != DW_OP_MOVE) || item->kind != REPLY_ARRAY ||
	    item->items[0].integer != WAIT)
		return false;
	take(store, shard, op, item->items[1].bytes);
	return true;
}

/* be_idle is called when no operation of the shard waits any more. */
static void be_idle(struct shard_sets *sets, struct shard *shard)
{
	shard->confirm.pause = 0;
	shard_remove(&sets->unconfirmed, shard->number);
}

/* take_item acts on the code for one operation. If a move came too late (CODE_LATE), the timer has
 * moved, but it has also started at its earlier deadline, unless that delivery has ended it. */
static void take_item(struct redis_store *store, struct shard *shard, dw_op *op, int64_t code)
{
	struct held_source source = {.shard = shard};
	bool is_elsewhere =
	    store->url.replicas > 0 && place_of(op)->generation != shard->node->history;

	if (code == CODE_SURE && is_elsewhere)
		/* This server is another one, and may not have the change. */
		answer_unknown(store, op);
	else if (code == CODE_SURE)
		held_answer(store, &source, op, op->status);
	else if (code == CODE_WAITS)
		op_queue_push(&shard->confirm.ops, op);
	else if (code == CODE_GONE || (code == CODE_LATE && op->kind == DW_OP_CANCEL))
		answer(store, op, DW_ELATE);
	else
		answer_unknown(store, op);
}

/* end_call keeps the operations without an answer for the next call. */
static void end_call(struct redis_store *store, struct redis_request *request)
{
	struct confirm *confirm = &request->shard->confirm;

	op_queue_append(&confirm->ops, op_queue_take(&request->ops));
	confirm->is_asked = false;
	confirm->pause = usec_min(2 * confirm->pause, LAST);
	confirm->at = usec_add(store->now, confirm->pause);
	if (!confirm->ops.first)
		be_idle(&store->sets, request->shard);
	request_free(&store->alloc, request);
}

static void confirm_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	if (call_failed(store, request, reply) == FAILURE_NONE)
		for (size_t i = 1; i < reply->count; i++)
			take_item(store, request->shard, op_queue_pop(&request->ops),
				  reply->items[i].integer);
	end_call(store, request);
}

static void confirm_lost(struct redis_store *store, struct redis_request *request)
{
	end_call(store, request);
}

static void give_up(struct redis_store *store, struct shard *shard)
{
	dw_op *op = op_queue_take(&shard->confirm.ops);

	while (op) {
		dw_op *next = op->next;

		op->next = NULL;
		if (store->now >= place_of(op)->deadline)
			answer_unknown(store, op);
		else
			op_queue_push(&shard->confirm.ops, op);
		op = next;
	}
}

static void ask(struct redis_store *store, struct shard *shard)
{
	struct redis_command *words = &store->draft.words;
	struct redis_request *request =
	    request_new(&store->alloc, shard, confirm_answered, confirm_lost);

	if (!request)
		return;
	call_begin(&store->draft, SCRIPT_CONFIRM, shard);
	for (size_t i = 0; i < BATCH_MAX && shard->confirm.ops.first; i++) {
		dw_op *op = op_queue_pop(&shard->confirm.ops);

		command_text(words, op->id);
		command_unsigned(words, place_of(op)->floor);
		command_unsigned(words, place_of(op)->order);
		op_queue_push(&request->ops, op);
	}
	shard->confirm.is_asked = true;
	if (request_send(store, request) != DW_OK)
		confirm_lost(store, request);
}

void confirm_work(struct redis_store *store)
{
	const struct shard_set *set = &store->sets.unconfirmed;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1)) {
		struct shard *shard = &store->shards[i];

		if (store->now < shard->confirm.at || shard->confirm.is_asked)
			continue;
		give_up(store, shard);
		shard->confirm.at = usec_add(
		    /* This is for a lost reply. If a reply comes, end_call() sets an earlier
		     * time. */
		    store->now, LAST);
		if (!shard->confirm.ops.first)
			be_idle(&store->sets, shard);
		else if (shard->node->connection)
			ask(store, shard);
	}
}

dw_usec confirm_due(const struct redis_store *store)
{
	const struct shard_set *set = &store->sets.unconfirmed;
	dw_usec at = DW_NEVER;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1))
		if (!store->shards[i].confirm.is_asked)
			at = usec_min(at, store->shards[i].confirm.at);
	return at;
}

void confirm_end(struct redis_store *store, struct shard *shard)
{
	dw_op *op;

	while ((op = op_queue_pop(&shard->confirm.ops)))
		answer_unknown(store, op);
}
