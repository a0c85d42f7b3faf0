#include "sim/fleet/effects.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/fleet/fleet.h"
#include "store/redis/store.h"
#include "store/redis/wire/value.h"

static struct alloc alloc_of(const struct effect *effect)
{
	return memory_alloc(&effect->fleet->sim->table_account);
}

static dw_role role_of(const struct effect *effect)
{
	return effect->argv[0][0] == 'o' ? DW_OWNER : DW_CLIENT;
}

static uint64_t number(const struct effect *effect, int at)
{
	return strtoull(effect->argv[at], NULL, 10);
}

static dw_usec time_at(const struct effect *effect, int at)
{
	return (dw_usec)bytes_get((const unsigned char *)effect->argv[at], 8);
}

static int status_of(const struct reply *item)
{
	static const int statuses[] = {DW_OK,    DW_EEXIST,   DW_ENOENT, DW_ESTALE,
				       DW_ELATE, DW_ECORRUPT, DW_ENOENT, DW_ENEWER};
	int64_t code = item->kind == REPLY_ARRAY ? item->items[0].integer : item->integer;

	return item->kind == REPLY_BULK ? DW_OK : statuses[code];
}

/* header_of: the header in an item of a reply. False: the item has none. */
static bool header_of(const struct reply *item, dw_head *ret_head)
{
	if (item->kind == REPLY_ARRAY && item->items[0].integer == 0)
		item = &item->items[1];
	return item->kind == REPLY_BULK && item->size >= VALUE_HEAD_SIZE &&
	       value_head(item->bytes, VALUE_HEAD_SIZE, ret_head);
}

static void tell(const struct effect *effect, const dw_op *op, const dw_head *wanted)
{
	trace(effect->fleet->sim, "apply", op->id, op->kind, op->status);
	operation_applied(effect->fleet->sim, op, wanted, role_of(effect));
}

/* tell_put: the k-th put. item NULL: it is stored as it was given. */
static void tell_put(const struct effect *effect, size_t k, const struct reply *item)
{
	struct alloc alloc = alloc_of(effect);
	size_t count = effect->sizes[6];
	size_t at = 7 + 2 * count + k;
	unsigned char value[512];
	dw_op op = {.kind = DW_OP_PUT,
		    .id = effect->argv[8 + 2 * k],
		    .flags = effect->argv[6][k] - '0' >= 16 ? DW_OP_ONCE : 0,
		    .status = item ? status_of(item) : DW_OK};
	dw_row *row = NULL;

	if (op.status == DW_OK) {
		memcpy(value, effect->argv[at], effect->sizes[at]);
		if (item)
			memcpy(value, item->bytes, VALUE_HEAD_SIZE);
		row = value_row(&alloc, op.id, strlen(op.id), value, effect->sizes[at]);
		op.head = row->head;
		op.body = row->body;
		op.body_size = row->body_size;
	}
	tell(effect, &op, &op.head);
	rows_free(&alloc, row);
}

static void tell_puts(const struct effect *effect)
{
	const struct reply *reply = effect->reply;

	for (size_t k = 0; k < effect->sizes[6]; k++)
		tell_put(effect, k, reply->count > 1 ? &reply->items[k + 1] : NULL);
}

/* tell_delivery: a claim, settle, retry or bury: id, version, attempt ... */
static void tell_delivery(const struct effect *effect, int at, const struct reply *item,
			  dw_op_kind kind)
{
	dw_op op = {.kind = kind, .id = effect->argv[at], .status = status_of(item)};
	dw_head wanted = {.generation = number(effect, at + 1),
			  .attempt = (uint32_t)number(effect, at + 2)};

	op.head = wanted;
	(void)header_of(item, &op.head);
	if (kind == DW_OP_RETRY) {
		wanted.due = time_at(effect, at + 3);
		op.flags = effect->argv[at + 4][0] == '1' ? DW_OP_VERDICT : 0;
	}
	if (kind == DW_OP_BURY)
		op.reason = (dw_reason)number(effect, at + 3);
	tell(effect, &op, &wanted);
}

/* tell_known_claims: score, id ...; the claimed value ... The claim writes the whole value. So it
 * rebuilds a deleted value, and a timer that a set-back lost unnoticed. */
static void tell_known_claims(const struct effect *effect)
{
	size_t count = (size_t)(effect->argc - 6) / 3;

	for (size_t k = 0; k < count; k++) {
		const char *value = effect->argv[6 + 2 * count + k];
		dw_op op = {.kind = DW_OP_CLAIM, .id = effect->argv[7 + 2 * k], .status = DW_OK};
		dw_head wanted;

		if (!value_head(value, VALUE_HEAD_SIZE, &op.head))
			abort();
		wanted = op.head;
		wanted.attempt--;
		wanted.state = DW_PENDING;
		if (effect->fleet->server.known[k] < op.head.generation)
			rebuild_written(effect->fleet, op.id, &wanted, NULL, false);
		tell(effect, &op, &wanted);
	}
}

/* tell_known_settles: the settle deletes any generation. */
static void tell_known_settles(const struct effect *effect)
{
	for (int at = 6; at < 6 + (effect->argc - 6) / 2; at++) {
		dw_op op = {.kind = DW_OP_SETTLE, .id = effect->argv[at], .status = DW_OK};

		op.head.generation = effect->fleet->server.known[at - 6];
		if (op.head.generation)
			tell(effect, &op, &op.head);
	}
}

/* tell_next: a recurring timer waits for its next occurrence, which value has. */
static void tell_next(const struct effect *effect, dw_op *op, const dw_head *wanted, size_t value)
{
	struct alloc alloc = alloc_of(effect);
	dw_row *row = NULL;

	if (op->status == DW_OK) {
		row = value_row(&alloc, op->id, strlen(op->id), effect->argv[value],
				effect->sizes[value]);
		op->body = row->body;
		op->body_size = row->body_size;
		if (op->head.generation == 0)
			op->head = row->head;
	}
	tell(effect, op, wanted);
	rows_free(&alloc, row);
}

static void tell_nexts(const struct effect *effect)
{
	for (size_t k = 1; k < effect->reply->count; k++) {
		int at = 6 + (int)(k - 1) * 8;
		const struct reply *item = &effect->reply->items[k];
		dw_op op = {.kind = DW_OP_NEXT,
			    .id = effect->argv[at],
			    .status = status_of(item),
			    .reason = (dw_reason)number(effect, at + 3)};
		dw_head wanted = {.generation = number(effect, at + 1),
				  .attempt = (uint32_t)number(effect, at + 2)};

		(void)header_of(item, &op.head);
		tell_next(effect, &op, &wanted, (size_t)at + 6);
	}
}

/* tell_known_nexts: score, id ...; the value of the next occurrence ... */
static void tell_known_nexts(const struct effect *effect)
{
	const struct server *server = &effect->fleet->server;
	size_t count = (size_t)(effect->argc - 6) / 3;

	for (size_t k = 0; k < count; k++) {
		dw_op op = {.kind = DW_OP_NEXT, .id = effect->argv[7 + 2 * k], .status = DW_OK};
		dw_head wanted = {.generation = server->known[k],
				  .attempt = server->known_attempt[k]};

		tell_next(effect, &op, &wanted, 6 + 2 * count + k);
	}
}

static void tell_plain(const struct effect *effect, const char *id, const struct reply *item,
		       dw_op_kind kind)
{
	dw_op op = {.kind = kind, .id = id, .status = status_of(item)};

	(void)header_of(item, &op.head);
	tell(effect, &op, &op.head);
}

static void tell_drop(const struct effect *effect, const char *id, const struct reply *item)
{
	dw_op op = {.kind = DW_OP_DROP, .id = id};

	if (server_shard(&effect->fleet->server, id) != effect->shard)
		return; /* a letter in the wrong shard, which no call has made */
	op.status = item->integer > 0 ? DW_OK : DW_ENOENT;
	tell(effect, &op, &op.head);
}

static void tell_purge(const struct effect *effect)
{
	struct sim *sim = effect->fleet->sim;

	if (reply_is(&effect->reply->items[1], "NEWER"))
		return; /* nothing was deleted */
	for (struct name *name = sim->promises.first; name; name = name->next) {
		if (server_shard(&effect->fleet->server, name->id) == effect->shard)
			operation_purged(sim, name);
	}
}

/* tell_rebuilt: a refused one belongs to another owner by now. */
static void tell_rebuilt(const struct effect *effect, const char *id, const struct reply *item)
{
	dw_head head;

	if (item->kind == REPLY_BULK && header_of(item, &head)) {
		trace(effect->fleet->sim, "rebuilt", id, (int64_t)head.generation, head.attempt);
		rebuild_written(effect->fleet, id, &head, effect->caller,
				role_of(effect) == DW_CLIENT);
	}
}

static void tell_loss(const struct effect *effect, int step)
{
	for (size_t k = 1; k < effect->reply->count; k++) {
		const struct reply *item = &effect->reply->items[k];
		int at = 6 + (int)(k - 1) * step;
		const char *id = effect->argv[at];

		if (step == 9)
			tell_rebuilt(effect, id, item);
		else if (step == 2 && item->integer == 0)
			rebuild_deleted(effect->fleet->sim, id, number(effect, at + 1));
		else if (step == 1 && item->integer == 2)
			rebuild_repaired(effect->fleet->sim, id);
	}
}

static void tell_item(const struct effect *effect, dw_op_kind kind, int at,
		      const struct reply *item)
{
	switch (kind) {
	case DW_OP_CANCEL:
	case DW_OP_MOVE:
		tell_plain(effect, effect->argv[at + 1], item, kind);
		return;
	case DW_OP_REQUEUE:
		tell_plain(effect, effect->argv[at], item, kind);
		return;
	case DW_OP_DROP:
		tell_drop(effect, effect->argv[at], item);
		return;
	default:
		tell_delivery(effect, at, item, kind);
	}
}

void effects_tell(const struct effect *effect)
{
	static const struct {
		const char *script;
		dw_op_kind kind;
		int step;
	} all[] = {{"claim", DW_OP_CLAIM, 3},     {"settle", DW_OP_SETTLE, 5},
		   {"retry", DW_OP_RETRY, 6},     {"bury", DW_OP_BURY, 7},
		   {"cancel", DW_OP_CANCEL, 3},   {"move", DW_OP_MOVE, 5},
		   {"requeue", DW_OP_REQUEUE, 4}, {"drop", DW_OP_DROP, 2}};

	if (effect->reply->kind == REPLY_ARRAY && effect->reply->count > 0 &&
	    reply_is(&effect->reply->items[0], "NEWER"))
		losses_gives_way(effect->fleet, effect->caller);
	if (effect->reply->kind != REPLY_ARRAY || effect->reply->count == 0 ||
	    !reply_is(&effect->reply->items[0], "OK"))
		return;
	if (strcmp(effect->script, "put") == 0)
		tell_puts(effect);
	if (strcmp(effect->script, "claim_known") == 0)
		tell_known_claims(effect);
	if (strcmp(effect->script, "settle_known") == 0)
		tell_known_settles(effect);
	if (strcmp(effect->script, "next") == 0)
		tell_nexts(effect);
	if (strcmp(effect->script, "next_known") == 0)
		tell_known_nexts(effect);
	if (strcmp(effect->script, "acquire") == 0) {
		effect->fleet->server.acquired_at[effect->shard] =
		    effect->fleet->sim->clocks.steady;
		losses_acquired(effect->fleet, effect->shard, effect->caller,
				strtoull(effect->reply->items[1].bytes, NULL, 10));
		losses_renumbered(effect->fleet, effect->shard);
		losses_taken_over(effect->fleet, effect->shard);
	}
	if (strcmp(effect->script, "repush") == 0)
		tell_loss(effect, 9);
	if (strcmp(effect->script, "redelete") == 0)
		tell_loss(effect, 2);
	if (strcmp(effect->script, "mend") == 0)
		tell_loss(effect, 1);
	if (strcmp(effect->script, "release") == 0)
		peers_released(effect);
	if (strcmp(effect->script, "purge") == 0)
		tell_purge(effect);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (strcmp(effect->script, all[i].script) != 0)
			continue;
		for (size_t k = 1; k < effect->reply->count; k++)
			tell_item(effect, all[i].kind, 6 + (int)(k - 1) * all[i].step,
				  &effect->reply->items[k]);
	}
}
