/* How a handle that other threads use is settled, stopped and closed. */
#include "support/cmocka.h"

#include <signal.h>

#include "support/watch.h"

/* ---- Settling ------------------------------------------------------------------------------ */

static void *settle(void *user)
{
	struct seen *seen = user;

	seen->result = dw_settle(seen->d, &seen->token, DW_DONE, -1, seen_done, seen);
	return NULL;
}

static dw_verdict hold(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	seen->token = *firing->token;
	dw_stop(d);
	return DW_HOLD;
}

static void hold_is_settled_by_another_thread(void **state)
{
	dw_stats stats = {.size = sizeof stats};
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", hold, &seen), DW_OK);
	assert_int_equal(dw_after(seen.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(seen.d), DW_OK);
	seen_in_thread(settle, &seen);
	assert_int_equal(seen.result, DW_OK);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.status, DW_OK);
	assert_int_equal(dw_get_stats(seen.d, &stats), DW_OK);
	assert_int_equal(stats.settled, 1);
	seen_in_thread(settle, &seen);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.status, DW_ESTALE);
	assert_int_equal(seen.answers, 2);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* ---- Posting and stopping ------------------------------------------------------------------ */

static void look_around(dw *d, void *arg)
{
	struct seen *seen = arg;

	assert_int_equal(dw_run(d), DW_EBUSY);
	assert_int_equal(dw_turn(d), DW_EBUSY);
	assert_int_equal(dw_sync(d, 0), DW_EBUSY);
	assert_int_equal(dw_close(d, 0), DW_EBUSY);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	seen->posted++;
	dw_stop(d);
}

static void post_is_a_callback_of_a_later_turn(void **state)
{
	dw_stats stats = {.size = sizeof stats};
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_post(NULL, look_around, &seen), DW_EINVAL);
	assert_int_equal(dw_post(seen.d, look_around, &seen), DW_OK);
	assert_int_equal(seen.posted, 0);
	assert_int_equal(dw_run(seen.d), DW_OK);
	assert_int_equal(seen.posted, 1);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(dw_get_stats(seen.d, &stats), DW_OK);
	assert_int_equal(stats.timers, 1);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void count(dw *d, void *arg)
{
	struct seen *seen = arg;

	(void)d;
	seen->posted++;
}

static void *post_many(void *user)
{
	struct seen *seen = user;

	for (int i = 0; i < 1000; i++)
		seen->result += dw_post(seen->d, count, seen) == DW_OK;
	return NULL;
}

static void sync_runs_what_is_posted(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	seen_in_thread(post_many, &seen);
	assert_int_equal(seen.result, 1000);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.posted, 1000); /* which takes more than one turn */
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static dw *signalled; /* a signal handler has no other way */

static void on_signal(int number)
{
	(void)number;
	dw_stop(signalled);
}

struct signaller {
	pthread_t thread;
	pthread_t target;
};

static void *signal_it(void *user)
{
	struct signaller *signaller = user;

	(void)pthread_kill(signaller->target, SIGUSR1);
	return NULL;
}

/* interrupt has the signal sent once the loop runs, and perhaps sleeps. */
static void interrupt(dw *d, void *arg)
{
	struct signaller *signaller = arg;

	(void)d;
	assert_int_equal(pthread_create(&signaller->thread, NULL, signal_it, arg), 0);
}

static void stop_in_a_signal_handler_ends_run(void **state)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct signaller signaller = {.target = pthread_self()};
	struct sigaction before;
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	signalled = seen.d;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(dw_post(seen.d, interrupt, &signaller), DW_OK);
		assert_int_equal(dw_run(seen.d), DW_OK);
		assert_int_equal(pthread_join(signaller.thread, NULL), 0);
	}
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* ---- Closing ------------------------------------------------------------------------------- */

static void count_post(dw *d, void *arg)
{
	struct seen *seen = arg;

	seen->posted++;
	assert_int_equal(dw_after(d, "t", "late", 0, NULL, 0), DW_ECLOSED);
	assert_int_equal(dw_post(d, count_post, arg), DW_ECLOSED);
}

static void *put_many(void *user)
{
	struct seen *seen = user;

	for (int i = 0; i < 1000; i++)
		seen->result += seen_put(seen->d, NULL, seen) == DW_OK;
	seen->result += dw_post(seen->d, count_post, seen) == DW_OK;
	return NULL;
}

static void *put_into_a_closing_handle(void *user)
{
	struct seen *seen = user;

	seen->result = seen_put(seen->d, NULL, seen);
	return NULL;
}

static void close_answers_what_is_queued(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	seen_in_thread(put_many, &seen);
	assert_int_equal(seen.result, 1001);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	assert_int_equal(seen.answers, 1000);
	assert_true(seen.failures > 0); /* no patience: only one turn */
	assert_int_equal(seen.status, DW_ECLOSED);
	assert_int_equal(seen.posted, 1);
}

static void close_with_patience_does_what_is_queued(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	seen_in_thread(put_many, &seen);
	assert_int_equal(dw_close(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 1000);
	assert_int_equal(seen.failures, 0);
	assert_int_equal(seen.posted, 1);
}

static void call_while_closing(dw *d, const dw_result *result, void *user)
{
	struct seen *seen = user;

	(void)d;
	(void)result;
	seen_in_thread(put_into_a_closing_handle, seen);
}

static void call_during_close_is_refused(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_cancel(seen.d, "a", call_while_closing, &seen), DW_OK);
	assert_int_equal(dw_close(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.result, DW_ECLOSED);
	assert_int_equal(seen.answers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hold_is_settled_by_another_thread),
	    cmocka_unit_test(post_is_a_callback_of_a_later_turn),
	    cmocka_unit_test(sync_runs_what_is_posted),
	    cmocka_unit_test(stop_in_a_signal_handler_ends_run),
	    cmocka_unit_test(close_answers_what_is_queued),
	    cmocka_unit_test(close_with_patience_does_what_is_queued),
	    cmocka_unit_test(call_during_close_is_refused),
	};

	return cmocka_run_group_tests_name("threads_ends", tests, NULL, NULL);
}
