/* What becomes of the timers of a batch: verdicts, workers, failures. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/batches.h"

static struct harness *begin(dw_usec wait)
{
	return batches_begin(harness_new_with(NULL), wait, 0);
}

/* ---- Verdicts ------------------------------------------------------------------------------ */

static void each_timer_has_its_own_verdict(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches.verdicts['b'] = DW_RETRY;
	batches.verdicts['c'] = DW_HOLD;
	batches.verdicts['d'] = (dw_verdict)7; /* none: as DW_RETRY */
	batches.retry_in = DW_SECONDS(3);
	batches_put(h, 'a', 4, 0);
	batches_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_stats(h).settled, 1);
	assert_int_equal(harness_stats(h).retried, 2);
	assert_int_equal(harness_stats(h).held, 1);
	memset(batches.verdicts, 0, sizeof batches.verdicts);
	assert_int_equal(engine_settle(h->engine, &batches.tokens['c'], DW_DONE, -1,
				       (struct done){harness_done, h}),
			 DW_OK);
	batches_pass(h, DW_SECONDS(3) - 1);
	assert_int_equal(harness_result(h, "c").status, DW_OK);
	assert_string_equal(batches.calls, "abcd|");
	batches_pass(h, 1);
	assert_string_equal(batches.calls, "abcd|bd|");
	assert_int_equal(batches.attempts['b'], 2);
	assert_int_equal(harness_stats(h).timers, 0);
	harness_free(h);
}

static void default_delay_is_that_of_the_policy(void **state)
{
	struct harness *h = begin(0);

	(void)state;
	batches.verdicts['a'] = DW_RETRY;
	batches_put(h, 'a', 1, 0);
	batches_pass(h, DW_MILLISECONDS(799));
	assert_string_equal(batches.calls, "a|");
	batches_pass(h, DW_MILLISECONDS(402));
	assert_string_equal(batches.calls, "a|a|");
	harness_free(h);
}

static void holds_above_the_limit_are_retried(void **state)
{
	struct harness *h = harness_new_with(NULL);

	(void)state;
	batches = (struct batches){.h = h, .retry_in = DW_HOURS(1)};
	batches.verdicts['h'] = DW_HOLD;
	assert_int_equal(batches_on(h, 500, DW_SECONDS(1), 0), DW_OK);
	for (int i = 0; i < DW_HOLDS_MAX + 10; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "h%d", i);
		(void)harness_put(h, id, 0);
	}
	batches_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_stats(h).fired, DW_HOLDS_MAX + 10);
	assert_int_equal(harness_stats(h).held, DW_HOLDS_MAX);
	assert_int_equal(harness_events_of(h, DW_EVENT_LIMIT), 10);
	harness_free(h);
}

static void call_inside(struct harness *h, dw_batch *batch)
{
	(void)batch;
	assert_int_equal(engine_retry_in(h->engine, 1), DW_EINVAL);
	assert_int_equal(
	    engine_settle(h->engine, &batches.tokens['a'], DW_DONE, -1, (struct done){NULL, NULL}),
	    DW_ESTALE);
	assert_int_equal(engine_turn(h->engine), DW_EBUSY);
	assert_int_equal(harness_cancel(h, "a"), DW_OK); /* late: it is delivered */
	assert_int_equal(harness_cancel(h, "e"), DW_OK); /* gathers for the next batch */
	assert_int_equal(harness_put(h, "b", DW_SECONDS(5)), DW_OK);
	assert_int_equal(engine_on_batch(h->engine, "t", NULL, NULL, NULL), DW_OK);
	batches.inside = NULL;
}

static void calls_inside_the_handler_mean_what_they_do_elsewhere(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches.inside = call_inside;
	batches.verdicts['a'] = DW_RETRY;
	batches_put(h, 'a', 5, 0);
	batches_pass(h, DW_SECONDS(1));
	assert_string_equal(batches.calls, "abcd|");
	assert_int_equal(harness_result(h, "a").status, DW_ELATE);
	assert_int_equal(harness_result(h, "e").status, DW_OK);
	assert_int_equal(harness_result(h, "b").status, DW_OK);
	assert_int_equal(harness_stats(h).timers, 1);
	assert_int_equal(batches_on(h, BATCH_OF, 0, 0), DW_OK);
	batches_pass(h, DW_SECONDS(5));
	assert_string_equal(batches.calls, "abcd|b|");
	harness_free(h);
}

/* ---- On workers ---------------------------------------------------------------------------- */

enum { WORKERS = 2 };

static struct crew {
	struct job *jobs[WORKERS];
	size_t count;
} crew;

static void take(void *user, struct job *job)
{
	(void)user;
	assert_true(crew.count < WORKERS);
	crew.jobs[crew.count++] = job;
}

static void set_workers(struct engine_env *env)
{
	crew.count = 0;
	env->workers = (struct worker_port){take, NULL, WORKERS};
}

static struct harness *begin_with_workers(dw_usec wait)
{
	return batches_begin(harness_new_with(set_workers), wait, 1);
}

/* finish ends the oldest job. started: as a worker does, which calls the handler. */
static void finish(struct harness *h, bool started)
{
	struct job *job = crew.jobs[0];

	assert_true(crew.count > 0);
	crew.jobs[0] = crew.jobs[--crew.count];
	if (started) {
		job_begin(job, h->wall);
		assert_true(job->started);
		job_run(job, (dw *)h);
	}
	engine_finish(h->engine, job);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
}

static void worker_gets_the_batch_in_one_job(void **state)
{
	struct harness *h = begin_with_workers(DW_SECONDS(1));

	(void)state;
	batches.verdicts['c'] = DW_RETRY;
	batches_put(h, 'a', 4, 0);
	assert_int_equal(crew.count, 1);
	assert_int_equal(crew.jobs[0]->count, 4);
	assert_int_equal(harness_stats(h).running, 1);
	finish(h, true);
	assert_string_equal(batches.calls, "abcd|");
	assert_int_equal(harness_stats(h).settled, 3);
	assert_int_equal(harness_stats(h).retried, 1);
	harness_free(h);
}

static void batches_wait_for_a_worker(void **state)
{
	struct harness *h = begin_with_workers(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 18, 0); /* two run, one is full, the rest waits behind it */
	assert_int_equal(crew.count, 2);
	batches_pass(h, DW_SECONDS(5)); /* which fails if the engine spins */
	assert_int_equal(crew.count, 2);
	(void)harness_cancel(h, "l"); /* the last of the full one */
	batches_pass(h, 0);
	assert_int_equal(harness_result(h, "l").status, DW_OK);
	while (crew.count > 0)
		finish(h, true);
	batches_pass(h, DW_SECONDS(5));
	while (crew.count > 0)
		finish(h, true);
	assert_int_equal(harness_stats(h).settled, 17);
	assert_int_equal(harness_stats(h).timers, 0);
	assert_int_equal(strlen(batches.calls), 17 + 5);
	harness_free(h);
}

static void job_that_was_not_started_gathers_again(void **state)
{
	struct harness *h = begin_with_workers(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 4, DW_MILLISECONDS(10));
	batches_pass(h, DW_MILLISECONDS(30));
	assert_int_equal(crew.count, 1);
	h->wall -= DW_MILLISECONDS(15);
	job_begin(crew.jobs[0], h->wall);
	assert_false(crew.jobs[0]->started); /* d is not due any more */
	finish(h, false);
	assert_int_equal(crew.count, 0);
	batches_pass(h, DW_MILLISECONDS(15));
	assert_int_equal(crew.count, 1);
	finish(h, true);
	assert_string_equal(batches.calls, "abcd|");
	assert_int_equal(harness_stats(h).fired, 4);
	harness_free(h);
}

static void replaced_timer_of_a_job_has_no_say(void **state)
{
	struct harness *h = begin_with_workers(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 4, 0);
	(void)harness_put(h, "b", DW_SECONDS(5));
	harness_turn(h);
	(void)harness_cancel(h, "c");
	harness_turn(h);
	assert_int_equal(harness_result(h, "c").status, DW_ELATE);
	finish(h, true);
	assert_int_equal(harness_stats(h).settled, 3);
	assert_int_equal(harness_stats(h).timers, 1);
	batches_pass(h, DW_SECONDS(6));
	finish(h, true);
	assert_string_equal(batches.calls, "abcd|b|");
	harness_free(h);
}

static void settle_before_a_held_batch_returns_waits_for_it(void **state)
{
	struct harness *h = begin_with_workers(0);

	(void)state;
	batches.verdicts['a'] = DW_HOLD;
	batches_put(h, 'a', 2, 0);
	assert_int_equal(engine_settle(h->engine, crew.jobs[0]->tokens, DW_DONE, -1,
				       (struct done){harness_done, h}),
			 DW_OK);
	finish(h, true);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(harness_stats(h).settled, 2);
	harness_free(h);
}

/* ---- Failures ------------------------------------------------------------------------------ */

/* live_with_failures: the nth allocation fails; everything stored is delivered all the same. */
static void live_with_failures(size_t nth, int always, bool on_worker, int *ret_failed)
{
	struct harness *h =
	    on_worker ? begin_with_workers(DW_MILLISECONDS(5)) : begin(DW_MILLISECONDS(5));
	uint64_t accepted = 0;

	h->fail_at = h->allocations + nth;
	h->fail_always = always;
	for (char id[2] = "a"; *id < 'g'; ++*id)
		(void)harness_put(h, id, (*id - 'a') * 1000);
	harness_pass(h, DW_MILLISECONDS(10));
	*ret_failed = h->allocations >= h->fail_at;
	h->fail_at = 0;
	for (int i = 0; i < 60; i++) {
		batches_pass(h, DW_SECONDS(2));
		while (crew.count > 0)
			finish(h, true);
	}
	for (char id[2] = "a"; *id < 'g'; ++*id)
		accepted += harness_result(h, id).status == DW_OK;
	assert_int_equal(harness_stats(h).settled, accepted);
	assert_int_equal(harness_stats(h).fired, accepted);
	assert_int_equal(harness_stats(h).timers, 0);
	harness_free(h);
}

static void allocation_that_fails_loses_no_delivery(void **state)
{
	int failed = 1;

	(void)state;
	crew.count = 0;
	for (size_t nth = 1; failed; nth++)
		for (int i = 0; i < 4; i++)
			live_with_failures(nth, i & 1, i & 2, &failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_timer_has_its_own_verdict),
	    cmocka_unit_test(default_delay_is_that_of_the_policy),
	    cmocka_unit_test(holds_above_the_limit_are_retried),
	    cmocka_unit_test(calls_inside_the_handler_mean_what_they_do_elsewhere),
	    cmocka_unit_test(worker_gets_the_batch_in_one_job),
	    cmocka_unit_test(batches_wait_for_a_worker),
	    cmocka_unit_test(job_that_was_not_started_gathers_again),
	    cmocka_unit_test(replaced_timer_of_a_job_has_no_say),
	    cmocka_unit_test(settle_before_a_held_batch_returns_waits_for_it),
	    cmocka_unit_test(allocation_that_fails_loses_no_delivery),
	};

	return cmocka_run_group_tests_name("engine_batch_end", tests, NULL, NULL);
}
