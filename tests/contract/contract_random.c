/* Random operations on few ids, each answer compared with a naive model: the table of
 * durawheel/store.h written a second time, as plainly as possible. */
#include "contract/contract.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/seed.h"

enum { IDS = 12, STEPS = 6000, DUES = 6 };

struct model_timer {
	bool there;
	const char *topic;
	dw_head head;
	uint64_t claim;
	uint64_t news;  /* generation of the news about it, 0: none */
	bool left_open; /* the news is a deletion, and what was deleted was open */
};

struct model {
	struct rng rng;
	struct model_timer timers[IDS];
	uint64_t last; /* generation */
	uint64_t dead;
	struct contract *c;
};

static unsigned draw(struct model *m, unsigned limit)
{
	return (unsigned)rng_below(&m->rng, limit);
}

static void id_of(unsigned number, char id[8])
{
	(void)snprintf(id, 8, "id%u", number);
}

static void expect_head(const dw_head *is, const dw_head *should)
{
	assert_int_equal(is->generation, should->generation);
	assert_int_equal(is->due, should->due);
	assert_int_equal(is->attempt, should->attempt);
	assert_int_equal(is->retries, should->retries);
	assert_int_equal(is->crashes, should->crashes);
	assert_int_equal(is->state, should->state);
	assert_int_equal(is->open, should->open);
}

/* any_topic: two begin alike, and one is longer than the others. */
static const char *any_topic(struct model *m)
{
	static const char *const topics[] = {
	    "t", "to", "a topic that is as long as a topic can be: so it has 63 bytes.."};

	return topics[draw(m, 3)];
}

static dw_op *put_of(const char *id, const char *topic, dw_usec due, unsigned flags)
{
	dw_op *op = ask_put_full(id, topic, due, "");

	op->flags = flags;
	return op;
}

static void random_put(struct model *m, struct model_timer *t, const char *id, bool client)
{
	static const unsigned owners[] = {
	    0, 0, DW_OP_NEW, DW_OP_CLAIMED, DW_OP_WITHDRAWN, DW_OP_CLAIMED | DW_OP_WITHDRAWN};
	unsigned flags = client ? draw(m, 2) * DW_OP_NEW : owners[draw(m, 6)];
	struct ask *ask = client ? &m->c->client : &m->c->owner;
	struct model_timer next = {.there = true, .topic = any_topic(m)};
	dw_usec due = draw(m, DUES);
	dw_head head;

	if (t->there && flags & DW_OP_NEW) {
		assert_int_equal(ask_status(ask, put_of(id, next.topic, due, flags)), DW_EEXIST);
		return;
	}
	assert_int_equal(ask_head(ask, put_of(id, next.topic, due, flags), &head), DW_OK);
	assert_true(head.generation > m->last || m->c->kind->served);
	m->last = head.generation;
	next.head.generation = head.generation;
	next.head.due = due;
	if (t->there && !(flags & DW_OP_WITHDRAWN))
		next.head.open = t->head.open || t->head.state == DW_CLAIMED;
	if (!t->there)
		next.head.open = client && t->left_open;
	next.left_open = !client && t->left_open;
	if (flags & DW_OP_CLAIMED) {
		next.head.state = DW_CLAIMED;
		next.head.attempt = 1;
		next.claim = m->c->owner.env.token;
	}
	next.news = client ? head.generation : t->news;
	*t = next;
	expect_head(&head, &t->head);
}

static void random_cancel(struct model *m, struct model_timer *t, const char *id, bool client)
{
	unsigned flags = client ? 0 : draw(m, 2) * DW_OP_WITHDRAWN;
	struct ask *ask = client ? &m->c->client : &m->c->owner;
	int status = ask_status(ask, ask_cancel(id, flags));
	bool claimed = t->head.state == DW_CLAIMED;
	bool own = t->claim == m->c->owner.env.token;

	if (!t->there) {
		assert_int_equal(status, client && t->left_open ? DW_ELATE : DW_ENOENT);
		return;
	}
	if (claimed && (client || (own && !flags))) {
		assert_int_equal(status, DW_ELATE);
		return;
	}
	assert_int_equal(status, client && t->head.open ? DW_ELATE : DW_OK);
	t->there = false;
	if (client) {
		/* At least; nobody is told which one it is. */
		t->news = m->c->kind->served ? t->head.generation + 1 : ++m->last;
		t->left_open = t->head.open;
	}
}

static void random_move(struct model *m, struct model_timer *t, const char *id, bool client)
{
	unsigned flags = client ? 0 : draw(m, 2) * DW_OP_WITHDRAWN;
	struct ask *ask = client ? &m->c->client : &m->c->owner;
	uint64_t known = draw(m, 2) ? t->head.generation : 0;
	bool claimed = t->head.state == DW_CLAIMED;
	bool own = t->claim == m->c->owner.env.token;
	dw_op *op = ask_done(ask, ask_move(id, draw(m, DUES), known, flags));

	if (!t->there) {
		assert_int_equal(op->status, DW_ENOENT);
	} else if (claimed && (client || (own && !flags))) {
		assert_int_equal(op->status, DW_ELATE);
	} else {
		assert_int_equal(op->status, DW_OK);
		assert_true(op->head.generation > m->last || m->c->kind->served);
		assert_int_equal(op->row_count, !client && known != t->head.generation);
		m->last = op->head.generation;
		t->head.open = !flags && (t->head.open || claimed);
		t->head.generation = op->head.generation;
		t->head.due = op->head.due;
		t->head.state = DW_PENDING;
		t->head.retries = t->head.crashes = 0;
		t->claim = 0;
		t->news = client ? op->head.generation : t->news;
		t->left_open = !client && t->left_open;
		expect_head(&op->head, &t->head);
	}
	ask_free(op);
}

/* A generation and an attempt that are right, mostly. */
static void draw_delivery(struct model *m, const struct model_timer *t, dw_head *ret_head)
{
	*ret_head = t->head;
	if (draw(m, 8) == 0)
		ret_head->generation -= draw(m, 3);
	if (draw(m, 8) == 0)
		ret_head->attempt += draw(m, 3);
}

static void random_claim(struct model *m, struct model_timer *t, const char *id)
{
	bool own = t->head.state == DW_CLAIMED && t->claim == m->c->owner.env.token;
	bool again;
	dw_head asked;
	dw_head head;
	int status;

	draw_delivery(m, t, &asked);
	if (own && draw(m, 2))
		asked.attempt--;
	status = ask_head(&m->c->owner, ask_about(DW_OP_CLAIM, id, asked.generation, asked.attempt),
			  &head);
	if (!t->there) {
		assert_int_equal(status, DW_ENOENT);
		return;
	}
	again = own && asked.attempt + 1 == t->head.attempt;
	if (asked.generation != t->head.generation ||
	    (!again && asked.attempt != t->head.attempt)) {
		assert_int_equal(status, DW_ESTALE);
		return;
	}
	assert_int_equal(status, DW_OK);
	if (!again) {
		if (t->head.state == DW_CLAIMED && !own) {
			t->head.crashes++;
			t->head.open = 1;
		}
		t->head.state = DW_CLAIMED;
		t->head.attempt++;
		t->claim = m->c->owner.env.token;
	}
	expect_head(&head, &t->head);
}

static void random_verdict(struct model *m, struct model_timer *t, const char *id)
{
	static const dw_op_kind kinds[] = {DW_OP_SETTLE, DW_OP_RETRY, DW_OP_RETRY, DW_OP_BURY};
	dw_op_kind kind = kinds[draw(m, 4)];
	dw_head asked;
	dw_op *op;
	int status;

	draw_delivery(m, t, &asked);
	op = ask_about(kind, id, asked.generation, asked.attempt);
	op->head.due = draw(m, DUES);
	op->flags = draw(m, 2) * DW_OP_VERDICT;
	asked.due = op->head.due;
	asked.retries = op->flags ? 1 : 0;
	status = ask_status(&m->c->owner, op);
	if (!t->there) {
		assert_int_equal(status, DW_ENOENT);
	} else if (asked.generation != t->head.generation || asked.attempt != t->head.attempt) {
		assert_int_equal(status, DW_ESTALE);
	} else if (kind != DW_OP_RETRY) {
		assert_int_equal(status, DW_OK);
		t->there = false;
		m->dead += kind == DW_OP_BURY;
	} else if (t->head.state == DW_PENDING) {
		assert_int_equal(status, asked.due == t->head.due ? DW_OK : DW_ESTALE);
	} else {
		assert_int_equal(status, DW_OK);
		t->head.state = DW_PENDING;
		t->head.due = asked.due;
		t->head.retries += asked.retries;
		t->claim = 0;
	}
}

static int before(const struct model_timer *a, const struct model_timer *b)
{
	if (a->head.due != b->head.due)
		return a->head.due < b->head.due;
	return a->head.generation < b->head.generation;
}

/* smallest_after: the naive next of a scan; topic NULL: of all. */
static struct model_timer *smallest_after(struct model *m, const struct model_timer *after,
					  const char *topic)
{
	struct model_timer *found = NULL;

	for (unsigned i = 0; i < IDS; i++) {
		struct model_timer *t = &m->timers[i];

		if (t->there && (!after || before(after, t)) && (!found || before(t, found)) &&
		    (!topic || strcmp(t->topic, topic) == 0))
			found = t;
	}
	return found;
}

static void check_scan(struct model *m)
{
	const char *topic = draw(m, 2) ? any_topic(m) : NULL;
	size_t limit = 1 + draw(m, 5);
	const struct model_timer *at = NULL;
	dw_cursor after = {0};
	size_t page;

	do {
		dw_op *op = ask_done(&m->c->owner, ask_scan(&after, limit, topic));

		page = op->row_count;
		for (dw_row *row = op->rows; row; row = row->next) {
			char id[8];

			at = smallest_after(m, at, topic);
			assert_non_null(at);
			id_of((unsigned)(at - m->timers), id);
			assert_string_equal(row->id, id);
			expect_head(&row->head, &at->head);
			after = (dw_cursor){
			    .due = row->head.due, .generation = row->head.generation, .started = 1};
		}
		ask_free(op);
	} while (page == limit);
	assert_null(smallest_after(m, at, topic));
}

static void check_status(struct model *m)
{
	dw_op *op = ask_done(&m->c->owner, ask_plain(DW_OP_STATUS));
	uint64_t pending = 0;
	uint64_t claimed = 0;
	uint64_t news = 0;

	for (unsigned i = 0; i < IDS; i++) {
		const struct model_timer *t = &m->timers[i];

		pending += t->there && t->head.state == DW_PENDING;
		claimed += t->there && t->head.state == DW_CLAIMED;
		news += t->news != 0;
	}
	assert_int_equal(op->store_status->pending, pending);
	assert_int_equal(op->store_status->claimed, claimed);
	assert_int_equal(op->store_status->dead, m->dead);
	assert_int_equal(op->store_status->inbox, news);
	ask_free(op);
}

/* read_news takes all of the inbox and acknowledges some of it. */
static void read_news(struct model *m)
{
	dw_op *op;
	bool any = false;

	for (unsigned i = 0; i < IDS; i++)
		any = any || m->timers[i].news;
	if (!any)
		return;
	op = ask_done(&m->c->owner, ask_plain(DW_OP_INBOX));
	for (dw_row *row = op->rows; row; row = row->next) {
		struct model_timer *t = &m->timers[0];
		char id[8];

		for (id_of(0, id); strcmp(id, row->id) != 0; id_of((unsigned)(++t - m->timers), id))
			assert_true(t < m->timers + IDS);
		assert_true(t->news != 0);
		assert_int_equal(row->gone, !t->there);
		if (t->there)
			expect_head(&row->head, &t->head);
		if (draw(m, 2) == 0)
			continue;
		assert_int_equal(
		    ask_status(&m->c->owner, ask_about(DW_OP_ACK, id, row->head.generation, 0)),
		    DW_OK);
		t->news = 0;
		t->left_open = false;
	}
	ask_free(op);
}

static void crash(struct model *m)
{
	if (!m->c->kind->shared)
		return;
	contract_crash(m->c);
	for (unsigned i = 0; i < IDS; i++) {
		m->timers[i].news = 0;
		m->timers[i].left_open = false;
	}
}

static void step(struct model *m)
{
	bool client = m->c->kind->shared && draw(m, 3) == 0;
	unsigned number = draw(m, IDS);
	struct model_timer *t = &m->timers[number];
	unsigned what = draw(m, 100);
	char id[8];

	id_of(number, id);
	m->c->now += (dw_usec)draw(m, 5) - 2;
	if (what < 30)
		random_put(m, t, id, client);
	else if (what < 38)
		random_cancel(m, t, id, client);
	else if (what < 46)
		random_move(m, t, id, client);
	else if (what < 65)
		random_claim(m, t, id);
	else if (what < 90)
		random_verdict(m, t, id);
	else if (what < 94)
		check_scan(m);
	else if (what < 97)
		check_status(m);
	else if (what < 99)
		read_news(m);
	else
		crash(m);
}

void contract_random(void **state)
{
	struct model m = {.c = *state, .rng = seed_of_test()};
	/* Each waits for a server, and perhaps for its disk. */
	uint64_t steps = environment_scaled(m.c->kind->served ? STEPS / 5 : STEPS);

	for (uint64_t i = 0; i < steps; i++)
		step(&m);
	check_scan(&m);
	check_status(&m);
}
