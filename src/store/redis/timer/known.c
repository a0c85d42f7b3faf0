/* Writes claims, settles and renewals of timers that the script need not read. The owner knows what
 * is stored if no client has changed the timer since the owner read or wrote it
 * (batch_is_known). */
#include "store/redis/timer/known.h"

#include "store/redis/core.h"
#include "timer/record.h"

/* add_known_claims adds the whole values that the timers get as claimed timers, because the script
 * does not read them first. Returns false if one body is not a record. */
static bool add_known_claims(struct redis_store *store, const struct shard *shard,
			     const dw_op *first, size_t count)
{
	struct redis_command *words = &store->draft.words;
	unsigned char *at = store->batch.packed;
	const dw_op *op = first;

	for (size_t i = 0; i < count; i++, op = op->next) {
		command_number(words, -value_score(op->head.due));
		command_text(words, op->id);
	}
	op = first;
	for (size_t i = 0; i < count; i++, op = op->next) {
		size_t size = value_pack(op->body, op->body_size, at + VALUE_HEAD_SIZE);
		dw_head head = op->head;

		if (size == 0)
			return false;
		head.state = DW_CLAIMED;
		head.attempt++;
		value_head_write(at, &head, shard->lease.fence, record_crc(op->body));
		command_bytes(words, at, VALUE_HEAD_SIZE + size);
		at += VALUE_HEAD_SIZE + size;
	}
	return true;
}

static void add_known_settles(struct redis_draft *draft, const dw_op *first, size_t count)
{
	struct redis_command *words = &draft->words;
	const dw_op *op = first;

	for (size_t i = 0; i < count; i++, op = op->next)
		command_text(words, op->id);
	op = first;
	for (size_t i = 0; i < count; i++, op = op->next)
		command_text(words, op->topic);
}

/* add_known_nexts adds the whole values that the timers get for their next occurrences. Returns
 * false if one body is not a record. */
static bool add_known_nexts(struct redis_store *store, const struct shard *shard,
			    const dw_op *first, size_t count)
{
	struct redis_command *words = &store->draft.words;
	const dw_op *op = first;

	for (size_t i = 0; i < count; i++, op = op->next) {
		command_number(words, value_score(op->head.due));
		command_text(words, op->id);
	}
	return fresh_add(store, shard, first, count);
}

bool known_add(struct redis_store *store, const struct shard *shard, const dw_op *op, size_t count)
{
	if (op->kind == DW_OP_CLAIM)
		return add_known_claims(store, shard, op, count);
	if (op->kind == DW_OP_NEXT)
		return add_known_nexts(store, shard, op, count);
	add_known_settles(&store->draft, op, count);
	return true;
}
