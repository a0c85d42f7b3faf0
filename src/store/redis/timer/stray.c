#include "store/redis/timer/stray.h"

#include "store/redis/core.h"

bool stray_ask_next(struct redis_store *store, const struct shard *shard, dw_op *op)
{
	const struct shard *home = shard_of(store, op->id);

	for (unsigned i = shard->number + 1;; i++) {
		struct shard *next = &store->shards[i % store->shard_count];

		if (next == home)
			return false;
		if (shard_is_cut_off(next))
			continue;
		place_of(op)->is_refused = false;
		op_queue_push(&next->queues.waiting, op);
		shard_queued(&store->sets, next);
		return true;
	}
}

static void leave(struct redis_store *store, const struct shard *shard, struct op_queue *queue)
{
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		if (op->kind != DW_OP_DROP || shard_of(store, op->id) == shard)
			op_queue_push(queue, op);
		else if (!stray_ask_next(store, shard, op))
			answer(store, op, DW_ENOENT);
		op = next;
	}
}

void stray_leave(struct redis_store *store, struct shard *shard)
{
	leave(store, shard, &shard->queues.retry);
	leave(store, shard, &shard->queues.waiting);
}
