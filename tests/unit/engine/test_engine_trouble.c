/* The engine on a store that says by itself when it is in trouble. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/leased.h"

static void tells(struct harness *h, size_t failed, size_t back)
{
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), failed);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), back);
}

/* after lets time go by and the store have a turn. */
static void after(struct leased *leased, dw_usec time)
{
	leased->due = leased->harness->steady + time;
	harness_turn(leased->harness);
	harness_pass(leased->harness, time);
}

static void idle_owner_tells_each_trouble_once(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	for (size_t i = 1; i <= 3; i++) {
		leased.trouble = DW_ESTORE;
		after(&leased, DW_MILLISECONDS(100));
		assert_non_null(strstr(h->message, ": " LEASED_TROUBLE));
		for (int k = 0; k < 5; k++)
			after(&leased, DW_MILLISECONDS(100));
		tells(h, i, i - 1);
		leased.trouble = DW_OK;
		for (int k = 0; k < 5; k++)
			after(&leased, DW_MILLISECONDS(100));
		tells(h, i, i);
	}
	leased_end(&leased);
}

/* Each timer backs off on its own, at last for 5 s; none waits for that when the store is back. */
static void what_waits_for_the_store_starts_when_it_is_back(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	for (int i = 0; i < 50; i++) {
		char id[8];

		(void)snprintf(id, sizeof id, "t%d", i);
		(void)harness_put(h, id, DW_SECONDS(1) + i * DW_MILLISECONDS(170));
	}
	harness_turn(h);
	leased.trouble = leased.failing = DW_ESTORE;
	for (int i = 0; i < 130; i++)
		after(&leased, DW_MILLISECONDS(100));
	assert_int_equal(h->start_count, 0);
	leased.trouble = leased.failing = DW_OK;
	for (int i = 0; i < 10; i++)
		after(&leased, DW_MILLISECONDS(20));
	assert_int_equal(h->start_count, 50);
	leased_end(&leased);
}

/* A disk or a server that does one operation and fails the next: one outage, and not forty. */
static void store_that_fails_now_and_then_is_told_once(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	for (int i = 0; i < 60; i++) {
		char id[8];

		(void)snprintf(id, sizeof id, "t%d", i);
		(void)harness_put(h, id, DW_SECONDS(1) + i * DW_MILLISECONDS(100));
	}
	harness_turn(h);
	for (int i = 0; i < 60; i++) {
		leased.failing = i % 2 ? DW_OK : DW_ESTORE;
		harness_pass(h, DW_MILLISECONDS(100));
	}
	tells(h, 1, 0);
	leased.failing = DW_OK;
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 60);
	tells(h, 1, 1);
	leased_end(&leased);
}

static void be_client(struct engine_env *env)
{
	env->role = DW_CLIENT;
}

static void be_standby(struct engine_env *env)
{
	env->role = DW_CLIENT;
	env->standby = true;
}

static void client_and_standby_tell_it_too(void **state)
{
	static void (*const roles[])(struct engine_env *) = {be_client, be_standby};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct leased leased;
		struct harness *h = leased_new(&leased, roles[i]);

		leased_fenced(&leased); /* the standby is not let in again */
		leased.trouble = DW_ESTORE;
		after(&leased, DW_SECONDS(3));
		tells(h, 1, 0);
		leased.trouble = DW_OK;
		after(&leased, DW_SECONDS(3));
		tells(h, 1, 1);
		leased_free(&leased);
	}
}

static void answers_neither_tell_it_again_nor_end_it(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.trouble = DW_ESTORE;
	(void)harness_put(h, "a", DW_MILLISECONDS(100)); /* claimed, started, settled */
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	tells(h, 1, 0);
	(void)harness_put(h, "b", DW_MILLISECONDS(100));
	harness_turn(h);
	leased.failing = DW_ESTORE;
	harness_pass(h, DW_SECONDS(1));
	tells(h, 1, 0);
	/* The answer that fails in the turn in which it ends has failed of it. */
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(10));
	leased.trouble = DW_OK;
	leased_speak(&leased);
	leased.failing = DW_OK;
	harness_turn(h);
	tells(h, 1, 1);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 2);
	tells(h, 1, 1);
	leased_end(&leased);
}

/* What fails while it may be over at once is told when it is not, with the reason. */
static void trouble_that_is_over_at_once_is_not_told(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	uint64_t failures;

	(void)state;
	for (size_t lasting = 0; lasting < 2; lasting++) {
		(void)harness_put(h, "a", DW_MILLISECONDS(100));
		harness_turn(h);
		failures = harness_stats(h).store_failures;
		leased.trouble = DW_EUNKNOWN;
		leased.failing = DW_ESTORE;
		harness_pass(h, DW_SECONDS(1));
		assert_true(harness_stats(h).store_failures > failures);
		tells(h, 0, 0);
		leased.trouble = lasting ? DW_ESTORE : DW_OK;
		leased.failing = lasting ? DW_ESTORE : DW_OK;
		harness_pass(h, DW_SECONDS(10));
		tells(h, lasting, 0);
	}
	assert_non_null(strstr(h->message, ": " LEASED_TROUBLE));
	leased.trouble = DW_EUNKNOWN; /* it was back for a moment, between two turns */
	harness_pass(h, DW_SECONDS(1));
	tells(h, 1, 0);
	leased.trouble = leased.failing = DW_OK;
	harness_pass(h, DW_SECONDS(10));
	tells(h, 1, 1);
	assert_int_equal(h->start_count, 2);
	leased_end(&leased);
}

static void refusal_before_it_and_the_trouble_are_one_outage(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_MILLISECONDS(100));
	harness_turn(h);
	leased.failing = DW_EFULL;
	harness_pass(h, DW_SECONDS(1));
	tells(h, 1, 0);
	leased.trouble = DW_ESTORE;
	after(&leased, DW_SECONDS(1));
	tells(h, 1, 0);
	leased.trouble = leased.failing = DW_OK;
	harness_pass(h, DW_SECONDS(10));
	tells(h, 1, 1);
	leased_end(&leased);
}

/* The call was accepted later; but its turn will not come. */
static void call_behind_one_that_the_trouble_has_ended_fails_with_it(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.keeps = true;
	(void)harness_put(h, "a", DW_HOURS(1));
	harness_turn(h);
	(void)harness_cancel(h, "a");
	leased.trouble = DW_ESTORE;
	after(&leased, DW_SECONDS(1));
	assert_int_equal(h->result_count, 0);
	leased.failing = DW_ESTORE;
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(h->result_count, 2);
	assert_int_equal(harness_result(h, "a").status, DW_ESTORE);
	assert_int_equal(leased.asked[DW_OP_CANCEL], 0);
	leased_end(&leased);
}

/* The store serves other ids all the time. */
static void call_has_its_patience_from_its_own_acceptance(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.keeps = true;
	(void)harness_put(h, "a", DW_HOURS(1));
	harness_turn(h);
	(void)harness_cancel(h, "a");
	leased.keeps = false;
	harness_pass(h, LEASED_PATIENCE / 2);
	(void)harness_put(h, "b", DW_HOURS(1));
	harness_turn(h);
	assert_int_equal(harness_result(h, "b").status, DW_OK);
	assert_int_equal(h->result_count, 1);
	harness_pass(h, LEASED_PATIENCE / 2);
	assert_int_equal(harness_result(h, "a").status, DW_ESTORE);
	assert_int_equal(h->result_count, 2);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(idle_owner_tells_each_trouble_once),
	    cmocka_unit_test(what_waits_for_the_store_starts_when_it_is_back),
	    cmocka_unit_test(store_that_fails_now_and_then_is_told_once),
	    cmocka_unit_test(client_and_standby_tell_it_too),
	    cmocka_unit_test(answers_neither_tell_it_again_nor_end_it),
	    cmocka_unit_test(trouble_that_is_over_at_once_is_not_told),
	    cmocka_unit_test(refusal_before_it_and_the_trouble_are_one_outage),
	    cmocka_unit_test(call_behind_one_that_the_trouble_has_ended_fails_with_it),
	    cmocka_unit_test(call_has_its_patience_from_its_own_acceptance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
