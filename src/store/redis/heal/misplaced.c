/* Finds timers in a shard to which their id does not belong. Another program has put them there,
 * for example by RENAME. Every operation on the id goes to another shard, so a misplaced timer can
 * be neither claimed nor cancelled. A scan shows it as a damaged timer of generation 0, so that the
 * timer of that id in the right shard stays untouched. The owner makes it a dead letter in the
 * shard where it is. Such a letter cannot be requeued, but it can be dropped. */
#include "store/redis/heal/misplaced.h"

#include <stdlib.h>

#include "store/redis/core.h"
#include "store/redis/store.h"

bool misplaced_is(const struct redis_store *store, const struct shard *shard, const char *id)
{
	return crc16_of(id) % store->shard_count != shard->number;
}

/* act queues an operation of the store's own on a shard. Without memory it does nothing; the next
 * page that has the timer tries again. */
static dw_op *act(struct redis_store *store, struct shard *shard, dw_op_kind kind,
		  const dw_row *row)
{
	dw_op *op = op_new(&store->alloc, kind, row->id, NULL, 0);

	if (!op)
		return NULL;
	op->flags = OP_OURS;
	op->head = row->head;
	answer_take(&store->completion, op);
	op_queue_push(&shard->queues.waiting, op);
	shard_queued(&store->sets, shard);
	return op;
}

void misplaced_row(struct redis_store *store, struct shard *shard, dw_row *row)
{
	dw_op *op;

	if (!misplaced_is(store, shard, row->id) || row->status == DW_ENEWER)
		return;
	if (shard_is_ours(shard)) {
		complain(store,
			 "timer %s is in the wrong shard (%u): it becomes a dead letter (CORRUPT)",
			 row->id, shard->number);
		op = act(store, shard, DW_OP_BURY, row);
		if (op)
			op->reason = DW_REASON_CORRUPT;
	}
	row->status = DW_ECORRUPT;
	row->head.generation = 0;
}

void misplaced_news(struct redis_store *store, struct shard *shard, dw_row *row, int64_t score)
{
	dw_op *op;

	misplaced_row(store, shard, row);
	op = act(store, shard, DW_OP_ACK, row);
	if (op)
		op->head.generation = (uint64_t)llabs(score);
}
