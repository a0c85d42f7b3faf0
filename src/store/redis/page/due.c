#include "store/redis/page/due.h"

#include "port/spans.h"
#include "store/redis/core.h"

/* The scores of pending timers. */
enum { SCORE_MIN = 1 };
#define SCORE_MAX ((dw_usec)1 << 53)

/* A DUE operation while shards still have to send their counts. */
struct due_gather {
	dw_op *op;
	unsigned left;
	int status; /* the first failure of a shard */
	/* A read failed for a reason that may pass, so the operation is asked again. */
	bool again;
	struct spans spans;
};

static void part_ended(struct redis_store *store, struct due_gather *sum)
{
	dw_op *op = sum->op;

	if (--sum->left > 0)
		return;
	if (sum->again) {
		op_queue_push(&store->later.ops, op);
	} else {
		op->status = sum->status;
		if (op->status == DW_OK)
			spans_answer(&store->alloc, op, &sum->spans, spans_end(&sum->spans));
		answer(store, op, op->status);
	}
	alloc_free(&store->alloc, sum);
}

static void shard_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct due_gather *sum = request->context;
	enum failure failure = call_failed(store, request, reply);

	if (failure == FAILURE_AGAIN)
		sum->again = true;
	else if (failure != FAILURE_NONE || reply->count != sum->spans.time_count - 1)
		sum->status = DW_ESTORE;
	else
		for (size_t i = 0; i < reply->count; i++)
			sum->spans.counts[i] += (uint64_t)reply_number(&reply->items[i]);
	request_free(&store->alloc, request);
	part_ended(store, sum);
}

static void shard_lost(struct redis_store *store, struct redis_request *request)
{
	struct due_gather *sum = request->context;

	sum->status = DW_ESTORE;
	request_free(&store->alloc, request);
	part_ended(store, sum);
}

static void ask_shard(struct redis_store *store, struct due_gather *sum, struct shard *shard)
{
	call_begin_rare(&store->draft, SCRIPT_DUE, shard);
	for (size_t i = 0; i < sum->spans.time_count; i++) {
		dw_usec time = usec_max(sum->spans.times[i], SCORE_MIN);

		command_number(&store->draft.words, usec_min(time, SCORE_MAX));
	}
	sum->left++;
	if (request_post(store, shard, shard_answered, shard_lost, sum) == DW_OK)
		return;
	sum->left--;
	sum->status = DW_ESTORE;
}

void due_begin(struct redis_store *store, dw_op *op)
{
	struct due_gather *sum = alloc_new(&store->alloc, sizeof *sum);

	if (!sum) {
		answer(store, op, DW_ENOMEM);
		return;
	}
	*sum = (struct due_gather){.op = op, .left = 1}; /* this function counts as one shard */
	spans_of(op, &sum->spans);
	for (unsigned i = 0; i < store->shard_count; i++)
		if (!shard_is_cut_off(&store->shards[i]))
			ask_shard(store, sum, &store->shards[i]);
	part_ended(store, sum);
}
