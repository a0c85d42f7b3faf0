#include "support/leased.h"

#include <stdio.h>
#include <string.h>

#include "support/ask.h"
#include "support/cmocka.h"

static struct leased *leased_of(dw_store *store)
{
	return (struct leased *)store;
}

void leased_say(struct leased *leased, dw_op *op, int status)
{
	op->status = status;
	op_queue_push(&leased->answers, op);
	leased->harness->woken = 1;
}

/* ---- Operations ---------------------------------------------------------------------------- */

static unsigned shards(const dw_store *store)
{
	(void)store;
	return LEASED_SHARDS;
}

static unsigned shard_of(const dw_store *store, const char *id)
{
	(void)store;
	return (unsigned)(unsigned char)(id[0] - 'a') % LEASED_SHARDS;
}

static bool is_owners(const dw_op *op)
{
	return op->kind == DW_OP_CLAIM || op->kind == DW_OP_SETTLE || op->kind == DW_OP_RETRY ||
	       op->kind == DW_OP_BURY || op->kind == DW_OP_INBOX || op->kind == DW_OP_ACK ||
	       op->kind == DW_OP_REPORT || op->kind == DW_OP_PURGE ||
	       op->flags & (DW_OP_CLAIMED | DW_OP_WITHDRAWN);
}

/* leave_out removes the rows of other shards from an answer. row_count still shows whether this was
 * the last page. */
static void leave_out(struct leased *leased, dw_op *op)
{
	struct alloc alloc = harness_alloc(leased->harness);
	dw_row **link = &op->rows;

	while (*link) {
		dw_row *row = *link;

		if (op_covers_shard(op, shard_of(&leased->store, row->id))) {
			link = &row->next;
			continue;
		}
		*link = row->next;
		row->next = NULL;
		rows_free(&alloc, row);
	}
}

static void note_scan(struct leased *leased, const dw_op *op)
{
	leased->scanned = 0;
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased->scanned |= op_covers_shard(op, i) ? 1u << i : 0;
}

/* pull takes the answers of the inner store, except the answer to `get`, which may be NULL. */
static void pull(struct leased *leased, const dw_op *get)
{
	dw_store *inner = leased->harness->store;
	dw_op *op = inner->type->collect(inner);

	while (op) {
		dw_op *next = op->next;

		if (op->kind == DW_OP_PUT && op->status == DW_OK && leased->unknown > 0) {
			leased->unknown--;
			op->head.generation = 0;
			op->status = DW_EUNKNOWN;
		}
		if (op->kind == DW_OP_SCAN)
			leave_out(leased, op);
		if (op != get)
			op_queue_push(&leased->answers, op);
		op = next;
	}
}

/* answer_done answers that a put was carried out before, with the timer that is stored now. */
static void answer_done(struct leased *leased, dw_op *put)
{
	struct alloc alloc = harness_alloc(leased->harness);
	dw_store *inner = leased->harness->store;
	dw_op *get = op_new(&alloc, DW_OP_GET, put->id, NULL, 0);

	inner->type->submit(inner, get);
	pull(leased, get);
	put->rows = get->rows;
	put->row_count = get->row_count;
	get->rows = NULL;
	op_free(&alloc, get);
	put->flags |= DW_OP_DONE;
	leased_say(leased, put, DW_OK);
}

static void own(struct leased *leased, dw_op *op)
{
	if (leased->fenced && !leased->is_free) {
		leased_say(leased, op, leased->newer ? DW_ENEWER : DW_EOWNED);
		return;
	}
	leased->fenced = false;
	leased_say(leased, op, DW_OK);
}

/* refuses answers an operation whose shard is refused or belongs to another process. Otherwise it
 * returns false. */
static bool refuses(struct leased *leased, dw_op *op)
{
	const struct leased_shard *its = op->id && leased->type.shards
					     ? &leased->shards[shard_of(&leased->store, op->id)]
					     : NULL;

	if (its && its->refused)
		leased_say(leased, op, DW_ESTORE);
	else if (its && its->foreign && is_owners(op))
		leased_say(leased, op, DW_EFENCED);
	else
		return false;
	return true;
}

/* answer_members answers with one peer, which has the first and the last shard. */
static void answer_members(struct leased *leased, dw_op *op)
{
	struct alloc alloc = harness_alloc(leased->harness);
	const dw_member_row member = {.shards = {1u | 1u << (LEASED_SHARDS - 1)},
				      .room = LEASED_SHARDS,
				      .version = "1",
				      .is_self = 1};

	op->rows = row_new(&alloc, "host pid 1", &member, sizeof member);
	op->row_count = op->rows != NULL;
	leased_say(leased, op, op->rows ? DW_OK : DW_ENOMEM);
}

static void give(struct leased *leased, dw_op *op)
{
	if (leased->gives == DW_OK) {
		leased->shards[op->limit].foreign = true;
		leased->surplus -= leased->surplus > 0;
	}
	leased_say(leased, op, leased->gives);
}

static void take(struct leased *leased, dw_op *op)
{
	dw_store *inner = leased->harness->store;

	op->next = NULL;
	if (refuses(leased, op))
		return;
	if (op->kind == DW_OP_OWN)
		own(leased, op);
	else if (leased->fenced && is_owners(op))
		leased_say(leased, op, DW_EFENCED);
	else if (op->kind == DW_OP_INBOX)
		leased->parked = op;
	else if (leased->keeps && op->kind != DW_OP_SCAN)
		op_queue_push(&leased->kept, op);
	else if (op->kind == DW_OP_GIVE)
		give(leased, op);
	else if (op->kind == DW_OP_MEMBERS)
		answer_members(leased, op);
	else if (leased->failing != DW_OK && op->kind != DW_OP_SCAN)
		leased_say(leased, op, leased->failing);
	else if (op->kind == DW_OP_PUT && op->flags & DW_OP_AGAIN && leased->knows)
		answer_done(leased, op);
	else
		inner->type->submit(inner, op);
}

static void submit(dw_store *store, dw_op *batch)
{
	struct leased *leased = leased_of(store);

	while (batch) {
		dw_op *next = batch->next;

		leased->asked[batch->kind]++;
		if (batch->kind == DW_OP_SCAN)
			note_scan(leased, batch);
		if (batch->kind == DW_OP_PUT)
			leased->flags = batch->flags;
		take(leased, batch);
		batch = next;
	}
}

static dw_op *collect(dw_store *store)
{
	struct leased *leased = leased_of(store);

	pull(leased, NULL);
	return op_queue_take(&leased->answers);
}

/* ---- Its own time -------------------------------------------------------------------------- */

static void turn(dw_store *store, dw_usec steady)
{
	struct leased *leased = leased_of(store);

	leased->turns++;
	leased->turned_at = steady;
	if (steady >= leased->due)
		leased->due = DW_NEVER;
}

static dw_usec due(const dw_store *store)
{
	return ((const struct leased *)store)->due;
}

static dw_usec lease(const dw_store *store, unsigned shard)
{
	const struct leased *leased = (const struct leased *)store;
	const struct leased_shard *its = &leased->shards[shard];

	if (!leased->type.shards)
		return leased->lease;
	return its->refused || its->foreign || leased->fenced ? INT64_MIN : its->lease;
}

static int trouble(const dw_store *store, char *ret_words, size_t size)
{
	(void)snprintf(ret_words, size, LEASED_TROUBLE); /* it fits */
	return ((const struct leased *)store)->trouble;
}

/* ---- Shards -------------------------------------------------------------------------------- */

static int take_shard(dw_store *store, dw_shard_news *ret_news)
{
	struct leased *leased = leased_of(store);

	if (leased->news_count == 0)
		return 0;
	*ret_news = leased->news[0];
	leased->news_count--;
	memmove(leased->news, leased->news + 1, leased->news_count * sizeof *leased->news);
	return 1;
}

static unsigned surplus(const dw_store *store)
{
	const struct leased *leased = (const struct leased *)store;

	return leased->leaves ? LEASED_SHARDS - leased_given(leased) : leased->surplus;
}

static void leave(dw_store *store)
{
	((struct leased *)store)->leaves = true;
}

static void sharing(const dw_store *store, dw_sharing *ret_sharing)
{
	*ret_sharing = ((const struct leased *)store)->sharing;
}

static void tell_news(struct leased *leased, dw_shard_news news)
{
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		news.refused += leased->shards[i].refused;
	assert_true(leased->news_count < LEASED_SHARDS * 2);
	leased->news[leased->news_count++] = news;
	leased->harness->woken = 1;
}

void leased_refuse(struct leased *leased, unsigned shard)
{
	leased->shards[shard].refused = true;
	tell_news(leased, (dw_shard_news){.number = shard,
					  .state = DW_SHARD_REFUSED,
					  .status = DW_ESTORE,
					  .words = LEASED_REFUSAL});
}

void leased_tell_shard(struct leased *leased, unsigned shard, dw_shard_state state)
{
	leased->shards[shard].refused = false;
	leased->shards[shard].foreign = state == DW_SHARD_FOREIGN;
	tell_news(leased, (dw_shard_news){.number = shard, .state = state});
}

/* ---- The test's side ----------------------------------------------------------------------- */

static const dw_store_class leased_class = {.size = sizeof leased_class,
					    .name = "leased",
					    .submit = submit,
					    .collect = collect,
					    .turn = turn,
					    .due = due,
					    .lease = lease,
					    .trouble = trouble,
					    .patience = LEASED_PATIENCE};

void leased_keep_topics(struct leased *leased)
{
	leased->type = leased_class;
	leased->type.keeps_topics = 1;
	leased->store.type = &leased->type;
	leased->harness->woken = 1;
}

static void divide(struct leased *leased)
{
	leased->type = *leased->store.type;
	leased->type.shards = shards;
	leased->type.shard_of = shard_of;
	leased->type.take_shard = take_shard;
	leased->type.surplus = surplus;
	leased->type.sharing = sharing;
	leased->type.leave = leave;
	leased->store.type = &leased->type;
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased->shards[i].lease = DW_NEVER;
}

static struct harness *make(struct leased *leased, void (*set)(struct engine_env *),
			    bool is_divided)
{
	struct harness *harness = harness_make(set);

	*leased = (struct leased){.store = {.type = &leased_class},
				  .harness = harness,
				  .lease = DW_NEVER,
				  .due = DW_NEVER};
	if (is_divided)
		divide(leased);
	engine_attach(harness->engine, &leased->store);
	harness_turn(harness);
	return harness;
}

struct harness *leased_new(struct leased *leased, void (*set)(struct engine_env *))
{
	return make(leased, set, false);
}

void leased_fence(struct leased *leased)
{
	dw_op *op;

	leased->fenced = true;
	if (leased->parked)
		leased_say(leased, leased->parked, DW_EFENCED);
	leased->parked = NULL;
	while ((op = op_queue_pop(&leased->kept)))
		leased_say(leased, op, DW_EFENCED);
	leased->harness->woken = 1;
}

void leased_speak(struct leased *leased)
{
	dw_op *op;

	leased->keeps = false;
	while ((op = op_queue_pop(&leased->kept)))
		take(leased, op);
	leased->harness->woken = 1;
}

void leased_free(struct leased *leased)
{
	struct alloc alloc = harness_alloc(leased->harness);

	leased_speak(leased);
	harness_turn(leased->harness);
	op_free(&alloc, leased->parked);
	engine_attach(leased->harness->engine, leased->harness->store);
	harness_free(leased->harness);
}

static struct harness *begin(struct harness *h)
{
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_pass(h, DW_SECONDS(1)); /* all timers are loaded and reported */
	assert_int_equal(engine_check(h->engine), 0);
	return h;
}

struct harness *leased_begin(struct leased *leased)
{
	return begin(make(leased, NULL, false));
}

struct harness *leased_begin_divided(struct leased *leased)
{
	return begin(make(leased, NULL, true));
}

static void set_peer(struct engine_env *env)
{
	env->is_peer = true;
}

struct harness *leased_begin_peer(struct leased *leased)
{
	return begin(make(leased, set_peer, true));
}

void leased_end(struct leased *leased)
{
	assert_int_equal(engine_check(leased->harness->engine), 0);
	leased_free(leased);
}

void leased_fenced(struct leased *leased)
{
	leased_fence(leased);
	harness_turn(leased->harness);
	assert_int_equal(engine_check(leased->harness->engine), 0);
}

void leased_tell(struct leased *leased, const char *id, dw_head head, bool gone)
{
	struct alloc alloc = harness_alloc(leased->harness);
	dw_op *put = ask_put_full(id, "t", head.due, "data");
	dw_op *inbox = leased->parked;

	inbox->rows = row_new(&alloc, id, put->body, put->body_size);
	inbox->rows->head = head;
	inbox->rows->gone = gone;
	inbox->row_count = 1;
	leased->parked = NULL;
	leased_say(leased, inbox, DW_OK);
	ask_free(put);
}

/* ---- Giving shards ------------------------------------------------------------------------- */

void leased_put_each(struct leased *leased, dw_usec delay)
{
	for (unsigned i = 0; i < LEASED_SHARDS; i++) {
		char id[2] = {(char)('a' + (int)i), '\0'};

		(void)harness_put(leased->harness, id, delay);
	}
	harness_turn(leased->harness);
}

unsigned leased_given(const struct leased *leased)
{
	unsigned count = 0;

	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		count += leased->shards[i].foreign;
	return count;
}

void leased_want_fewer(struct leased *leased, unsigned surplus, dw_usec time)
{
	leased->surplus = surplus;
	leased->harness->woken = 1;
	harness_pass(leased->harness, time);
	assert_int_equal(engine_check(leased->harness->engine), 0);
}
