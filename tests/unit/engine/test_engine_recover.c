/* How an owner loads what is stored: what is due soon in the order of the deadlines, then the rest
 * in the order of a store that reads faster so. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/ask.h"
#include "support/harness.h"

enum { TIMERS = 800 };

/* In front of the memory store: it loads by generation, holds back such a page, or finds damage. */
struct shelf {
	dw_store store; /* first */
	struct harness *harness;
	struct op_queue held;
	struct op_queue answers;
	unsigned pages_by_generation;
	unsigned damaged;  /* so many pages cannot be read */
	uint64_t known[8]; /* timers that memory had when each page was asked for */
	bool holds;
	const char *damaged_id; /* of a row; or NULL */
	bool starves;           /* there is no memory for the first page */
};

static struct shelf *shelf_of(dw_store *store)
{
	return (struct shelf *)store;
}

/* damage makes a row of each page that has it one that is not to be trusted. */
static void damage(const struct shelf *shelf, dw_op *op)
{
	for (dw_row *row = op->rows; row && shelf->damaged_id; row = row->next)
		if (strcmp(row->id, shelf->damaged_id) == 0)
			row->status = DW_ECORRUPT;
}

/* note_page comes after the store has made the answer: that had memory. */
static void note_page(struct shelf *shelf)
{
	struct harness *h = shelf->harness;
	unsigned page = shelf->pages_by_generation++;

	if (page < sizeof shelf->known / sizeof *shelf->known)
		shelf->known[page] = harness_stats(h).timers;
	if (shelf->starves && page == 1)
		h->fail_at = h->allocations + 20;
}

static void take(struct shelf *shelf, dw_op *op)
{
	dw_store *inner = shelf->harness->store;
	bool by_generation = op->kind == DW_OP_SCAN && op->flags & DW_OP_BY_GENERATION;

	op->next = NULL;
	if (op->kind == DW_OP_SCAN && shelf->damaged > 0) {
		shelf->damaged--;
		op->status = DW_ECORRUPT;
		op_queue_push(&shelf->answers, op);
		shelf->harness->woken = 1;
	} else if (by_generation && shelf->holds) {
		op_queue_push(&shelf->held, op);
	} else {
		inner->type->submit(inner, op);
		damage(shelf, op);
	}
	if (by_generation)
		note_page(shelf);
}

static void submit(dw_store *store, dw_op *batch)
{
	while (batch) {
		dw_op *next = batch->next;

		take(shelf_of(store), batch);
		batch = next;
	}
}

static dw_op *collect(dw_store *store)
{
	struct shelf *shelf = shelf_of(store);
	dw_store *inner = shelf->harness->store;
	struct op_queue all = {0};

	op_queue_append(&all, op_queue_take(&shelf->answers));
	op_queue_append(&all, inner->type->collect(inner));
	return op_queue_take(&all);
}

static const dw_store_class shelf_class = {.size = sizeof shelf_class,
					   .name = "shelf",
					   .submit = submit,
					   .collect = collect,
					   .loads_by_generation = 1};

static void let_go(struct shelf *shelf)
{
	dw_op *held = op_queue_take(&shelf->held);

	shelf->holds = false;
	if (held)
		submit(&shelf->store, held);
}

/* stored puts a timer into the memory store before the engine has it. */
static void stored(struct harness *h, const char *id, dw_usec due)
{
	dw_op *op = ask_put_full(id, "t", due, "");

	h->store->type->submit(h->store, op);
	assert_ptr_equal(h->store->type->collect(h->store), op);
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
}

static struct harness *shelf_make(struct shelf *shelf)
{
	struct harness *h = harness_make(NULL);

	*shelf = (struct shelf){.store = {.type = &shelf_class}, .harness = h};
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	return h;
}

static void shelf_free(struct shelf *shelf)
{
	let_go(shelf);
	harness_turn(shelf->harness);
	engine_attach(shelf->harness->engine, shelf->harness->store);
	harness_free(shelf->harness);
}

/* fill stores timers that are due one after the other, the last one inserted first. */
static void fill(struct harness *h, dw_usec first)
{
	char id[16];

	for (int i = 0; i < TIMERS; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		stored(h, id, h->wall + first + DW_MILLISECONDS(TIMERS - i));
	}
}

static void expect_all_in_order(const struct harness *h)
{
	assert_int_equal(h->start_count, TIMERS);
	for (size_t i = 1; i < TIMERS; i++)
		assert_true(h->starts[i - 1].due < h->starts[i].due);
}

static void overdue_timers_start_in_the_order_of_their_deadlines(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	fill(h, -DW_SECONDS(TIMERS));
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	expect_all_in_order(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), 1);
	shelf_free(&shelf);
}

static void timers_far_away_are_loaded_by_generation(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	fill(h, DW_SECONDS(60));
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	assert_int_equal(harness_stats(h).timers, TIMERS);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), 1);
	assert_int_equal(shelf.pages_by_generation, TIMERS / 256 + 1);
	harness_pass(h, DW_SECONDS(62));
	expect_all_in_order(h);
	shelf_free(&shelf);
}

/* Its timers are overdue when they come, and others are that are not loaded yet. */
static void page_that_comes_late_starts_nothing_before_its_turn(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	fill(h, DW_SECONDS(60));
	shelf.holds = true;
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	assert_int_equal(shelf.pages_by_generation, 1);
	harness_jump(h, DW_SECONDS(70));
	let_go(&shelf);
	h->woken = 1;
	harness_turn(h);
	harness_turn(h);
	expect_all_in_order(h);
	shelf_free(&shelf);
}

static void next_page_is_asked_for_before_a_page_is_learnt(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	fill(h, DW_SECONDS(60));
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	assert_int_equal(shelf.known[0], 256); /* those that are due first */
	assert_int_equal(shelf.known[1], 256);
	assert_int_equal(shelf.known[2], 512);
	assert_int_equal(harness_stats(h).timers, TIMERS);
	shelf_free(&shelf);
}

/* The page that was asked for ahead comes while the first one is not learnt: it does not count. */
static void page_without_memory_is_asked_for_again_with_the_next(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	fill(h, DW_SECONDS(60));
	shelf.starves = true;
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	assert_int_equal(shelf.pages_by_generation, 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), 0);
	assert_in_range(harness_stats(h).timers, 256 + 1, 2 * 256 - 1);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(shelf.pages_by_generation, 2 + TIMERS / 256 + 1);
	assert_int_equal(harness_stats(h).timers, TIMERS);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), 1);
	assert_string_equal(h->message, "800 timers loaded");
	harness_pass(h, DW_SECONDS(61));
	expect_all_in_order(h);
	shelf_free(&shelf);
}

/* It is due first and was stored first: each of the two orders begins with it. */
static void damaged_row_is_told_once(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	stored(h, "first", h->wall + DW_SECONDS(60));
	fill(h, DW_SECONDS(60));
	shelf.damaged_id = "first";
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_CORRUPT), 1);
	assert_int_equal(harness_stats(h).timers, TIMERS);
	shelf_free(&shelf);
}

static void store_that_cannot_be_read_is_told_and_read_again(void **state)
{
	struct shelf shelf;
	struct harness *h = shelf_make(&shelf);

	(void)state;
	fill(h, DW_SECONDS(60));
	shelf.damaged = 2;
	engine_attach(h->engine, &shelf.store);
	harness_turn(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_CORRUPT), 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), 0);
	harness_pass(h, DW_SECONDS(30));
	assert_int_equal(harness_events_of(h, DW_EVENT_CORRUPT), 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), 1);
	harness_pass(h, DW_SECONDS(32));
	expect_all_in_order(h);
	shelf_free(&shelf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(overdue_timers_start_in_the_order_of_their_deadlines),
	    cmocka_unit_test(timers_far_away_are_loaded_by_generation),
	    cmocka_unit_test(page_that_comes_late_starts_nothing_before_its_turn),
	    cmocka_unit_test(next_page_is_asked_for_before_a_page_is_learnt),
	    cmocka_unit_test(page_without_memory_is_asked_for_again_with_the_next),
	    cmocka_unit_test(damaged_row_is_told_once),
	    cmocka_unit_test(store_that_cannot_be_read_is_told_and_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
