/* Deliveries on workers, seen from the engine: the workers are this test, which finishes a job when
 * it likes. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

enum { WORKERS = 2 };

/* The jobs that are out, in the order they were handed out. */
struct crew {
	struct job *jobs[WORKERS];
	size_t count;
	size_t seen;     /* how many were out when a handler of the loop began */
	char order[256]; /* the ids, in that order */
	struct alloc alloc;
	const dw_store_class *plain; /* of the store, when its answers are lost */
	int doubts;                  /* how many */
};

static void take(void *user, struct job *job)
{
	struct crew *crew = user;
	size_t size = strlen(crew->order);

	assert_true(crew->count < WORKERS);
	crew->jobs[crew->count++] = job;
	(void)snprintf(crew->order + size, sizeof crew->order - size, "%s ", job->firings->id);
}

static struct crew crew; /* what sets the engine's options is given nothing else */

static void set_workers(struct engine_env *env)
{
	crew = (struct crew){.alloc = env->alloc};
	env->workers = (struct worker_port){take, &crew, WORKERS};
}

static struct harness *begin(void)
{
	struct harness *h = harness_new_with(set_workers);

	assert_int_equal(engine_on_worker(h->engine, "t", harness_handler, h), DW_OK);
	harness_turn(h);
	return h;
}

/* finish ends a job; started like a worker, which calls the handler. */
static void finish(struct harness *h, bool started, dw_verdict verdict, dw_usec retry_in)
{
	struct job *job = crew.jobs[0];

	assert_true(crew.count > 0);
	crew.jobs[0] = crew.jobs[--crew.count];
	job_begin(job, h->wall);
	assert_true(!started || job->started);
	job->started = started;
	if (started)
		job_run(job, (dw *)h);
	job->retry_in[0] = retry_in; /* the test's verdict counts */
	job->verdicts[0] = verdict;
	engine_finish(h->engine, job);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
}

static void end(struct harness *h)
{
	engine_begin_close(h->engine);
	while (crew.count > 0)
		finish(h, false, DW_DONE, -1);
	harness_free(h);
}

/* put_letters puts a, b, c ..., due one step after the other. */
static void put_letters(struct harness *h, int count, dw_usec step)
{
	for (int i = 0; i < count; i++) {
		char id[2] = {(char)('a' + i), '\0'};

		(void)harness_put(h, id, i * step);
	}
}

static dw_stats stats_of(const struct harness *h)
{
	dw_stats stats = {.size = sizeof stats};

	engine_stats(h->engine, &stats);
	return stats;
}

/* ---- Handing out --------------------------------------------------------------------------- */

static void deliveries_wait_for_a_worker_in_order(void **state)
{
	struct harness *h = begin();

	(void)state;
	(void)harness_put(h, "d", DW_MILLISECONDS(40));
	(void)harness_put(h, "b", DW_MILLISECONDS(20));
	(void)harness_put(h, "a", DW_MILLISECONDS(10));
	(void)harness_put(h, "c", DW_MILLISECONDS(30));
	(void)harness_put(h, "e", DW_MILLISECONDS(40));
	harness_pass(h, DW_MILLISECONDS(100)); /* which fails if the engine spins */
	assert_string_equal(crew.order, "a b ");
	(void)harness_put(h, "late", DW_MILLISECONDS(-75)); /* between b and c */
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
	assert_int_equal(stats_of(h).running, 2);
	for (int i = 0; i < 6; i++)
		finish(h, true, DW_DONE, -1);
	assert_string_equal(crew.order, "a b late c d e ");
	assert_int_equal(h->start_count, 6);
	assert_int_equal(stats_of(h).settled, 6);
	assert_int_equal(stats_of(h).timers, 0);
	end(h);
}

static void newcomer_does_not_overtake_who_waits(void **state)
{
	struct harness *h = begin();

	(void)state;
	put_letters(h, 3, 1);
	(void)harness_put(h, "d", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(19));
	h->wall += DW_MILLISECONDS(2); /* d comes due in the turn that has a free worker */
	h->steady += DW_MILLISECONDS(2);
	finish(h, true, DW_DONE, -1);
	assert_string_equal(crew.order, "a b c ");
	end(h);
}

static void busy_workers_delay_no_other_topic(void **state)
{
	struct harness *h = begin();
	dw_timer timer = {.size = sizeof timer, .id = "inline", .topic = "inline"};

	(void)state;
	assert_int_equal(engine_on(h->engine, "inline", harness_handler, h), DW_OK);
	for (int i = 0; i < 1000; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_MILLISECONDS(1));
	}
	timer.due = h->wall + DW_MILLISECONDS(20);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_OK);
	harness_pass(h, DW_MILLISECONDS(20));
	assert_int_equal(h->start_count, 1);
	assert_string_equal(h->starts[0].id, "inline");
	assert_int_equal(h->starts[0].now, h->starts[0].due);
	assert_int_equal(engine_check(h->engine), 0);
	end(h);
	assert_int_equal(crew.count, 0);
}

static void note_crew(struct harness *h, const dw_firing *firing)
{
	(void)h;
	if (strcmp(firing->id, "inline") == 0)
		crew.seen = crew.count;
}

static void handler_of_the_loop_does_not_keep_a_worker_waiting(void **state)
{
	struct harness *h = begin();
	dw_timer timer = {
	    .size = sizeof timer, .id = "inline", .topic = "inline", .due = h->wall + 1};

	(void)state;
	assert_int_equal(engine_on(h->engine, "inline", harness_handler, h), DW_OK);
	h->in_handler = note_crew;
	(void)harness_put(h, "a", 0);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_OK);
	h->wall += 10; /* both are due in one turn */
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(crew.seen, 1);
	end(h);
}

static void late_timer_dies_while_it_waits(void **state)
{
	struct harness *h = begin();
	dw_timer timer = {.size = sizeof timer,
			  .id = "late",
			  .topic = "t",
			  .due = h->wall + 2,
			  .late_after_us = 1000};

	(void)state;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "b", 1);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_OK);
	harness_pass(h, DW_MILLISECONDS(10));
	finish(h, true, DW_DONE, -1);
	assert_int_equal(stats_of(h).late, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	assert_string_equal(crew.order, "a b ");
	end(h);
}

static void handler_of_the_loop_takes_what_waits(void **state)
{
	struct harness *h = begin();

	(void)state;
	put_letters(h, 4, 1);
	harness_pass(h, DW_MILLISECONDS(10));
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	finish(h, true, DW_DONE, -1);
	assert_string_equal(crew.order, "a b ");
	assert_int_equal(h->start_count, 3); /* a by its worker, c and d here */
	end(h);
}

static void handler_taken_away_gives_back_what_waits(void **state)
{
	struct harness *h = begin();

	(void)state;
	put_letters(h, 3, 1);
	harness_pass(h, DW_MILLISECONDS(10));
	assert_int_equal(engine_on(h->engine, "t", NULL, NULL), DW_OK);
	finish(h, true, DW_DONE, -1);
	assert_int_equal(stats_of(h).unhandled, 1);
	assert_int_equal(engine_on_worker(h->engine, "*", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_string_equal(crew.order, "a b c ");
	end(h);
}

static void show_state(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_state *)user = timers->state;
}

/* state_of: what the store has, and other processes see. */
static dw_state state_of(struct harness *h, const char *id)
{
	dw_state shown = DW_CLAIMED;

	assert_int_equal(engine_get(h->engine, id, (struct lister){show_state, &shown}), DW_OK);
	harness_turn(h);
	return shown;
}

static void clock_set_back_is_never_early(void **state)
{
	struct harness *h = begin();

	(void)state;
	for (int i = 0; i < 3; i++) {
		char id[2] = {(char)('a' + i), '\0'};

		(void)harness_put(h, id, DW_MILLISECONDS(1));
	}
	harness_pass(h, DW_MILLISECONDS(1));
	assert_string_equal(crew.order, "a b ");
	assert_int_equal(state_of(h, "c"), DW_CLAIMED);
	h->wall -= DW_HOURS(1);
	harness_turn(h);
	assert_int_equal(state_of(h, "c"), DW_PENDING); /* others may cancel it again */
	assert_int_equal(engine_check(h->engine), 0);
	finish(h, false, DW_DONE, -1); /* a worker looks at the clock, too */
	finish(h, false, DW_DONE, -1);
	assert_int_equal(crew.count, 0);
	harness_pass(h, DW_HOURS(1) - 1);
	assert_int_equal(crew.count, 0);
	harness_pass(h, 1);
	assert_int_equal(crew.count, 2);
	finish(h, true, DW_DONE, -1);
	finish(h, true, DW_DONE, -1);
	finish(h, true, DW_DONE, -1);
	assert_int_equal(h->start_count, 3);
	assert_int_equal(stats_of(h).fired, 3);
	end(h);
}

/* ---- Verdicts ------------------------------------------------------------------------------ */

static void retry_comes_back_with_the_next_attempt(void **state)
{
	struct harness *h = begin();

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	finish(h, true, DW_RETRY, DW_SECONDS(7));
	harness_pass(h, DW_SECONDS(7) - 1);
	assert_int_equal(crew.count, 0);
	harness_pass(h, 1);
	assert_int_equal(crew.jobs[0]->firings->attempt, 2);
	finish(h, true, DW_DONE, -1);
	assert_int_equal(stats_of(h).retried, 1);
	assert_int_equal(stats_of(h).timers, 0);
	end(h);
}

static void replaced_delivery_has_no_say(void **state)
{
	struct harness *h = begin();
	uint64_t generation;

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	(void)harness_put(h, "a", DW_SECONDS(5));
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
	generation = harness_result(h, "a").generation;
	assert_memory_equal(crew.jobs[0]->firings->data, "data", 4);
	finish(h, true, DW_RETRY, 0);
	assert_int_equal(stats_of(h).retried, 0);
	assert_int_equal(stats_of(h).timers, 1);
	harness_pass(h, DW_SECONDS(5));
	assert_true(crew.jobs[0]->tokens->generation == generation);
	finish(h, true, DW_DONE, -1);
	assert_int_equal(stats_of(h).timers, 0);
	end(h);
}

static void replaced_delivery_has_no_say_over_the_new_one(void **state)
{
	struct harness *h = begin();

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_string_equal(crew.order, "a a "); /* side by side */
	assert_int_equal(engine_check(h->engine), 0);
	finish(h, true, DW_DONE, -1); /* the first one */
	assert_int_equal(stats_of(h).settled, 0);
	assert_int_equal(stats_of(h).timers, 1);
	finish(h, true, DW_RETRY, 0);
	assert_int_equal(stats_of(h).retried, 1);
	harness_pass(h, DW_MILLISECONDS(20));
	finish(h, true, DW_DONE, -1);
	assert_int_equal(stats_of(h).settled, 1);
	end(h);
}

static void cancel_of_a_running_one_is_late_and_drops_the_retry(void **state)
{
	struct harness *h = begin();

	(void)state;
	put_letters(h, 3, 0);
	harness_turn(h);
	(void)harness_cancel(h, "a");
	(void)harness_cancel(h, "c"); /* waits for a worker: not started */
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_ELATE);
	assert_int_equal(harness_result(h, "c").status, DW_OK);
	finish(h, true, DW_RETRY, 0);
	finish(h, true, DW_DONE, -1);
	assert_int_equal(stats_of(h).retried, 0);
	assert_int_equal(stats_of(h).timers, 0);
	assert_string_equal(crew.order, "a b ");
	end(h);
}

static int settle(struct harness *h, const dw_token *token)
{
	return engine_settle(h->engine, token, DW_DONE, -1, (struct done){harness_done, h});
}

/* A thread that the handler has told may be faster than the handler's own DW_HOLD. */
static void settle_before_the_hold_is_known_waits_for_it(void **state)
{
	struct harness *h = begin();
	dw_token token;

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	token = crew.jobs[0]->tokens[0];
	assert_int_equal(settle(h, &token), DW_OK);
	assert_int_equal(settle(h, &token), DW_ESTALE); /* one is enough */
	harness_turn(h);
	assert_int_equal(stats_of(h).settled, 0);
	finish(h, true, DW_HOLD, -1);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(stats_of(h).settled, 1);
	assert_int_equal(stats_of(h).held, 0);
	end(h);
}

static void settle_of_what_is_not_held_after_all_is_stale(void **state)
{
	struct harness *h = begin();
	dw_token token;

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	token = crew.jobs[0]->tokens[0];
	assert_int_equal(settle(h, &token), DW_OK);
	finish(h, true, DW_DONE, -1);
	assert_int_equal(harness_result(h, "a").status, DW_ESTALE);
	assert_int_equal(stats_of(h).settled, 1);
	end(h);
}

static void hold_begins_when_the_handler_returns(void **state)
{
	struct harness *h = begin();

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	harness_pass(h, DW_HOURS(1)); /* no hold's time-out for the handler itself */
	assert_int_equal(harness_events_of(h, DW_EVENT_HOLD_EXPIRED), 0);
	finish(h, true, DW_HOLD, -1);
	assert_int_equal(stats_of(h).held, 1);
	harness_pass(h, DW_SECONDS(30) - 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_HOLD_EXPIRED), 0);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_events_of(h, DW_EVENT_HOLD_EXPIRED), 1);
	end(h);
}

/* collect_in_doubt: the answers of puts are lost once, though they are done. */
static dw_op *collect_in_doubt(dw_store *store)
{
	dw_op *answers = crew.plain->collect(store);

	for (dw_op *op = answers; op; op = op->next)
		if (op->kind == DW_OP_PUT && crew.doubts > 0 && crew.doubts--)
			op->status = DW_EUNKNOWN;
	return answers;
}

/* The put is sent again while the handler of what it replaces still runs, or has just said that it
 * holds. */
static void put_in_doubt_replaces_what_runs(void **state)
{
	static const dw_verdict verdicts[] = {DW_DONE, DW_RETRY, DW_HOLD};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct harness *h = begin();
		dw_store_class doubting = *h->store->type;

		crew.plain = h->store->type;
		doubting.collect = collect_in_doubt;
		(void)harness_put(h, "a", 0);
		harness_turn(h);
		h->store->type = &doubting;
		crew.doubts = 1;
		(void)harness_put(h, "a", DW_SECONDS(5));
		harness_turn(h);
		assert_int_equal(harness_result(h, "a").status, DW_EUNKNOWN);
		assert_int_equal(engine_check(h->engine), 0);
		if (i >= 3)
			harness_pass(h, DW_SECONDS(1)); /* sent again by now */
		finish(h, true, verdicts[i % 3], -1);
		harness_pass(h, DW_SECONDS(3));
		assert_int_equal(crew.count, 0);
		harness_pass(h, DW_SECONDS(3));
		assert_int_equal(crew.count, 1);
		finish(h, true, DW_DONE, -1);
		harness_pass(h, DW_MINUTES(10));
		assert_int_equal(h->start_count, 2);
		assert_int_equal(stats_of(h).timers, 0);
		h->store->type = crew.plain;
		end(h);
	}
}

/* ---- Ends ---------------------------------------------------------------------------------- */

static void closing_waits_for_the_running_and_starts_none(void **state)
{
	struct harness *h = begin();

	(void)state;
	put_letters(h, 4, 1);
	harness_pass(h, DW_MILLISECONDS(10));
	engine_begin_close(h->engine);
	harness_turn(h);
	assert_false(engine_settled(h->engine));
	finish(h, true, DW_DONE, -1);
	assert_false(engine_settled(h->engine));
	finish(h, false, DW_DONE, -1);
	assert_true(engine_settled(h->engine));
	assert_string_equal(crew.order, "a b ");
	assert_int_equal(stats_of(h).settled, 1);
	assert_int_equal(stats_of(h).fired, 1);
	harness_free(h);
}

static void abandoned_settle_was_never_sent(void **state)
{
	struct harness *h = begin();
	struct job *job;

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	job = crew.jobs[0];
	assert_int_equal(settle(h, job->tokens), DW_OK);
	engine_begin_close(h->engine);
	harness_turn(h);
	assert_true(engine_is_running(h->engine));
	engine_abandon(h->engine);
	assert_int_equal(harness_result(h, "a").status, DW_ECLOSED);
	alloc_free(&crew.alloc, job);
	harness_free(h);
}

/* live_with_failures: the nth allocation fails; everything stored is delivered all the same. */
static void live_with_failures(size_t nth, int always, int *ret_failed)
{
	struct harness *h = begin();
	int accepted = 0;

	h->fail_at = h->allocations + nth;
	h->fail_always = always;
	put_letters(h, 6, DW_MILLISECONDS(1));
	harness_pass(h, DW_MILLISECONDS(10));
	if (crew.count > 0)
		finish(h, true, DW_DONE, -1);
	*ret_failed = h->allocations >= h->fail_at;
	h->fail_at = 0;
	for (int i = 0; i < 60; i++) {
		harness_pass(h, DW_SECONDS(2));
		while (crew.count > 0)
			finish(h, true, DW_DONE, -1);
	}
	for (int i = 0; i < 6; i++) {
		char id[2] = {(char)('a' + i), '\0'};
		bool stored = harness_result(h, id).status == DW_OK;

		assert_int_equal(harness_starts_of(h, id), stored);
		accepted += stored;
	}
	assert_int_equal(stats_of(h).settled, accepted);
	end(h);
}

static void allocation_that_fails_loses_no_delivery(void **state)
{
	int failed = 1;

	(void)state;
	for (size_t nth = 1; failed; nth++) {
		live_with_failures(nth, 0, &failed);
		live_with_failures(nth, 1, &failed);
	}
}

static void without_workers_there_are_no_handlers_for_them(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	assert_int_equal(engine_on_worker(h->engine, "t", harness_handler, h), DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "options.workers"));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(deliveries_wait_for_a_worker_in_order),
	    cmocka_unit_test(newcomer_does_not_overtake_who_waits),
	    cmocka_unit_test(busy_workers_delay_no_other_topic),
	    cmocka_unit_test(handler_of_the_loop_does_not_keep_a_worker_waiting),
	    cmocka_unit_test(late_timer_dies_while_it_waits),
	    cmocka_unit_test(handler_of_the_loop_takes_what_waits),
	    cmocka_unit_test(handler_taken_away_gives_back_what_waits),
	    cmocka_unit_test(clock_set_back_is_never_early),
	    cmocka_unit_test(retry_comes_back_with_the_next_attempt),
	    cmocka_unit_test(replaced_delivery_has_no_say),
	    cmocka_unit_test(replaced_delivery_has_no_say_over_the_new_one),
	    cmocka_unit_test(cancel_of_a_running_one_is_late_and_drops_the_retry),
	    cmocka_unit_test(settle_before_the_hold_is_known_waits_for_it),
	    cmocka_unit_test(settle_of_what_is_not_held_after_all_is_stale),
	    cmocka_unit_test(hold_begins_when_the_handler_returns),
	    cmocka_unit_test(put_in_doubt_replaces_what_runs),
	    cmocka_unit_test(closing_waits_for_the_running_and_starts_none),
	    cmocka_unit_test(abandoned_settle_was_never_sent),
	    cmocka_unit_test(allocation_that_fails_loses_no_delivery),
	    cmocka_unit_test(without_workers_there_are_no_handlers_for_them),
	};

	return cmocka_run_group_tests_name("engine_work", tests, NULL, NULL);
}
