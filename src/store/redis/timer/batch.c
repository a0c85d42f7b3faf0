/* Makes the words of a command: decides which operations go into one command, and writes the words
 * of each. */
#include "store/redis/timer/batch.h"

#include <string.h>

#include "base/hash.h"
#include "store/redis/core.h"
#include "timer/record.h"

/* ---- Operands ------------------------------------------------------------------------------ */

/* batch_add_forget adds the limits of the shard's dead letters. All shards together keep at most
 * DW_DEAD_MAX letters. If they have more, each shard keeps its share, in proportion to the letters
 * that it has now. */
void batch_add_forget(struct redis_store *store, const struct shard *shard)
{
	uint64_t total = 0;
	uint64_t most = DW_DEAD_MAX;

	for (unsigned i = 0; i < store->shard_count; i++)
		total += store->shards[i].dead_count;
	if (total > DW_DEAD_MAX)
		most = shard->dead_count * DW_DEAD_MAX / total;
	command_number(&store->draft.words, (int64_t)most);
	command_number(&store->draft.words,
		       usec_sub(store->env.now(store->env.now_user), DW_DAYS(DW_DEAD_DAYS)));
}

static unsigned flags_of(const dw_op *op)
{
	return op->flags & (DW_OP_NEW | DW_OP_CLAIMED | DW_OP_WITHDRAWN);
}

/* put_flags returns the character that tells the script how to do one put. */
static char put_flags(const dw_op *op)
{
	return (char)('0' + flags_of(op) + (op->flags & DW_OP_EXACT ? 8 : 0) +
		      (op->flags & DW_OP_ONCE ? 16 : 0));
}

static void add_head(struct redis_command *words, const dw_op *op)
{
	command_text(words, op->id);
	command_number(words, (int64_t)op->head.generation);
	command_number(words, op->head.attempt);
	command_number(words, op->head.state);
	command_number(words, op->head.retries);
	command_number(words, op->head.crashes);
	command_number(words, op->head.open);
	command_time(words, op->head.due);
}

/* add_puts adds the puts column by column, because the script passes them to Redis in this order.
 * Returns false if one body is not a record. */
static bool add_puts(struct redis_store *store, const struct shard *shard, const dw_op *first,
		     size_t count)
{
	struct redis_command *words = &store->draft.words;
	const dw_op *op = first;

	for (size_t i = 0; i < count; i++, op = op->next)
		store->batch.flags[i] = put_flags(op);
	command_bytes(words, store->batch.flags, count);
	op = first;
	for (size_t i = 0; i < count; i++, op = op->next) {
		int64_t score = value_score(op->head.due);

		command_number(words, op->flags & DW_OP_CLAIMED ? -score : score);
		command_text(words, op->id);
	}
	if (!fresh_add(store, shard, first, count))
		return false;
	op = first;
	for (size_t i = 0; i < count; i++, op = op->next)
		if (op->flags & DW_OP_EXACT)
			command_unsigned(words, op->head.generation);
	return true;
}

static void add_delivery(struct redis_command *words, const dw_op *op)
{
	command_text(words, op->id);
	command_unsigned(words, op->head.generation);
	command_number(words, op->head.attempt);
}

/* add_next adds a timer that waits for its next occurrence. Returns false if its body is not a
 * record. */
static bool add_next(struct redis_store *store, const struct shard *shard, const dw_op *op,
		     unsigned char **at)
{
	struct redis_command *words = &store->draft.words;
	size_t size = fresh_value(store, shard, op, *at);

	add_delivery(words, op);
	command_number(words, op->reason);
	command_number(words, store->env.now(store->env.now_user));
	command_bytes(words, op_why(op), op->limit);
	command_bytes(words, *at, size);
	command_time(words, op->started);
	*at += size;
	return size > 0;
}

/* add_push adds a timer that the engine writes again after a loss. Returns false if its body is not
 * a record. */
static bool add_push(struct redis_command *words, const dw_op *op, unsigned char **at)
{
	size_t size = value_pack(op->body, op->body_size, *at);

	add_head(words, op);
	command_bytes(words, *at, size);
	*at += size;
	return size > 0;
}

static const char *letter_of(dw_op_kind what)
{
	switch (what) {
	case DW_OP_PUT:
		return "P";
	case DW_OP_SETTLE:
		return "S";
	case DW_OP_RETRY:
		return "R";
	case DW_OP_MOVE:
		return "M";
	case DW_OP_CLAIM:
		return "L";
	default:
		return "C";
	}
}

/* add_replay adds a row of a journal. Returns false if its body is not a record. */
static bool add_replay(struct redis_command *words, const dw_op *op, unsigned char **at)
{
	const dw_replay *replay = op->replay;
	size_t size = replay->what == DW_OP_PUT ? value_pack(op->body, op->body_size, *at) : 0;

	command_text(words, op->id);
	command_unsigned(words, replay->number);
	command_text(words, letter_of(replay->what));
	command_number(words, (int64_t)replay->flags + 256 * (int64_t)op->head.retries);
	command_unsigned(words, op->head.generation);
	command_number(words, op->head.attempt);
	command_unsigned(words, replay->floor);
	command_unsigned(words, replay->fence);
	command_time(words, op->head.due);
	command_bytes(words, *at, size);
	*at += size;
	return size > 0 || replay->what != DW_OP_PUT;
}

static void add_operands(struct redis_store *store, const dw_op *op)
{
	struct redis_command *words = &store->draft.words;

	switch (op->kind) {
	case DW_OP_CLAIM:
		add_delivery(words, op);
		return;
	case DW_OP_SETTLE:
		add_delivery(words, op);
		command_time(words, op->started);
		command_bytes(words, op->body, op->body_size);
		return;
	case DW_OP_RETRY:
		add_delivery(words, op);
		command_time(words, op->head.due);
		command_number(words, (op->flags & DW_OP_VERDICT) != 0);
		command_bytes(words, op->body, op->body_size);
		return;
	case DW_OP_BURY:
		add_delivery(words, op);
		command_number(words, op->reason);
		command_number(words, store->env.now(store->env.now_user));
		command_bytes(words, op->body, op->body_size);
		command_time(words, op->started);
		return;
	case DW_OP_CANCEL:
		command_number(words, flags_of(op));
		command_text(words, op->id);
		command_number(words, op->flags & DW_OP_EXACT ? (int64_t)op->head.generation : 0);
		return;
	case DW_OP_MOVE:
		command_number(words, flags_of(op));
		command_text(words, op->id);
		command_number(words, (int64_t)op->head.generation);
		command_time(words, op->head.due);
		command_number(words, (int64_t)place_of_const(op)->floor);
		return;
	case DW_OP_REQUEUE:
		command_text(words, op->id);
		command_number(words, (int64_t)op->head.generation);
		command_time(words, op->head.due);
		command_number(words, (int64_t)place_of_const(op)->floor);
		return;
	case DW_OP_MEND:
		command_text(words, op->id);
		return;
	default: /* ACK, DROP, REDELETE */
		command_text(words, op->id);
		command_number(words, (int64_t)op->head.generation);
		return;
	}
}

/* ---- A command ------------------------------------------------------------------------------ */

/* words_of returns the most words that an operation of this kind takes. */
static size_t words_of(dw_op_kind kind)
{
	switch (kind) {
	case DW_OP_REPLAY:
		return 10;
	case DW_OP_REPUSH:
		return 9;
	case DW_OP_NEXT:
		return 8;
	case DW_OP_BURY:
		return 7;
	case DW_OP_RETRY:
		return 6;
	case DW_OP_MOVE:
	case DW_OP_SETTLE:
		return 5;
	case DW_OP_REQUEUE:
	case DW_OP_PUT:
		return 4;
	case DW_OP_CLAIM:
	case DW_OP_CANCEL:
		return 3;
	default:
		return 2;
	}
}

bool batch_is_known(const dw_op *op)
{
	return op->flags & DW_OP_KNOWN &&
	       (op->kind == DW_OP_CLAIM ||
		((op->kind == DW_OP_SETTLE || op->kind == DW_OP_NEXT) && op->topic));
}

/* cost_of_put returns the cost of one put. A put that replaces a timer costs more, because the old
 * timer is read. A client does not know whether its put replaces one. */
static unsigned cost_of_put(const dw_op *op)
{
	return op->flags & (DW_OP_ABSENT | DW_OP_NEW) && op->head.generation == 0 ? 7 : 16;
}

unsigned batch_cost(const dw_op *op)
{
	unsigned bytes = (unsigned)(op->body_size / 1024);

	switch (op->kind) {
	case DW_OP_PUT:
		return cost_of_put(op) + bytes;
	case DW_OP_ACK:
		return 3;
	case DW_OP_CLAIM:
		return batch_is_known(op) ? 5 : 11;
	case DW_OP_SETTLE:
		return batch_is_known(op) ? 5 : 16 + bytes;
	case DW_OP_NEXT:
		return (batch_is_known(op) ? 8 : 16) + bytes;
	case DW_OP_CANCEL:
	case DW_OP_DROP:
	case DW_OP_MEND:
	case DW_OP_REDELETE:
	case DW_OP_RETRY:
		return 16 + bytes;
	default:
		return 25 + bytes;
	}
}

bool batch_is_good(const struct op_queue *queue)
{
	return queue->count >= BATCH_GOOD ||
	       queue->count * batch_cost(queue->first) >= BATCH_COST_MAX;
}

/* room_of returns how many bytes the packed body of an operation needs. */
static size_t room_of(const dw_op *op)
{
	if (op->kind == DW_OP_SETTLE)
		return 0;
	return op->body_size ? VALUE_HEAD_SIZE + VALUE_BODY_MAX(op->body_size) : 0;
}

/* The hashes of the ids in one command of puts or known claims. All ids in such a command must
 * differ. If two ids have the same hash, this only costs a second command. */
struct seen {
	size_t mask; /* number of places in use, minus 1; that number is a power of two */
	uint64_t hashes[4 * BATCH_MAX];
};

/* seen_clear empties the set, for at most `most` ids. */
static void seen_clear(struct seen *seen, size_t most)
{
	size_t places = 4;

	while (places < 2 * most && places < 4 * BATCH_MAX)
		places *= 2;
	seen->mask = places - 1;
	memset(seen->hashes, 0, places * sizeof *seen->hashes);
}

/* is_seen returns true if the set already has the id's hash. Otherwise it adds the hash. */
static bool is_seen(struct seen *seen, const char *id)
{
	/* The lowest bit is set, because 0 means an empty place. */
	uint64_t hash = hash_bytes(1, id, strlen(id)) | 1;
	size_t at = hash >> 8;

	for (;; at++) {
		uint64_t *place = &seen->hashes[at & seen->mask];

		if (*place == hash)
			return true;
		if (*place == 0) {
			*place = hash;
			return false;
		}
	}
}

void batch_forget(struct op_queue *queue)
{
	for (dw_op *op = queue->first; op; op = op->next)
		op->flags &= ~DW_OP_KNOWN;
}

/* is_free returns true if the operation may overtake operations on other ids, if these also are of
 * the kinds below. A move may not overtake: like a put it makes a version, and versions follow the
 * order of the calls. */
static bool is_free(const dw_op *op)
{
	return op->kind == DW_OP_PUT || op->kind == DW_OP_CANCEL || op->kind == DW_OP_CLAIM ||
	       op->kind == DW_OP_SETTLE || op->kind == DW_OP_NEXT || op->kind == DW_OP_ACK;
}

/* run_end returns the last of the operations of one kind at the head of the queue. Returns NULL if
 * they already fill a command. */
static dw_op *run_end(const struct op_queue *queue, size_t *ret_count)
{
	dw_op *op = queue->first;
	size_t count = 1;

	for (; op->next && op->next->kind == op->kind; op = op->next)
		if (++count >= BATCH_MAX)
			return NULL;
	*ret_count = count;
	return op;
}

void batch_gather(struct op_queue *queue)
{
	size_t count;
	dw_op *run = run_end(queue, &count);
	dw_op *before = run; /* the operation after this one is looked at next */
	struct seen passed;

	if (!run || !run->next || !is_free(run))
		return;
	seen_clear(&passed, queue->count);
	for (size_t i = 0; before->next && i < GATHER_MAX && count < BATCH_MAX; i++) {
		dw_op *op = before->next;

		if (!is_free(op) || is_seen(&passed, op->id))
			return;
		if (op->kind != run->kind) {
			before = op;
			continue;
		}
		before->next = op->next;
		if (!before->next)
			queue->last = before;
		op->next = run->next;
		run->next = op;
		run = op;
		count++;
	}
}

void batch_take_back(struct op_queue *queue, struct op_queue *ops)
{
	struct op_queue merged = {0};

	while (queue->first && ops->first) {
		bool comes = place_of(ops->first)->order < place_of(queue->first)->order;

		op_queue_push(&merged, op_queue_pop(comes ? ops : queue));
	}
	op_queue_append(&merged, op_queue_take(queue->first ? queue : ops));
	*queue = merged;
}

size_t batch_run(const struct op_queue *queue, size_t *ret_bytes)
{
	dw_op_kind kind = queue->first->kind;
	bool known = batch_is_known(queue->first);
	bool grows = kind == DW_OP_PUT || (kind == DW_OP_NEXT && known);
	bool differ = grows || (kind == DW_OP_CLAIM && known);
	struct seen seen;
	uint64_t floor = 0;
	size_t most = (COMMAND_WORDS_MAX - COMMAND_WORDS_FIRST) / words_of(kind);
	size_t count = 0;
	size_t bytes = 0;
	unsigned cost = 0;

	if (differ)
		seen_clear(&seen, queue->count);
	for (const dw_op *op = queue->first; op && op->kind == kind; op = op->next) {
		size_t more = room_of(op);

		cost += batch_cost(op);
		if (count == BATCH_MAX || count == most ||
		    (count > 0 && (bytes + more > BATCH_BYTES_MAX || cost > BATCH_COST_MAX)))
			break;
		if (count > 0 &&
		    (op->flags & DW_OP_AGAIN || place_is_alone(op) || place_is_alone(queue->first)))
			break;
		if (kind == DW_OP_REPLAY && op->replay->journal != queue->first->replay->journal)
			break;
		/* A refused put is in the queue again, perhaps after a put with a later version.
		 * But versions must grow within a command. */
		if (grows && place_of_const(op)->floor <= floor && count > 0)
			break;
		floor = place_of_const(op)->floor;
		if ((differ && is_seen(&seen, op->id)) || batch_is_known(op) != known)
			break;
		bytes += more;
		count++;
		if (op->flags & DW_OP_AGAIN)
			break;
	}
	*ret_bytes = bytes;
	return count;
}

int batch_room(struct redis_store *store, size_t bytes)
{
	unsigned char *room;

	if (bytes <= store->batch.packed_size)
		return DW_OK;
	room = store->alloc.resize(store->alloc.user, store->batch.packed, bytes);
	if (!room)
		return DW_ENOMEM;
	store->batch.packed = room;
	store->batch.packed_size = bytes;
	return DW_OK;
}

bool batch_add(struct redis_store *store, const struct shard *shard, const struct op_queue *queue,
	       size_t count)
{
	unsigned char *at = store->batch.packed;
	const dw_op *op = queue->first;

	if (op->kind == DW_OP_PUT)
		return add_puts(store, shard, op, count);
	if (batch_is_known(op))
		return known_add(store, shard, op, count);
	if (op->kind == DW_OP_REPLAY)
		command_unsigned(&store->draft.words, op->replay->journal);
	for (size_t i = 0; i < count; i++, op = op->next) {
		bool said = true;

		if (op->kind == DW_OP_REPUSH)
			said = add_push(&store->draft.words, op, &at);
		else if (op->kind == DW_OP_NEXT)
			said = add_next(store, shard, op, &at);
		else if (op->kind == DW_OP_REPLAY)
			said = add_replay(&store->draft.words, op, &at);
		else
			add_operands(store, op);
		if (!said)
			return false;
	}
	return true;
}
