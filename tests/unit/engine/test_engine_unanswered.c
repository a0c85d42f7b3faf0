/* The engine on a store that finds out later what became of a put, or answers nothing for long. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "support/leased.h"

/* ---- Puts that were done before ------------------------------------------------------------ */

static void put_found_done_is_learnt_from_what_is_stored(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.knows = true;
	leased.unknown = 1;
	(void)harness_put(h, "a", DW_SECONDS(2));
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_result(h, "a").status, DW_EUNKNOWN);
	assert_int_equal(h->result_count, 1);
	assert_true(leased.flags & DW_OP_AGAIN);
	assert_int_equal(leased.asked[DW_OP_PUT], 2);
	assert_int_equal(harness_stats(h).timers, 1);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(h->starts[0].attempt, 1);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* drop_stored deletes it past the engine. */
static void drop_stored(struct harness *h, const char *id)
{
	struct alloc alloc = harness_alloc(h);
	dw_op *op = op_new(&alloc, DW_OP_CANCEL, id, NULL, 0);

	op->flags = DW_OP_WITHDRAWN;
	h->store->type->submit(h->store, op);
	assert_ptr_equal(h->store->type->collect(h->store), op);
	assert_int_equal(op->status, DW_OK);
	op_free(&alloc, op);
}

static void put_found_done_and_gone_makes_the_id_absent(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.knows = true;
	(void)harness_put(h, "a", DW_HOURS(2)); /* the earlier generation */
	harness_turn(h);
	leased.unknown = 1;
	(void)harness_put(h, "a", DW_SECONDS(2));
	harness_turn(h);
	drop_stored(h, "a");
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(leased.asked[DW_OP_PUT], 3);
	assert_int_equal(harness_stats(h).timers, 0);
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

static void put_found_done_at_once_names_the_stored_generation(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_op *put;

	(void)state;
	leased.keeps = true;
	(void)harness_put(h, "a", DW_SECONDS(2));
	(void)harness_put(h, "b", DW_SECONDS(2));
	harness_turn(h);
	leased.knows = true;
	for (put = leased.kept.first; put; put = put->next)
		put->flags |= DW_OP_AGAIN; /* as after a new connection */
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(harness_result(h, "a").generation, 0);
	assert_int_equal(harness_stats(h).timers, 0);
	leased_end(&leased);
}

static void unknown_put_of_a_fenced_owner_is_sent_again_as_a_clients(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.unknown = 1;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_EUNKNOWN);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased.asked[DW_OP_PUT], 2);
	leased.keeps = false;
	leased_fenced(&leased); /* while it is under way again */
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased.asked[DW_OP_PUT], 3);
	assert_int_equal(leased.flags, DW_OP_AGAIN);
	assert_int_equal(h->result_count, 1);
	leased_end(&leased);
}

/* ---- A store that does not answer ---------------------------------------------------------- */

static int put_large(struct harness *h, int number)
{
	static const char data[60000];
	char id[32];
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = h->wall + DW_HOURS(1),
			  .data = data,
			  .data_size = sizeof data};

	(void)snprintf(id, sizeof id, "large %d", number);
	return engine_put(h->engine, &timer, (struct done){harness_done, h});
}

static void calls_that_are_not_answered_are_limited(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	int count = 0;

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	leased.keeps = true;
	while (put_large(h, count) == DW_OK)
		assert_true(++count < 2000);
	assert_in_range(count, DW_UNANSWERED_MAX / 61000, DW_UNANSWERED_MAX / 60000 + 1);
	assert_non_null(strstr(engine_error(h->engine), "64 MiB"));
	assert_int_equal(harness_cancel(h, "b"), DW_ELIMIT);
	assert_int_equal(engine_move(h->engine, "b", 0, (struct done){0}), DW_ELIMIT);
	assert_int_equal(harness_settle(h, 0), DW_OK); /* a delivery goes on */
	harness_turn(h);
	assert_in_range(harness_stats(h).inflight, count, count + 3);
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(h->result_count, count + 2);
	assert_int_equal(put_large(h, 0), DW_OK);
	assert_int_equal(harness_cancel(h, "b"), DW_OK);
	leased_end(&leased);
}

/* put_kept puts the timer with the data of the stored one; the operation waits in the store. */
static const dw_op *put_kept(struct leased *leased, unsigned flags)
{
	dw_timer timer = {
	    .size = sizeof timer, .id = "a", .topic = "t", .due = DW_NEVER / 4, .flags = flags};
	struct harness *h = leased->harness;

	leased->keeps = true;
	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_non_null(leased->kept.first);
	return leased->kept.first;
}

/* A put that has lost a race is sent again, with other data. The call counts what it has now. */
static void put_that_is_sent_again_is_counted_once(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	char data[1000] = {0};
	dw_timer stored = {.size = sizeof stored,
			   .id = "a",
			   .topic = "t",
			   .due = DW_NEVER / 2,
			   .data = data,
			   .data_size = sizeof data};
	size_t size, bytes;

	(void)state;
	assert_int_equal(engine_put(h->engine, &stored, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_int_equal(h->engine->calls.bytes, 0);
	size = put_kept(&leased, DW_DATA_FIRST | DW_DUE_EARLIEST)->body_size;
	bytes = h->engine->calls.bytes;
	leased_speak(&leased);
	leased.keeps = true;
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_PUT], 3);
	assert_non_null(leased.kept.first);
	assert_true(leased.kept.first->body_size > size);
	assert_int_equal(h->engine->calls.bytes, bytes + leased.kept.first->body_size - size);
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(h->engine->calls.bytes, 0);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(put_found_done_is_learnt_from_what_is_stored),
	    cmocka_unit_test(put_found_done_and_gone_makes_the_id_absent),
	    cmocka_unit_test(put_found_done_at_once_names_the_stored_generation),
	    cmocka_unit_test(unknown_put_of_a_fenced_owner_is_sent_again_as_a_clients),
	    cmocka_unit_test(calls_that_are_not_answered_are_limited),
	    cmocka_unit_test(put_that_is_sent_again_is_counted_once),
	};

	return cmocka_run_group_tests_name("engine_unanswered", tests, NULL, NULL);
}
