/* The engine on a store of several shards: a fault in one shard stays in it. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "engine/call/numbers.h"
#include "support/leased.h"

static struct harness *divided_begin(struct leased *leased)
{
	struct harness *h = leased_new(leased, NULL);

	leased_divide(leased);
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(engine_check(h->engine), 0);
	return h;
}

/* put_each puts a timer of each shard: "a" to "d". */
static void put_each(struct harness *h, dw_usec delay)
{
	for (unsigned i = 0; i < LEASED_SHARDS; i++) {
		char id[2] = {(char)('a' + (int)i), '\0'};

		(void)harness_put(h, id, delay);
	}
	harness_turn(h);
}

/* put_row puts `count` timers of shard 1, one each millisecond: "b00", "b01" and so on. */
static void put_row(struct harness *h, int count, dw_usec delay)
{
	for (int i = 0; i < count; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "b%02d", i); /* it fits */
		(void)harness_put(h, id, delay + i * DW_MILLISECONDS(1));
	}
	harness_turn(h);
}

/* assert_row: the last `count` starts are those of put_row(), in order. */
static void assert_row(const struct harness *h, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char id[24];

		(void)snprintf(id, sizeof id, "b%02zu", i); /* it fits */
		assert_string_equal(h->starts[h->start_count - count + i].id, id);
	}
}

/* ---- A shard that is refused --------------------------------------------------------------- */

static void others_fire_while_a_shard_is_refused(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	put_each(h, DW_SECONDS(1));
	leased_refuse(&leased, 1);
	harness_pass(h, DW_SECONDS(20));
	assert_int_equal(h->start_count, 3);
	assert_int_equal(harness_starts_of(h, "b"), 0);
	assert_int_equal(harness_stats(h).timers, 1);
	(void)harness_put(h, "c", 0);
	(void)harness_put(h, "b2", 0);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_result(h, "c").status, DW_OK);
	assert_int_equal(harness_result(h, "b2").status, DW_ESTORE);
	assert_int_equal(harness_starts_of(h, "c"), 2);
	leased_end(&leased);
}

static void timers_of_a_shard_that_is_back_start_once_and_in_order(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	put_row(h, 30, DW_SECONDS(1));
	leased_refuse(&leased, 1);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(h->start_count, 0);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_MILLISECONDS(100));
	assert_int_equal(h->start_count, 30);
	assert_row(h, 30);
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(h->start_count, 30);
	assert_int_equal(harness_stats(h).timers, 0);
	leased_end(&leased);
}

/* What was claimed before the shard was refused waits with the others. */
static void claimed_timers_of_a_refused_shard_wait(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	put_each(h, DW_MILLISECONDS(1)); /* stored as claimed */
	leased_refuse(&leased, 1);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(harness_starts_of(h, "b"), 0);
	assert_int_equal(h->start_count, 3);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_starts_of(h, "b"), 1);
	leased_end(&leased);
}

/* ---- A lease that is over ------------------------------------------------------------------ */

static void others_fire_when_the_lease_of_one_shard_is_over(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	put_row(h, 30, DW_SECONDS(1));
	(void)harness_put(h, "a", DW_SECONDS(2));
	leased.shards[1].lease = h->steady + DW_MILLISECONDS(500);
	harness_pass(h, DW_SECONDS(20));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_starts_of(h, "a"), 1);
	leased.shards[1].lease = h->steady + DW_SECONDS(5);
	h->woken = 1;
	harness_turn(h);
	assert_int_equal(h->start_count, 31);
	assert_row(h, 30);
	leased_end(&leased);
}

/* The leases of all shards end with an outage, and come back together. */
static void timers_of_all_shards_start_in_order_after_an_outage(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased.shards[i].lease = h->steady;
	for (int i = 0; i < 40; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%c%02d", 'd' - i % LEASED_SHARDS, i); /* it fits */
		(void)harness_put(h, id, DW_SECONDS(1) + i);
	}
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(h->start_count, 0);
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased.shards[i].lease = DW_NEVER;
	harness_pass(h, DW_MILLISECONDS(10));
	assert_int_equal(h->start_count, 40);
	for (size_t i = 1; i < 40; i++)
		assert_true(h->starts[i - 1].due < h->starts[i].due);
	leased_end(&leased);
}

static void cancel_reaches_a_timer_that_waits_for_its_lease(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	(void)harness_put(h, "b", DW_SECONDS(1));
	leased.shards[1].lease = h->steady;
	harness_pass(h, DW_SECONDS(5));
	(void)harness_cancel(h, "b");
	harness_turn(h);
	assert_int_equal(harness_result(h, "b").status, DW_OK);
	leased.shards[1].lease = DW_NEVER;
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

static void work_begins_by_the_lease_of_its_own_shard(void **state)
{
	struct leased leased;
	struct harness *h = divided_begin(&leased);

	(void)state;
	h->verdict = DW_HOLD_UNSTARTED;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "b", 0);
	harness_pass(h, DW_MILLISECONDS(100));
	assert_int_equal(h->start_count, 2);
	leased.shards[0].lease = h->steady;
	assert_int_equal(engine_started(h->engine, &h->starts[0].token), DW_ESTALE);
	assert_non_null(strstr(engine_error(h->engine), "lease"));
	assert_int_equal(engine_started(h->engine, &h->starts[1].token), DW_OK);
	leased_end(&leased);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(others_fire_while_a_shard_is_refused),
	    cmocka_unit_test(timers_of_a_shard_that_is_back_start_once_and_in_order),
	    cmocka_unit_test(claimed_timers_of_a_refused_shard_wait),
	    cmocka_unit_test(others_fire_when_the_lease_of_one_shard_is_over),
	    cmocka_unit_test(timers_of_all_shards_start_in_order_after_an_outage),
	    cmocka_unit_test(cancel_reaches_a_timer_that_waits_for_its_lease),
	    cmocka_unit_test(work_begins_by_the_lease_of_its_own_shard),
	};

	return cmocka_run_group_tests_name("engine_shards", tests, NULL, NULL);
}
