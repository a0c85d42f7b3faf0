/* Recurring timers: when they fire, and what verdicts and calls do to them. */
#include "support/cmocka.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/ruled.h"

/* ---- When ---------------------------------------------------------------------------------- */

static void every_fires_at_each_occurrence(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 90s"), DW_OK);
	assert_int_equal(dw_test_advance(seen.d, DW_TEST_START + DW_SECONDS(900)), DW_OK);
	assert_int_equal(seen.count, 10);
	for (size_t i = 0; i < seen.count; i++) {
		assert_int_equal(seen.starts[i].now,
				 DW_TEST_START + (dw_usec)(i + 1) * DW_SECONDS(90));
		assert_int_equal(seen.starts[i].occurrence, seen.starts[i].now);
		assert_int_equal(seen.starts[i].attempt, 1);
		assert_int_equal(seen.starts[i].last, 0);
	}
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* London moves its clocks on 2030-03-31 and on 2030-10-27, both on Sunday at 01:00 UTC. */
static void daily_time_follows_the_clock_of_its_zone(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	ruled_advance(&seen, "2030-03-29T12:00:00Z");
	assert_int_equal(ruled_put(&seen, "cron 30 1 * * *; zone Europe/London"), DW_OK);
	ruled_advance(&seen, "2030-04-01T12:00:00Z");
	assert_int_equal(seen.count, 3);
	assert_on_time(&seen, 0, "2030-03-30T01:30:00Z");
	assert_on_time(&seen, 1, "2030-03-31T01:30:00Z"); /* 01:30 does not exist: 02:30 BST */
	assert_on_time(&seen, 2, "2030-04-01T00:30:00Z");
	assert_int_equal(dw_cancel(seen.d, "a", NULL, NULL), DW_OK);
	ruled_advance(&seen, "2030-10-25T12:00:00Z");
	assert_int_equal(seen.count, 3);
	assert_int_equal(ruled_put(&seen, "cron 30 1 * * *; zone Europe/London"), DW_OK);
	ruled_advance(&seen, "2030-10-28T12:00:00Z");
	assert_int_equal(seen.count, 6);
	assert_on_time(&seen, 3, "2030-10-26T00:30:00Z");
	assert_on_time(&seen, 4, "2030-10-27T00:30:00Z"); /* the first of two times 01:30 */
	assert_on_time(&seen, 5, "2030-10-28T01:30:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void rule_ends_with_its_count_or_its_end(void **state)
{
	static const char *const rules[] = {"every 1h; count 3",
					    "every 1h; end 2030-01-01T03:59:59Z",
					    "every 1h; start 2030-01-01T01:00:00Z; count 3"};

	(void)state;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		struct ruled seen;

		ruled_open(&seen, 0);
		assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
		assert_int_equal(ruled_put(&seen, rules[i]), DW_OK);
		ruled_advance(&seen, "2030-01-02T00:00:00Z");
		assert_int_equal(seen.count, 3);
		assert_int_equal(seen.starts[1].last, 0);
		assert_int_equal(seen.starts[2].last, 1);
		ruled_look(&seen);
		assert_int_equal(seen.status, DW_ENOENT);
		assert_int_equal(dw_close(seen.d, 0), DW_OK);
	}
}

/* Timers with one text end each at their own time. */
static void timers_with_one_rule_end_each_with_its_count(void **state)
{
	struct ruled seen;
	dw_rule rule = {.size = sizeof rule, .every = DW_HOURS(1), .count = 2};
	dw_timer timer = {.size = sizeof timer, .topic = "t", .rule = &rule};

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	timer.id = "first";
	assert_int_equal(dw_put(seen.d, &timer, ruled_answer, &seen), DW_OK);
	ruled_advance(&seen, "2030-01-01T01:30:00Z");
	timer.id = "second";
	assert_int_equal(dw_put(seen.d, &timer, ruled_answer, &seen), DW_OK);
	ruled_advance(&seen, "2030-01-01T02:15:00Z");
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.starts[1].last, 1);
	ruled_advance(&seen, "2030-01-02T00:00:00Z");
	assert_int_equal(seen.count, 4);
	assert_on_time(&seen, 2, "2030-01-01T02:30:00Z");
	assert_on_time(&seen, 3, "2030-01-01T03:30:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void rule_that_never_comes_is_refused(void **state)
{
	struct ruled seen;
	dw_rule bad = {.size = sizeof bad, .cron = "0 8 * *"};
	dw_rule every = {.size = sizeof every, .every = DW_SECONDS(1)};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .rule = &bad};

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(ruled_put(&seen, "every 1h; end 2030-01-01T00:59:59Z"), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "never comes"));
	assert_int_equal(dw_put(seen.d, &timer, NULL, NULL), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "cron"));
	timer.rule = &every;
	timer.late_after_us = 1;
	assert_int_equal(dw_put(seen.d, &timer, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* The jitter is a function of id and occurrence. */
static void jitter_is_the_same_each_time(void **state)
{
	dw_usec first[8] = {0};

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct ruled seen;
		dw_usec most = 0;

		ruled_open(&seen, 0);
		assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
		assert_int_equal(ruled_put(&seen, "every 1h; jitter 10m"), DW_OK);
		ruled_advance(&seen, "2030-01-01T08:30:00Z");
		assert_int_equal(seen.count, 8);
		for (size_t i = 0; i < 8; i++) {
			dw_usec late = seen.starts[i].now - seen.starts[i].occurrence;

			assert_int_equal(seen.starts[i].occurrence,
					 DW_TEST_START + (dw_usec)(i + 1) * DW_HOURS(1));
			assert_in_range(late, 0, DW_MINUTES(10));
			most = late > most ? late : most;
			if (run == 0)
				first[i] = late;
			assert_int_equal(late, first[i]);
		}
		assert_true(most > DW_SECONDS(1));
		assert_int_equal(dw_close(seen.d, 0), DW_OK);
	}
}

/* ---- Verdicts and calls -------------------------------------------------------------------- */

static void retry_stays_within_its_occurrence(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 1h"), DW_OK);
	seen.retry_at = 2;
	ruled_advance(&seen, "2030-01-01T03:30:00Z");
	assert_int_equal(seen.count, 4);
	assert_on_time(&seen, 1, "2030-01-01T02:00:00Z");
	assert_start(&seen, 2, "2030-01-01T02:00:02Z", "2030-01-01T02:00:00Z", 0);
	assert_int_equal(seen.starts[2].attempt, 2);
	assert_on_time(&seen, 3, "2030-01-01T03:00:00Z");
	assert_int_equal(seen.starts[3].attempt, 1);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void dead_occurrence_does_not_end_the_rule(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 1h"), DW_OK);
	seen.verdict = DW_DEAD;
	ruled_advance(&seen, "2030-01-01T03:30:00Z");
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.events[DW_EVENT_DEAD], 3);
	assert_on_time(&seen, 2, "2030-01-01T03:00:00Z");
	ruled_look(&seen);
	assert_string_equal(seen.rule, "every 1h");
	assert_int_equal(seen.due, ruled_time("2030-01-01T04:00:00Z"));
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* hold_first puts a rule, and its first occurrence is held. */
static void hold_first(struct ruled *seen)
{
	ruled_open(seen, 0);
	assert_int_equal(dw_on(seen->d, "t", ruled_start, seen), DW_OK);
	assert_int_equal(ruled_put(seen, "every 1h"), DW_OK);
	seen->verdict = DW_HOLD;
	ruled_advance(seen, "2030-01-01T01:00:01Z");
}

static void settled_hold_waits_for_the_next_one(void **state)
{
	struct ruled seen;

	(void)state;
	hold_first(&seen);
	assert_int_equal(seen.count, 1);
	assert_int_equal(dw_settle(seen.d, &seen.token, DW_DONE, 0, ruled_answer, &seen), DW_OK);
	assert_int_equal(dw_sync(seen.d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(seen.status, DW_OK);
	ruled_look(&seen);
	assert_int_equal(seen.due, ruled_time("2030-01-01T02:00:00Z"));
	assert_int_equal(seen.state, DW_PENDING);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void cancel_ends_the_rule_also_while_it_runs(void **state)
{
	struct ruled seen;

	(void)state;
	hold_first(&seen);
	assert_int_equal(dw_cancel(seen.d, "a", ruled_answer, &seen), DW_OK);
	assert_int_equal(dw_sync(seen.d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(seen.status, DW_ELATE);
	assert_int_equal(dw_settle(seen.d, &seen.token, DW_DONE, 0, NULL, NULL), DW_OK);
	ruled_advance(&seen, "2030-01-01T09:00:00Z");
	assert_int_equal(seen.count, 1);
	ruled_look(&seen);
	assert_int_equal(seen.status, DW_ENOENT);
	assert_int_equal(ruled_put(&seen, "every 1h"), DW_OK);
	assert_int_equal(dw_cancel(seen.d, "a", ruled_answer, &seen), DW_OK);
	ruled_advance(&seen, "2030-01-02T09:00:00Z");
	assert_int_equal(seen.count, 1);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void same_put_after_a_cancel_goes_on(void **state)
{
	struct ruled seen;

	(void)state;
	hold_first(&seen);
	assert_int_equal(dw_cancel(seen.d, "a", ruled_answer, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 1h"), DW_OK);
	assert_int_equal(dw_sync(seen.d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(dw_settle(seen.d, &seen.token, DW_DONE, 0, NULL, NULL), DW_OK);
	seen.verdict = DW_DONE;
	ruled_advance(&seen, "2030-01-01T03:30:00Z");
	assert_int_equal(seen.count, 3);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void move_moves_the_next_occurrence_only(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 1h"), DW_OK);
	assert_int_equal(dw_move(seen.d, "a", ruled_time("2030-01-01T01:10:00Z"), NULL, NULL),
			 DW_OK);
	ruled_advance(&seen, "2030-01-01T02:30:00Z");
	assert_int_equal(seen.count, 2);
	assert_start(&seen, 0, "2030-01-01T01:10:00Z", "2030-01-01T01:00:00Z", 0);
	assert_on_time(&seen, 1, "2030-01-01T02:00:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void same_rule_put_again_keeps_the_occurrence(void **state)
{
	struct ruled seen;
	uint64_t generation;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 24h"), DW_OK);
	generation = seen.generation;
	ruled_advance(&seen, "2030-01-01T23:00:00Z");
	assert_int_equal(ruled_put(&seen, "every 24h"), DW_OK);
	assert_int_equal(seen.generation, generation);
	ruled_advance(&seen, "2030-01-02T23:00:00Z");
	assert_int_equal(seen.count, 1);
	assert_on_time(&seen, 0, "2030-01-02T00:00:00Z");
	assert_int_equal(ruled_put(&seen, "every 12h"), DW_OK);
	assert_true(seen.generation != generation);
	ruled_advance(&seen, "2030-01-03T11:00:00Z");
	assert_int_equal(seen.count, 2);
	assert_on_time(&seen, 1, "2030-01-03T11:00:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* reput puts the same rule inside its own handler. */
static dw_verdict reput(dw *d, const dw_firing *firing, void *user)
{
	dw_rule rule = {.size = sizeof rule, .every = DW_HOURS(1)};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .rule = &rule};

	ruled_keep(user, firing);
	(void)dw_put(d, &timer, NULL, NULL);
	return DW_DONE;
}

static void rule_put_in_its_own_handler_goes_on(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", reput, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 1h"), DW_OK);
	ruled_advance(&seen, "2030-01-01T05:30:00Z");
	assert_int_equal(seen.count, 5);
	assert_on_time(&seen, 4, "2030-01-01T05:00:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

struct poster {
	dw *d;
	int status;
};

static void *put_elsewhere(void *arg)
{
	static const char *const dates[] = {"2030-01-02", "2030-01-03"};
	struct poster *poster = arg;
	char *cron = strdup("0 12 * * *");
	char *zone = strdup("Europe/London");
	dw_rule rule = {
	    .size = sizeof rule, .cron = cron, .zone = zone, .except = dates, .except_count = 2};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .rule = &rule};

	poster->status = dw_put(poster->d, &timer, NULL, NULL);
	memset(cron, 'x', strlen(cron));
	memset(zone, 'x', strlen(zone));
	free(cron);
	free(zone);
	return NULL;
}

static void rule_of_another_thread_is_copied(void **state)
{
	struct ruled seen;
	struct poster poster;
	pthread_t thread;

	(void)state;
	ruled_open(&seen, 2);
	assert_int_equal(dw_on_worker(seen.d, "t", ruled_start, &seen), DW_OK);
	poster.d = seen.d;
	assert_int_equal(pthread_create(&thread, NULL, put_elsewhere, &poster), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(poster.status, DW_OK);
	ruled_advance(&seen, "2030-01-04T18:00:00Z");
	assert_int_equal(seen.count, 2);
	assert_on_time(&seen, 0, "2030-01-01T12:00:00Z");
	assert_on_time(&seen, 1, "2030-01-04T12:00:00Z");
	ruled_look(&seen);
	assert_string_equal(seen.rule,
			    "cron 0 12 * * *; zone Europe/London; except 2030-01-02, 2030-01-03");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_fires_at_each_occurrence),
	    cmocka_unit_test(daily_time_follows_the_clock_of_its_zone),
	    cmocka_unit_test(rule_ends_with_its_count_or_its_end),
	    cmocka_unit_test(timers_with_one_rule_end_each_with_its_count),
	    cmocka_unit_test(rule_that_never_comes_is_refused),
	    cmocka_unit_test(jitter_is_the_same_each_time),
	    cmocka_unit_test(retry_stays_within_its_occurrence),
	    cmocka_unit_test(dead_occurrence_does_not_end_the_rule),
	    cmocka_unit_test(settled_hold_waits_for_the_next_one),
	    cmocka_unit_test(cancel_ends_the_rule_also_while_it_runs),
	    cmocka_unit_test(same_put_after_a_cancel_goes_on),
	    cmocka_unit_test(move_moves_the_next_occurrence_only),
	    cmocka_unit_test(same_rule_put_again_keeps_the_occurrence),
	    cmocka_unit_test(rule_put_in_its_own_handler_goes_on),
	    cmocka_unit_test(rule_of_another_thread_is_copied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
