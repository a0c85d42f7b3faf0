/* The engine on a store of several shards: a fault in one shard stays in it. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "engine/call/numbers.h"
#include "support/leased.h"

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
	struct harness *h = leased_begin_divided(&leased);

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
	struct harness *h = leased_begin_divided(&leased);

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
	struct harness *h = leased_begin_divided(&leased);

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
	struct harness *h = leased_begin_divided(&leased);

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
	struct harness *h = leased_begin_divided(&leased);

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
	struct harness *h = leased_begin_divided(&leased);

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
	struct harness *h = leased_begin_divided(&leased);

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

/* ---- Losing and gaining -------------------------------------------------------------------- */

static void loss_of_a_shard_drops_only_its_timers(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_each(h, DW_SECONDS(5));
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	harness_turn(h);
	assert_int_equal(harness_stats(h).timers, 3);
	assert_true(engine_is_owner(h->engine));
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 0);
	assert_int_equal(engine_check(h->engine), 0);
	harness_pass(h, DW_SECONDS(20));
	assert_int_equal(h->start_count, 3);
	assert_int_equal(harness_starts_of(h, "b"), 0);
	(void)harness_put(h, "b", 0); /* as a client's */
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_result(h, "b").status, DW_OK);
	assert_int_equal(harness_starts_of(h, "b"), 0);
	leased_end(&leased);
}

static void loss_of_the_last_shard_is_a_loss_of_the_store(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_each(h, DW_SECONDS(5));
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	leased.fenced = true;
	harness_turn(h);
	assert_false(engine_is_owner(h->engine));
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 1);
	assert_int_equal(harness_stats(h).timers, 0);
	assert_true(leased.asked[DW_OP_OWN] > 0);
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased.shards[i].foreign = false;
	leased.is_free = true;
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 4);
	leased_end(&leased);
}

static void gained_shard_is_read_and_fires(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_each(h, DW_SECONDS(5));
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased.asked[DW_OP_SCAN], 1);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_turn(h);
	assert_int_equal(leased.scanned, 1u << 1); /* only this one is read, at once */
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased.asked[DW_OP_SCAN], 2);
	assert_int_equal(harness_stats(h).timers, 4);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(h->start_count, 4);
	assert_int_equal(harness_starts_of(h, "b"), 1);
	leased_end(&leased);
}

/* The news of the loss and of the gain come in one turn. */
static void shard_that_is_lost_and_gained_is_read_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_row(h, 3000, DW_SECONDS(5)); /* they are dropped in more than one turn */
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(20));
	assert_int_equal(h->start_count, 3000);
	assert_int_equal(harness_stats(h).timers, 0);
	leased_end(&leased);
}

/* Another owner may have worked in between, so the claim of the earlier term does not count. */
static void claim_of_an_earlier_term_starts_nothing(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	(void)harness_put(h, "b", DW_SECONDS(1));
	harness_turn(h);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(2)); /* its claim is under way */
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	harness_turn(h);
	assert_int_equal(harness_stats(h).timers, 0);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_turn(h);
	leased_speak(&leased);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 0);
	leased_speak(&leased);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* A put that was sent as a client is answered in the term of an owner. */
static void put_of_an_earlier_term_is_read_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	int scans;

	(void)state;
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	harness_turn(h);
	leased.keeps = true;
	(void)harness_put(h, "b", DW_SECONDS(1));
	harness_turn(h);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_MILLISECONDS(500));
	scans = leased.asked[DW_OP_SCAN];
	leased_speak(&leased);
	harness_pass(h, DW_SECONDS(5));
	assert_true(leased.asked[DW_OP_SCAN] > scans);
	assert_int_equal(harness_starts_of(h, "b"), 1);
	leased_end(&leased);
}

static void call_meets_a_timer_of_a_lost_shard_at_once(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	uint64_t left;

	(void)state;
	for (int i = 0; i < 9000; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%c%04d", i % 2 ? 'a' : 'b', i); /* it fits */
		(void)harness_put(h, id, DW_HOURS(1) + i);
		if (i % 1000 == 0)
			harness_turn(h);
	}
	harness_turn(h);
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	assert_int_equal(engine_turn(h->engine), DW_OK);
	left = harness_stats(h).timers;
	assert_true(left > 4500 && left < 9000);
	(void)harness_put(h, "a", 0);
	for (int i = 0; i < 9000; i += 2) {
		char id[16];

		(void)snprintf(id, sizeof id, "b%04d", i); /* it fits */
		(void)harness_cancel(h, id);
	}
	assert_int_equal(harness_stats(h).timers, 4500);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
	assert_int_equal(harness_starts_of(h, "a"), 1);
	leased_end(&leased);
}

/* One of the shards that are being loaded is refused; the others are loaded and fire. */
static void refused_shard_leaves_its_scan(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_each(h, DW_SECONDS(3));
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	leased_tell_shard(&leased, 2, DW_SHARD_FOREIGN);
	harness_turn(h);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	leased_tell_shard(&leased, 2, DW_SHARD_OWNED);
	leased_refuse(&leased, 1);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(leased.scanned, 1u << 2);
	assert_int_equal(h->start_count, 3);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased.scanned, 1u << 1);
	assert_int_equal(harness_starts_of(h, "b"), 1);
	leased_end(&leased);
}

static void fenced_operation_loses_only_its_shard(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_each(h, DW_SECONDS(5));
	leased.shards[1].foreign = true; /* the store has not told it */
	harness_pass(h, DW_SECONDS(20));
	assert_true(engine_is_owner(h->engine));
	assert_int_equal(h->start_count, 3);
	assert_int_equal(harness_stats(h).timers, 0);
	leased_end(&leased);
}

/* ---- What the program is told -------------------------------------------------------------- */

static void refused_shard_is_told_once_at_each_end(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_row(h, 30, DW_SECONDS(1));
	leased_refuse(&leased, 1);
	harness_turn(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARD_FAILED), 1);
	assert_non_null(strstr(h->message, "shard 1 "));
	assert_non_null(strstr(h->message, LEASED_REFUSAL));
	assert_int_equal(engine_health(h->engine), HEALTH_REFUSED);
	assert_int_equal(engine_health_shard(h->engine), 1);
	leased_refuse(&leased, 1); /* the store says it again */
	for (int i = 0; i < 60; i++) {
		(void)harness_put(h, "a", 0); /* the others answer all the time */
		harness_pass(h, DW_SECONDS(1));
	}
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARD_FAILED), 1);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARD_BACK), 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), 0);
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	leased_end(&leased);
}

/* The store has failed before it knew which shard it was. It is back when nothing is refused. */
static void store_is_not_back_while_a_shard_is_refused(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_row(h, 1, DW_MILLISECONDS(100));
	leased.shards[1].refused = true; /* not told yet */
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 1);
	leased_refuse(&leased, 1);
	for (int i = 0; i < 20; i++) {
		(void)harness_put(h, "a", 0);
		harness_pass(h, DW_SECONDS(1));
	}
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), 0);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), 1);
	leased_end(&leased);
}

static void lease_that_is_over_is_named_with_its_shard(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	(void)harness_put(h, "c", DW_SECONDS(1));
	leased.shards[2].lease = h->steady + DW_MILLISECONDS(500);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(engine_health(h->engine), HEALTH_LEASE);
	assert_int_equal(engine_health_shard(h->engine), 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_LEASE), 1);
	assert_non_null(strstr(h->message, "shard 2 "));
	leased.shards[2].lease = DW_NEVER;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	leased_end(&leased);
}

static void client_is_told_of_a_refused_shard(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	leased_fenced(&leased);
	assert_false(engine_is_owner(h->engine));
	leased_refuse(&leased, 1);
	harness_turn(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARD_FAILED), 1);
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	harness_turn(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARD_BACK), 1);
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
	    cmocka_unit_test(loss_of_a_shard_drops_only_its_timers),
	    cmocka_unit_test(loss_of_the_last_shard_is_a_loss_of_the_store),
	    cmocka_unit_test(gained_shard_is_read_and_fires),
	    cmocka_unit_test(shard_that_is_lost_and_gained_is_read_again),
	    cmocka_unit_test(claim_of_an_earlier_term_starts_nothing),
	    cmocka_unit_test(put_of_an_earlier_term_is_read_again),
	    cmocka_unit_test(call_meets_a_timer_of_a_lost_shard_at_once),
	    cmocka_unit_test(refused_shard_leaves_its_scan),
	    cmocka_unit_test(fenced_operation_loses_only_its_shard),
	    cmocka_unit_test(refused_shard_is_told_once_at_each_end),
	    cmocka_unit_test(store_is_not_back_while_a_shard_is_refused),
	    cmocka_unit_test(lease_that_is_over_is_named_with_its_shard),
	    cmocka_unit_test(client_is_told_of_a_refused_shard),
	};

	return cmocka_run_group_tests_name("engine_shards", tests, NULL, NULL);
}
