/* Calls from other threads: done on the handle's thread, in order, answered exactly once. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/environment.h"
#include "support/watch.h"

enum { PRODUCERS = 4, QUEUE_BYTES = 200 * 1000, LAST = 5000 };

/* ---- Many ---------------------------------------------------------------------------------- */

struct producer {
	struct seen *seen;
	pthread_t thread;
	int number;
	int pairs;   /* of a put and a cancel */
	int refused; /* of its own calls, by the thread itself */
	int broken;
};

static int call(struct producer *producer, int which, const char *id)
{
	dw *d = producer->seen->d;

	return which == 0 ? seen_put(d, id, producer->seen)
			  : dw_cancel(d, id, seen_done, producer->seen);
}

/* insist calls until there is room; each time it waits until something is answered. */
static void insist(struct producer *producer, int which, const char *id)
{
	struct seen *seen = producer->seen;
	int answers;
	int status;

	for (;;) {
		pthread_mutex_lock(&seen->mutex);
		answers = seen->answers;
		pthread_mutex_unlock(&seen->mutex);
		status = call(producer, which, id);
		if (status != DW_ELIMIT)
			break;
		producer->refused++;
		pthread_mutex_lock(&seen->mutex);
		while (seen->answers == answers)
			pthread_cond_wait(&seen->changed, &seen->mutex);
		pthread_mutex_unlock(&seen->mutex);
	}
	producer->broken += status != DW_OK;
}

static void *produce(void *user)
{
	struct producer *producer = user;
	char id[32];

	for (int i = 0; i < producer->pairs; i++) {
		(void)snprintf(id, sizeof id, "%d/%d", producer->number, i);
		insist(producer, 0, id);
		insist(producer, 1, id);
	}
	return NULL;
}

static void *join_all(void *user)
{
	struct producer *producers = user;

	for (int i = 0; i < PRODUCERS; i++)
		(void)pthread_join(producers[i].thread, NULL);
	dw_stop(producers->seen->d);
	return NULL;
}

/* A cancel finds the put before it: each thread's calls are done in their order. */
static void calls_of_many_threads_are_each_answered_once(void **state)
{
	struct producer producers[PRODUCERS];
	dw_stats stats = {.size = sizeof stats};
	/* Only valgrind asks for so few. */
	int pairs = environment_scaled(100) < 5 ? 200 : 12500;
	struct seen seen;
	pthread_t joiner;

	(void)state;
	seen_open(&seen, QUEUE_BYTES);
	for (int i = 0; i < PRODUCERS; i++) {
		producers[i] = (struct producer){.seen = &seen, .number = i, .pairs = pairs};
		assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]),
				 0);
	}
	assert_int_equal(pthread_create(&joiner, NULL, join_all, producers), 0);
	assert_int_equal(dw_run(seen.d), DW_OK);
	assert_int_equal(pthread_join(joiner, NULL), 0);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	for (int i = 0; i < PRODUCERS; i++)
		assert_int_equal(producers[i].broken, 0);
	assert_int_equal(seen.answers, 2 * PRODUCERS * pairs);
	assert_int_equal(seen.failures, 0);
	assert_int_equal(dw_get_stats(seen.d, &stats), DW_OK);
	assert_int_equal(stats.put, PRODUCERS * pairs);
	assert_int_equal(stats.cancelled, PRODUCERS * pairs);
	assert_int_equal(stats.timers, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

struct ordered {
	struct seen *seen;
	int next;
	int broken;
};

struct step {
	struct ordered *ordered;
	int number;
};

static void next_step(dw *d, void *arg)
{
	struct step *step = arg;

	step->ordered->broken += step->number != step->ordered->next++;
	if (step->number == LAST)
		dw_stop(d);
}

static void *post_steps(void *user)
{
	struct step *steps = user;

	for (int i = 0; i <= LAST; i++)
		if (dw_post(steps[i].ordered->seen->d, next_step, &steps[i]) != DW_OK)
			abort(); /* dw_run() would never return */
	return NULL;
}

static void posted_functions_run_in_their_order(void **state)
{
	struct step *steps = calloc(LAST + 1, sizeof *steps);
	struct ordered ordered = {0};
	struct seen seen;
	pthread_t thread;

	(void)state;
	assert_non_null(steps);
	seen_open(&seen, 0);
	ordered.seen = &seen;
	for (int i = 0; i <= LAST; i++)
		steps[i] = (struct step){&ordered, i};
	assert_int_equal(pthread_create(&thread, NULL, post_steps, steps), 0);
	assert_int_equal(dw_run(seen.d), DW_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ordered.next, LAST + 1);
	assert_int_equal(ordered.broken, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	free(steps);
}

/* ---- Bounds -------------------------------------------------------------------------------- */

/* fill puts until there is no room; result: how many were accepted. */
static void *fill(void *user)
{
	struct seen *seen = user;

	seen->result = 0;
	while ((seen->status = seen_put(seen->d, NULL, seen)) == DW_OK && seen->result < 1000000)
		seen->result++;
	return NULL;
}

static void full_queue_refuses_and_loses_nothing(void **state)
{
	dw_stats stats = {.size = sizeof stats};
	struct seen seen;
	int accepted;

	(void)state;
	seen_open(&seen, QUEUE_BYTES);
	seen_in_thread(fill, &seen);
	assert_int_equal(seen.status, DW_ELIMIT);
	accepted = seen.result;
	assert_true(accepted > 100);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, accepted);
	assert_int_equal(seen.failures, 0);
	seen_in_thread(fill, &seen); /* there is as much room again */
	assert_int_equal(seen.result, accepted);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(dw_get_stats(seen.d, &stats), DW_OK);
	assert_int_equal(stats.timers, 2 * accepted);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static int accepted_with(size_t posted_max_bytes)
{
	struct seen seen;
	int accepted;

	seen_open(&seen, posted_max_bytes);
	seen_in_thread(fill, &seen);
	accepted = seen.result;
	assert_int_equal(seen.status, DW_ELIMIT);
	assert_int_equal(dw_close(seen.d, PATIENCE), DW_OK);
	return accepted;
}

static void posted_max_bytes_is_what_the_queue_holds(void **state)
{
	enum { MIB = 1024 * 1024 };
	int by_one = accepted_with(MIB);

	(void)state;
	/* A call takes its 4 bytes of data and about 600 more. */
	assert_in_range(by_one, MIB / 1000, MIB / 300);
	assert_in_range(accepted_with((size_t)3 * MIB), 3 * by_one, 3 * by_one + 3);
	assert_in_range(accepted_with(0), 16 * by_one, 16 * by_one + 16); /* the default */
}

static void empty_queue_takes_what_is_larger_than_it(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 1);
	seen_in_thread(fill, &seen);
	assert_int_equal(seen.status, DW_ELIMIT);
	assert_int_equal(seen.result, 1);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 1);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void *move_to_the_past(void *user)
{
	struct seen *seen = user;

	seen->result = dw_move(seen->d, "moved", 1, seen_done, seen);
	return NULL;
}

static dw_verdict stop_at_once(dw *d, const dw_firing *firing, void *user)
{
	(void)user;
	assert_int_equal(firing->due, 1);
	dw_stop(d);
	return DW_DONE;
}

static void timer_is_moved_by_another_thread(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", stop_at_once, NULL), DW_OK);
	assert_int_equal(dw_at(seen.d, "t", "moved", DW_NEVER, NULL, 0), DW_OK);
	seen_in_thread(move_to_the_past, &seen);
	assert_int_equal(seen.result, DW_OK);
	assert_int_equal(dw_run(seen.d), DW_OK); /* until it has fired */
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.status, DW_OK);
	assert_int_equal(dw_close(seen.d, PATIENCE), DW_OK);
}

static void *put_without_memory(void *user)
{
	struct seen *seen = user;

	atomic_store(&seen->no_memory, 1);
	seen->result = seen_put(seen->d, "a", seen) == DW_ENOMEM &&
		       dw_cancel(seen->d, "a", seen_done, seen) == DW_ENOMEM &&
		       dw_post(seen->d, seen_stop, NULL) == DW_ENOMEM;
	atomic_store(&seen->no_memory, 0);
	return NULL;
}

static void failed_allocation_is_told_by_the_call(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 1);
	seen_in_thread(put_without_memory, &seen);
	assert_true(seen.result);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 0);
	seen_in_thread(fill, &seen);
	assert_int_equal(seen.result, 1); /* the room was given back */
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* ---- Failures ------------------------------------------------------------------------------ */

static void *call_wrongly(void *user)
{
	struct seen *seen = user;
	dw_token token = {.id = "a"};
	dw_timer timer = {.size = sizeof timer - 1, .topic = "t"};
	dw *d = seen->d;

	seen->result =
	    dw_put(d, &timer, seen_done, seen) == DW_EINVAL && strstr(seen->log, "timer.size") &&
	    dw_cancel(d, "", seen_done, seen) == DW_EINVAL &&
	    strstr(seen->log, "the id is empty") && dw_cancel(d, NULL, NULL, NULL) == DW_EINVAL &&
	    strstr(seen->log, "the id is NULL") &&
	    dw_after(d, "t", "a", -1, NULL, 0) == DW_EINVAL && strstr(seen->log, "delay") &&
	    dw_at(d, NULL, "a", 0, NULL, 0) == DW_EINVAL && strstr(seen->log, "topic") &&
	    dw_at(d, "t", "a", 0, NULL, 9) == DW_EINVAL && strstr(seen->log, "data") &&
	    dw_settle(d, NULL, DW_DONE, 0, NULL, NULL) == DW_EINVAL &&
	    dw_settle(d, &token, DW_HOLD, 0, NULL, NULL) == DW_EINVAL &&
	    strstr(seen->log, "verdict") && dw_post(d, NULL, NULL) == DW_EINVAL &&
	    strstr(seen->log, "function");
	memset(token.id, 'x', sizeof token.id);
	seen->result = seen->result && dw_settle(d, &token, DW_DONE, 0, NULL, NULL) == DW_EINVAL;
	return NULL;
}

static void wrong_arguments_are_refused_at_the_call(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	seen_in_thread(call_wrongly, &seen);
	assert_true(seen.result);
	assert_string_equal(dw_last_error(seen.d), "");
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 0);
	assert_int_equal(seen.events, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void *fail_late(void *user)
{
	struct seen *seen = user;
	dw_token token = {.id = "nothing", .attempt = 1};

	seen->result = dw_cancel(seen->d, "nothing", NULL, NULL) == DW_OK &&
		       dw_settle(seen->d, &token, DW_DONE, 0, NULL, NULL) == DW_OK &&
		       dw_settle(seen->d, &token, DW_DONE, 0, seen_done, seen) == DW_OK;
	return NULL;
}

static void failures_without_a_callback_reach_sync(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	seen_in_thread(fail_late, &seen);
	assert_true(seen.result);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_ESTALE); /* known first: it is not held */
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.events, 2);
	assert_int_equal(seen.event, DW_EVENT_FAILED);
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.status, DW_ESTALE);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_of_many_threads_are_each_answered_once),
	    cmocka_unit_test(posted_functions_run_in_their_order),
	    cmocka_unit_test(full_queue_refuses_and_loses_nothing),
	    cmocka_unit_test(posted_max_bytes_is_what_the_queue_holds),
	    cmocka_unit_test(empty_queue_takes_what_is_larger_than_it),
	    cmocka_unit_test(timer_is_moved_by_another_thread),
	    cmocka_unit_test(failed_allocation_is_told_by_the_call),
	    cmocka_unit_test(wrong_arguments_are_refused_at_the_call),
	    cmocka_unit_test(failures_without_a_callback_reach_sync),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
