#include "store/redis/timer/fresh.h"

#include "store/redis/core.h"
#include "timer/record.h"

uint64_t fresh_version(const struct redis_store *store, const struct shard *shard, const dw_op *op)
{
	uint64_t count = store->shard_count;

	return place_of_const(op)->floor +
	       (shard->number + count - place_of_const(op)->floor % count) % count;
}

size_t fresh_value(const struct redis_store *store, const struct shard *shard, const dw_op *op,
		   unsigned char *value)
{
	bool claimed = op->flags & DW_OP_CLAIMED;
	size_t size = value_pack(op->body, op->body_size, value + VALUE_HEAD_SIZE);
	dw_head head = {.generation = fresh_version(store, shard, op),
			.due = op->head.due,
			.attempt = claimed,
			.state = claimed ? DW_CLAIMED : DW_PENDING};

	if (size == 0)
		return 0;
	value_head_write(value, &head, claimed ? shard->lease.fence : 0, record_crc(op->body));
	return VALUE_HEAD_SIZE + size;
}

bool fresh_add(struct redis_store *store, const struct shard *shard, const dw_op *first,
	       size_t count)
{
	unsigned char *at = store->batch.packed;
	const dw_op *op = first;

	for (size_t i = 0; i < count; i++, op = op->next) {
		size_t size = fresh_value(store, shard, op, at);

		if (size == 0)
			return false;
		command_bytes(&store->draft.words, at, size);
		at += size;
	}
	return true;
}
