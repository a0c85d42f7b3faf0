/* durawheel/testing.h: handles whose clock only dw_test_advance() moves. */
#include "support/cmocka.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/testing.h"

enum { STARTS_MAX = 64 };

/* What handlers, answers and events have said. */
struct record {
	dw *d;
	size_t count;
	char ids[STARTS_MAX][DW_ID_SIZE];
	dw_usec starts[STARTS_MAX];
	dw_verdict verdict;
	dw_usec retry_in; /* below 0: the default */
	dw_token token;
	pthread_t thread;
	int events[32]; /* by kind */
	int status;     /* of the last answer */
};

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	((struct record *)user)->events[event->kind]++;
}

static void open_record(struct record *record, unsigned workers)
{
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .flags = DW_TEST_CLOCK,
			      .workers = workers,
			      .on_event = on_event,
			      .on_event_user = record};

	*record = (struct record){.retry_in = -1};
	assert_int_equal(dw_open(&record->d, &options, NULL), DW_OK);
}

static void keep_start(struct record *record, const dw_firing *firing)
{
	record->token = *firing->token;
	record->thread = pthread_self();
	if (record->count == STARTS_MAX)
		return;
	memcpy(record->ids[record->count], firing->id, strlen(firing->id) + 1);
	record->starts[record->count++] = firing->now == firing->due ? firing->now : -1;
}

static dw_verdict on_start(dw *d, const dw_firing *firing, void *user)
{
	struct record *record = user;

	keep_start(record, firing);
	if (record->retry_in >= 0)
		(void)dw_retry_in(d, record->retry_in);
	return record->verdict;
}

static void on_answer(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct record *)user)->status = result->status;
}

static dw_usec after_start(dw_usec duration)
{
	return DW_TEST_START + duration;
}

/* ---- Time passes --------------------------------------------------------------------------- */

static void time_passes_in_advance_only(void **state)
{
	struct record record;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_on(record.d, "t", on_start, &record), DW_OK);
	assert_true(dw_now(record.d) == DW_TEST_START);
	assert_int_equal(dw_after(record.d, "t", "order:42", DW_MINUTES(30), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(record.d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_MINUTES(30) - 1)), DW_OK);
	assert_int_equal(record.count, 0);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_MINUTES(30))), DW_OK);
	assert_int_equal(record.count, 1);
	assert_true(record.starts[0] == after_start(DW_MINUTES(30)));
	assert_int_equal(dw_test_advance(record.d, after_start(0)), DW_OK);
	assert_true(dw_now(record.d) == after_start(DW_MINUTES(30)));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

/* put_next: each start puts the next one, 10 minutes later, and one that is due at once. */
static dw_verdict put_next(dw *d, const dw_firing *firing, void *user)
{
	keep_start(user, firing);
	assert_true(dw_now(d) == firing->now);
	(void)dw_after(d, "chain", NULL, DW_MINUTES(10), NULL, 0);
	(void)dw_after(d, "t", "at once", 0, NULL, 0);
	return DW_DONE;
}

static void each_timer_starts_at_its_own_moment(void **state)
{
	struct record record;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_on(record.d, "t", on_start, &record), DW_OK);
	assert_int_equal(dw_on(record.d, "chain", put_next, &record), DW_OK);
	assert_int_equal(dw_after(record.d, "t", "between", DW_MINUTES(15), NULL, 0), DW_OK);
	assert_int_equal(dw_after(record.d, "chain", NULL, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_MINUTES(20))), DW_OK);
	assert_int_equal(record.count, 7);
	for (size_t i = 0; i < record.count; i++) {
		static const int minutes[] = {0, 0, 10, 10, 15, 20, 20};

		assert_true(record.starts[i] == after_start(DW_MINUTES(minutes[i])));
	}
	assert_string_equal(record.ids[4], "between");
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

static void retries_end_as_a_dead_letter(void **state)
{
	struct record record;
	dw_usec last = 0;

	(void)state;
	open_record(&record, 0);
	record.verdict = DW_RETRY;
	assert_int_equal(dw_on(record.d, "t", on_start, &record), DW_OK);
	assert_int_equal(dw_after(record.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_HOURS(2))), DW_OK);
	assert_int_equal(record.count, DW_RETRIES_MAX + 1);
	assert_int_equal(record.events[DW_EVENT_DEAD], 1);
	for (size_t i = 1; i < record.count; i++) {
		dw_usec delay = record.starts[i] - record.starts[i - 1];
		dw_usec plain = i < 10 ? DW_SECONDS(1) << (i - 1) : DW_MINUTES(5);

		if (plain > DW_MINUTES(5))
			plain = DW_MINUTES(5);
		assert_true(delay >= plain * 8 / 10 && delay <= plain * 12 / 10);
		last = record.starts[i];
	}
	assert_true(last > after_start(DW_MINUTES(30)));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

static void idle_year_asks_the_store_nothing(void **state)
{
	dw_stats before = {.size = sizeof before};
	dw_stats after = {.size = sizeof after};
	struct record record;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_after(record.d, "t", "a", DW_DAYS(730), NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(0)), DW_OK);
	assert_int_equal(dw_get_stats(record.d, &before), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_DAYS(365))), DW_OK);
	assert_int_equal(dw_get_stats(record.d, &after), DW_OK);
	assert_true(after.store_operations == before.store_operations);
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

/* ---- Holds --------------------------------------------------------------------------------- */

static void hold_expires_and_is_settled(void **state)
{
	struct record record;

	(void)state;
	open_record(&record, 0);
	record.verdict = DW_HOLD;
	assert_int_equal(dw_on(record.d, "t", on_start, &record), DW_OK);
	assert_int_equal(dw_after(record.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(30) - 1)), DW_OK);
	assert_int_equal(record.count, 1);
	assert_int_equal(record.events[DW_EVENT_HOLD_EXPIRED], 0);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(30))), DW_OK);
	assert_int_equal(record.count, 2);
	assert_int_equal(record.events[DW_EVENT_HOLD_EXPIRED], 1);
	assert_int_equal(
	    dw_settle(record.d, &record.token, DW_RETRY, DW_MINUTES(5), on_answer, &record), DW_OK);
	record.verdict = DW_DONE;
	assert_int_equal(dw_test_advance(record.d, after_start(DW_HOURS(1))), DW_OK);
	assert_int_equal(record.count, 3);
	assert_true(record.starts[2] == after_start(DW_SECONDS(30) + DW_MINUTES(5)));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

/* A paused handle starts nothing, so what it has missed may be too late. */
static void paused_handle_misses_what_is_due(void **state)
{
	dw_timer timer = {
	    .size = sizeof timer, .id = "a", .topic = "t", .late_after_us = DW_SECONDS(1)};
	struct record record;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_on(record.d, "t", on_start, &record), DW_OK);
	assert_int_equal(dw_after_id(record.d, &timer, DW_SECONDS(1), NULL, NULL, NULL), DW_OK);
	assert_int_equal(dw_pause(record.d), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(3))), DW_OK);
	assert_int_equal(dw_resume(record.d), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(3))), DW_OK);
	assert_int_equal(record.count, 0);
	assert_int_equal(record.events[DW_EVENT_DEAD], 1);
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

/* ---- Threads ------------------------------------------------------------------------------- */

static void handlers_of_workers_run_in_advance(void **state)
{
	struct record record;

	(void)state;
	open_record(&record, 4);
	record.verdict = DW_RETRY;
	record.retry_in = DW_SECONDS(7);
	assert_int_equal(dw_on_worker(record.d, "t", on_start, &record), DW_OK);
	assert_int_equal(dw_after(record.d, "t", "a", DW_SECONDS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(8))), DW_OK);
	assert_int_equal(record.count, 2);
	assert_true(record.starts[1] == after_start(DW_SECONDS(8)));
	assert_true(pthread_equal(record.thread, pthread_self()));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
	open_record(&record, 0);
	assert_int_equal(dw_on_worker(record.d, "t", on_start, &record), DW_EINVAL);
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

static void keep_batch(dw *d, dw_batch *batch, void *user)
{
	(void)d;
	for (size_t i = 0; i < batch->count; i++)
		keep_start(user, &batch->firings[i]);
	((struct record *)user)->status = (int)batch->count;
}

static void batch_waits_for_more(void **state)
{
	dw_batch_options options = {
	    .size = sizeof options, .max = 3, .wait_us = DW_SECONDS(2), .on_worker = 1};
	struct record record;

	(void)state;
	open_record(&record, 1);
	assert_int_equal(dw_on_batch(record.d, "t", &options, keep_batch, &record), DW_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(dw_after(record.d, "t", NULL, DW_SECONDS(i), NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(2) - 1)), DW_OK);
	assert_int_equal(record.count, 0);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_SECONDS(2))), DW_OK);
	assert_int_equal(record.count, 2);
	assert_int_equal(record.status, 2);
	assert_true(pthread_equal(record.thread, pthread_self()));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

static void *put_elsewhere(void *user)
{
	struct record *record = user;

	record->status = dw_after(record->d, "t", "a", DW_MINUTES(1), NULL, 0);
	return NULL;
}

static void calls_of_other_threads_are_done_in_advance(void **state)
{
	struct record record;
	pthread_t thread;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_on(record.d, "t", on_start, &record), DW_OK);
	assert_int_equal(pthread_create(&thread, NULL, put_elsewhere, &record), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(record.status, DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(DW_MINUTES(1))), DW_OK);
	assert_int_equal(record.count, 1);
	assert_true(record.starts[0] == after_start(DW_MINUTES(1)));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

/* ---- The same again ------------------------------------------------------------------------ */

static void play(struct record *record)
{
	dw_timer timer = {.size = sizeof timer, .topic = "t"};
	char id[DW_ID_SIZE];

	open_record(record, 0);
	record->verdict = DW_RETRY;
	assert_int_equal(dw_on(record->d, "t", on_start, record), DW_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dw_after_id(record->d, &timer, DW_SECONDS(i), id, NULL, NULL),
				 DW_OK);
	assert_int_equal(dw_test_advance(record->d, after_start(DW_MINUTES(10))), DW_OK);
	assert_int_equal(dw_close(record->d, 0), DW_OK);
}

static void two_runs_do_the_same(void **state)
{
	struct record first;
	struct record second;

	(void)state;
	play(&first);
	play(&second);
	assert_true(first.count > 20);
	assert_int_equal(first.count, second.count);
	for (size_t i = 0; i < first.count; i++) {
		assert_string_equal(first.ids[i], second.ids[i]);
		assert_true(first.starts[i] == second.starts[i]);
	}
}

/* ---- Wrong use ----------------------------------------------------------------------------- */

static dw_verdict advance_inside(dw *d, const dw_firing *firing, void *user)
{
	(void)firing;
	((struct record *)user)->status = dw_test_advance(d, DW_TEST_START + DW_DAYS(1));
	return DW_DONE;
}

static void wrong_calls_are_refused(void **state)
{
	struct record record;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_on(record.d, "t", advance_inside, &record), DW_OK);
	assert_int_equal(dw_after(record.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(0)), DW_OK);
	assert_int_equal(record.status, DW_EBUSY);
	assert_int_equal(dw_test_advance(record.d, DW_NEVER), DW_EINVAL);
	assert_int_equal(dw_run(record.d), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(record.d), "dw_test_advance"));
	assert_int_equal(dw_close(record.d, 0), DW_OK);
	assert_int_equal(dw_test_advance(NULL, 0), DW_EINVAL);
}

static dw_usec no_clock(void *user)
{
	(void)user;
	return 0;
}

static void options_that_contradict_the_clock_are_refused(void **state)
{
	dw_options options = {.size = sizeof options, .flags = DW_TEST_CLOCK};
	char message[DW_MESSAGE_SIZE];
	dw *d;

	(void)state;
	options.store = "sqlite:test.db";
	assert_int_equal(dw_open(&d, &options, message), DW_EINVAL);
	assert_non_null(strstr(message, "memory:"));
	options.store = "memory:";
	options.clock = no_clock;
	assert_int_equal(dw_open(&d, &options, message), DW_EINVAL);
	assert_non_null(strstr(message, "options.clock"));
	options.clock = NULL;
	options.flags = 0;
	assert_int_equal(dw_open(&d, &options, message), DW_OK);
	assert_int_equal(dw_test_advance(d, DW_TEST_START), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(d), "DW_TEST_CLOCK"));
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static dw_verdict put_at_once(dw *d, const dw_firing *firing, void *user)
{
	(void)firing;
	(void)user;
	(void)dw_after(d, "t", NULL, 0, NULL, 0);
	return DW_DONE;
}

static void endless_work_at_one_moment_is_a_limit(void **state)
{
	struct record record;

	(void)state;
	open_record(&record, 0);
	assert_int_equal(dw_on(record.d, "t", put_at_once, NULL), DW_OK);
	assert_int_equal(dw_after(record.d, "t", NULL, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(record.d, after_start(1)), DW_ELIMIT);
	assert_true(dw_now(record.d) == DW_TEST_START);
	assert_int_equal(dw_close(record.d, 0), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(time_passes_in_advance_only),
	    cmocka_unit_test(each_timer_starts_at_its_own_moment),
	    cmocka_unit_test(retries_end_as_a_dead_letter),
	    cmocka_unit_test(idle_year_asks_the_store_nothing),
	    cmocka_unit_test(hold_expires_and_is_settled),
	    cmocka_unit_test(paused_handle_misses_what_is_due),
	    cmocka_unit_test(handlers_of_workers_run_in_advance),
	    cmocka_unit_test(batch_waits_for_more),
	    cmocka_unit_test(calls_of_other_threads_are_done_in_advance),
	    cmocka_unit_test(two_runs_do_the_same),
	    cmocka_unit_test(wrong_calls_are_refused),
	    cmocka_unit_test(options_that_contradict_the_clock_are_refused),
	    cmocka_unit_test(endless_work_at_one_moment_is_a_limit),
	};

	return cmocka_run_group_tests_name("testing", tests, NULL, NULL);
}
