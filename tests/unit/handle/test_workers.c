/* Handlers on worker threads: side by side, each as sure of its delivery as one of the loop. */
#include "support/cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/usec.h"
#include "port/clock.h"
#include "support/environment.h"
#include "support/watch.h"

enum { WORKERS = 4, MANY = 2000 };

/* A gate that handlers wait at, and what they have seen. */
struct gate {
	struct seen seen;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int waiting; /* handlers at the gate */
	int open;    /* how many may pass */
	int passed;
	int status; /* of a call that a handler made */
	pthread_t loop;
	atomic_int starts;
	atomic_int broken;
	atomic_int closed;
	atomic_int blocks;    /* of memory */
	atomic_int backwards; /* how often the clock of workers is an hour behind */
};

static void *count_blocks(void *user, void *block, size_t size)
{
	struct gate *gate = user;

	if (size == 0) {
		free(block);
		if (block && atomic_fetch_sub(&gate->blocks, 1) == 1) {
			pthread_mutex_lock(&gate->mutex);
			pthread_cond_broadcast(&gate->changed);
			pthread_mutex_unlock(&gate->mutex);
		}
		return NULL;
	}
	if (!block)
		(void)atomic_fetch_add(&gate->blocks, 1);
	return realloc(block, size);
}

static dw *open_gate(struct gate *gate, unsigned workers)
{
	dw_options options;

	*gate = (struct gate){.mutex = PTHREAD_MUTEX_INITIALIZER,
			      .changed = PTHREAD_COND_INITIALIZER,
			      .loop = pthread_self()};
	options = seen_options(&gate->seen);
	options.workers = workers;
	options.resize = count_blocks;
	options.resize_user = gate;
	if (dw_open(&gate->seen.d, &options, NULL) != DW_OK)
		abort();
	return gate->seen.d;
}

/* pass waits at the gate until it is opened. */
static void pass(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->waiting++;
	pthread_cond_broadcast(&gate->changed);
	while (gate->open == 0)
		pthread_cond_wait(&gate->changed, &gate->mutex);
	gate->open--;
	gate->passed++;
	pthread_mutex_unlock(&gate->mutex);
}

static void open_for(struct gate *gate, int count)
{
	pthread_mutex_lock(&gate->mutex);
	gate->open += count;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->mutex);
}

/* await_waiting sleeps until so many handlers have come to the gate. */
static void await_waiting(struct gate *gate, int count)
{
	pthread_mutex_lock(&gate->mutex);
	while (gate->waiting < count)
		pthread_cond_wait(&gate->changed, &gate->mutex);
	pthread_mutex_unlock(&gate->mutex);
}

static int begun(struct gate *gate)
{
	int waiting;

	pthread_mutex_lock(&gate->mutex);
	waiting = gate->waiting;
	pthread_mutex_unlock(&gate->mutex);
	return waiting;
}

static void turn_until_begun(struct gate *gate, int count)
{
	dw_stats stats = {.size = sizeof stats};

	/* Every turn comes of an event: a sync returns when all is answered. */
	while (stats.running < (uint64_t)count) {
		assert_int_equal(dw_sync(gate->seen.d, PATIENCE), DW_OK);
		assert_int_equal(dw_get_stats(gate->seen.d, &stats), DW_OK);
	}
	await_waiting(gate, count);
}

/* ---- Side by side -------------------------------------------------------------------------- */

static dw_verdict wait_at_gate(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;

	(void)d;
	(void)firing;
	atomic_fetch_add(&gate->broken, pthread_equal(gate->loop, pthread_self()) != 0);
	pass(gate);
	return DW_DONE;
}

static dw_verdict wait_and_stop(dw *d, const dw_firing *firing, void *user)
{
	dw_verdict verdict = wait_at_gate(d, firing, user);

	dw_stop(d);
	return verdict;
}

/* open_it lets one pass that has waited since before; on the loop or on a worker. */
static dw_verdict open_it(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;

	(void)d;
	(void)firing;
	await_waiting(gate, 1);
	open_for(gate, 1);
	return DW_DONE;
}

/* If the slow one delayed the other, nobody would ever open the gate. */
static void slow_handler_delays_nobody(void **state)
{
	(void)state;
	for (int on_worker = 0; on_worker < 2; on_worker++) {
		struct gate gate;
		dw *d = open_gate(&gate, 2);

		assert_int_equal(dw_on_worker(d, "slow", wait_and_stop, &gate), DW_OK);
		assert_int_equal(on_worker ? dw_on_worker(d, "t", open_it, &gate)
					   : dw_on(d, "t", open_it, &gate),
				 DW_OK);
		assert_int_equal(dw_after(d, "slow", "a", 0, NULL, 0), DW_OK);
		assert_int_equal(dw_after(d, "t", "b", 1000, NULL, 0), DW_OK);
		assert_int_equal(dw_run(d), DW_OK);
		assert_int_equal(gate.passed, 1);
		assert_int_equal(atomic_load(&gate.broken), 0);
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
		assert_int_equal(atomic_load(&gate.blocks), 0);
	}
}

static dw_verdict count_start(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;
	int number;

	memcpy(&number, firing->data, sizeof number);
	atomic_fetch_add(&gate->broken, firing->now < firing->due || firing->attempt != 1 ||
					    firing->data_size != sizeof number || number < 0 ||
					    number >= MANY);
	if (atomic_fetch_add(&gate->starts, 1) == MANY - 1)
		dw_stop(d);
	return DW_DONE;
}

static void many_deliveries_are_each_started_once(void **state)
{
	struct gate gate;
	dw *d = open_gate(&gate, WORKERS);

	(void)state;
	assert_int_equal(dw_on_worker(d, "*", count_start, &gate), DW_OK);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(dw_after(d, "t", NULL, i * 10, &i, sizeof i), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(atomic_load(&gate.starts), MANY);
	assert_int_equal(atomic_load(&gate.broken), 0);
	assert_int_equal(atomic_load(&gate.blocks), 0);
}

static dw_usec read_clock(void *user)
{
	struct gate *gate = user;
	dw_usec now = clock_system().wall(NULL);

	if (pthread_equal(gate->loop, pthread_self()) || atomic_load(&gate->backwards) == 0)
		return now;
	atomic_fetch_sub(&gate->backwards, 1);
	return usec_sub(now, DW_HOURS(1));
}

static dw_verdict count_and_stop(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;

	atomic_fetch_add(&gate->starts, 1);
	atomic_fetch_add(&gate->broken, firing->now < firing->due);
	dw_stop(d);
	return DW_DONE;
}

/* Between the loop's look at the clock and the worker's it was set back, three times. */
static void clock_set_back_before_the_start_is_seen(void **state)
{
	struct gate gate = {.loop = pthread_self(), .backwards = 3};
	dw_options options = seen_options(&gate.seen);
	dw_stats stats = {.size = sizeof stats};
	dw *d;

	(void)state;
	options.workers = 1;
	options.clock = read_clock;
	options.clock_user = &gate;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on_worker(d, "t", count_and_stop, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(atomic_load(&gate.starts), 1);
	assert_int_equal(atomic_load(&gate.broken), 0);
	assert_int_equal(atomic_load(&gate.backwards), 0);
	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	assert_int_equal(stats.fired, 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

/* ---- Inside a handler ---------------------------------------------------------------------- */

static dw_verdict call_everything(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;
	dw_timer again = {.size = sizeof again, .id = firing->id, .topic = "t", .flags = DW_NEW};
	int wrong = dw_turn(d) != DW_ETHREAD || dw_run(d) != DW_ETHREAD ||
		    dw_sync(d, 0) != DW_ETHREAD || dw_close(d, 0) != DW_ETHREAD ||
		    dw_on(d, "t", NULL, NULL) != DW_ETHREAD || dw_fd(d) != DW_ETHREAD;

	if (atomic_fetch_add(&gate->starts, 1) == 1) {
		dw_stop(d);
		return DW_DONE;
	}
	/* Done before the verdict: the id is taken, and the delivery is under way. */
	wrong = wrong || dw_put(d, &again, seen_done, &gate->seen) != DW_OK ||
		dw_cancel(d, "other", NULL, NULL) != DW_OK || dw_retry_in(d, -1) != DW_EINVAL ||
		dw_retry_in(d, 1000) != DW_OK;
	atomic_fetch_add(&gate->broken, wrong);
	return DW_RETRY;
}

static void handler_calls_what_any_thread_may(void **state)
{
	dw_stats stats = {.size = sizeof stats};
	struct gate gate;
	dw *d = open_gate(&gate, 1);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", call_everything, &gate), DW_OK);
	assert_int_equal(seen_put(d, "other", &gate.seen), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK); /* the retry comes in 1 ms */
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(gate.seen.answers, 2);
	assert_int_equal(gate.seen.status, DW_EEXIST);
	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	assert_int_equal(stats.retried, 1);
	assert_int_equal(stats.cancelled, 1);
	assert_int_equal(atomic_load(&gate.broken), 0);
	assert_int_equal(dw_retry_in(d, 1000), DW_EINVAL);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void *retry_outside(void *user)
{
	struct seen *seen = user;

	seen->result = dw_retry_in(seen->d, 0);
	return NULL;
}

static dw_verdict look_twice(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;
	int wrong = memcmp(firing->data, "data", 4) != 0;

	pass(gate);
	wrong = wrong || memcmp(firing->data, "data", 4) != 0 || strcmp(firing->id, "a") != 0 ||
		strcmp(firing->topic, "t") != 0 || strcmp(firing->token->id, "a") != 0;
	atomic_fetch_add(&gate->broken, wrong);
	dw_stop(d);
	return DW_DONE;
}

static void firing_lives_until_its_handler_returns(void **state)
{
	struct gate gate;
	dw *d = open_gate(&gate, 1);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", look_twice, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, "data", 4), DW_OK);
	turn_until_begun(&gate, 1);
	assert_int_equal(dw_at(d, "other", "a", DW_NEVER, "none", 4), DW_OK); /* replaced */
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_on(d, "t", NULL, NULL), DW_OK);
	seen_in_thread(retry_outside, &gate.seen); /* a thread that is no worker */
	assert_int_equal(gate.seen.result, DW_ETHREAD);
	open_for(&gate, 1);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(atomic_load(&gate.broken), 0);
}

/* take_signals notes how many signals its thread would take. */
static dw_verdict take_signals(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;
	sigset_t blocked;

	(void)firing;
	atomic_fetch_add(&gate->starts, 1);
	atomic_fetch_add(&gate->broken, pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0);
	for (int number = 1; number < NSIG; number++)
		if (number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN))
			atomic_fetch_add(&gate->broken, sigismember(&blocked, number) != 1);
	dw_stop(d);
	return DW_DONE;
}

static void signals_are_the_programs(void **state)
{
	struct gate gate;
	dw *d = open_gate(&gate, 1);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", take_signals, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(atomic_load(&gate.starts), 1);
	assert_int_equal(atomic_load(&gate.broken), 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

/* ---- Closing ------------------------------------------------------------------------------- */

static void open_when_answered(dw *d, const dw_result *result, void *user)
{
	struct gate *gate = user;

	(void)d;
	(void)result;
	open_for(gate, 1);
}

static void close_waits_for_the_handlers_that_run(void **state)
{
	struct gate gate;
	dw *d = open_gate(&gate, 1);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", wait_at_gate, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_after(d, "t", "b", 0, NULL, 0), DW_OK);
	turn_until_begun(&gate, 1);
	assert_int_equal(dw_cancel(d, "none", open_when_answered, &gate), DW_OK); /* by close */
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(gate.passed, 1);
	assert_int_equal(begun(&gate), 1); /* b was not started any more */
	assert_int_equal(atomic_load(&gate.blocks), 0);
}

static dw_verdict call_after_close(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;

	pass(gate);
	gate->status = dw_cancel(d, firing->id, NULL, NULL);
	atomic_fetch_add(&gate->broken,
			 dw_post(d, seen_stop, NULL) != DW_ECLOSED || dw_retry_in(d, 5) != DW_OK ||
			     dw_turn(d) != DW_ETHREAD || strlen(dw_last_error(d)) == 0);
	dw_stop(d);
	return DW_DONE;
}

/* await_freed waits until the last block is gone. */
static void await_freed(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	while (atomic_load(&gate->blocks) > 0)
		pthread_cond_wait(&gate->changed, &gate->mutex);
	pthread_mutex_unlock(&gate->mutex);
}

static void handler_that_outlives_its_handle_frees_it(void **state)
{
	struct gate gate;
	dw *d = open_gate(&gate, 3);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", call_after_close, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_after(d, "t", "b", 0, NULL, 0), DW_OK);
	turn_until_begun(&gate, 2);
	assert_int_equal(dw_close(d, 0), DW_ETIMEOUT);
	assert_true(atomic_load(&gate.blocks) > 0);
	open_for(&gate, 2);
	await_freed(&gate);
	assert_int_equal(gate.passed, 2);
	assert_int_equal(gate.status, DW_ECLOSED);
	assert_int_equal(atomic_load(&gate.broken), 0);
}

/* slow_clock takes its time on a worker's thread, and then looks whether the handle is closed. */
static dw_usec slow_clock(void *user)
{
	struct gate *gate = user;
	struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};

	if (!pthread_equal(gate->loop, pthread_self())) {
		pthread_mutex_lock(&gate->mutex);
		gate->waiting++;
		pthread_cond_broadcast(&gate->changed);
		pthread_mutex_unlock(&gate->mutex);
		(void)nanosleep(&moment, NULL);
		atomic_fetch_add(&gate->broken, atomic_load(&gate->closed));
	}
	return clock_system().wall(NULL);
}

static void count_line(dw_log_level level, const char *line, void *user)
{
	struct gate *gate = user;

	(void)level;
	(void)line;
	atomic_fetch_add(&gate->broken, atomic_load(&gate->closed));
}

static dw *open_hooked(struct gate *gate, dw_usec (*clock)(void *user))
{
	dw_options options;

	*gate = (struct gate){.mutex = PTHREAD_MUTEX_INITIALIZER,
			      .changed = PTHREAD_COND_INITIALIZER,
			      .loop = pthread_self()};
	options = seen_options(&gate->seen);
	options.workers = 1;
	options.clock = clock;
	options.clock_user = gate;
	options.on_log = count_line;
	options.on_log_user = gate;
	options.resize = count_blocks;
	options.resize_user = gate;
	assert_int_equal(dw_open(&gate->seen.d, &options, NULL), DW_OK);
	return gate->seen.d;
}

static dw_verdict count_only(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;

	(void)d;
	(void)firing;
	atomic_fetch_add(&gate->starts, 1);
	return DW_DONE;
}

static void no_clock_is_read_after_close(void **state)
{
	struct gate gate;
	dw *d = open_hooked(&gate, slow_clock);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", count_only, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	turn_until_begun(&gate, 1);
	(void)dw_close(d, 0); /* the handler may have ended in time */
	atomic_store(&gate.closed, 1);
	await_freed(&gate);
	assert_int_equal(atomic_load(&gate.broken), 0);
}

static dw_verdict call_wrongly(dw *d, const dw_firing *firing, void *user)
{
	struct gate *gate = user;

	(void)firing;
	pass(gate);
	gate->status = dw_cancel(d, "", NULL, NULL);
	return DW_DONE;
}

static void no_line_is_logged_after_close(void **state)
{
	struct gate gate;
	dw *d = open_hooked(&gate, NULL);

	(void)state;
	assert_int_equal(dw_on_worker(d, "t", call_wrongly, &gate), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	turn_until_begun(&gate, 1);
	assert_int_equal(dw_close(d, 0), DW_ETIMEOUT);
	atomic_store(&gate.closed, 1);
	open_for(&gate, 1);
	await_freed(&gate);
	assert_int_equal(gate.status, DW_EINVAL);
	assert_int_equal(atomic_load(&gate.broken), 0);
}

static void options_of_workers_are_checked(void **state)
{
	char message[DW_MESSAGE_SIZE];
	struct seen seen;
	dw_options options = seen_options(&seen);
	dw *d;

	(void)state;
	options.workers = 257;
	assert_int_equal(dw_open(&d, &options, message), DW_EINVAL);
	assert_non_null(strstr(message, "options.workers"));
	options.workers = (unsigned)environment_scaled(256);
	assert_int_equal(dw_open(&d, &options, message), DW_OK);
	assert_int_equal(dw_on_worker(d, NULL, count_start, NULL), DW_EINVAL);
	assert_int_equal(dw_close(d, 0), DW_OK);
	options.store = "no such store";
	assert_int_equal(dw_open(&d, &options, message), DW_EINVAL); /* and the threads end */
	options.store = "memory:";
	options.workers = 0;
	assert_int_equal(dw_open(&d, &options, message), DW_OK);
	assert_int_equal(dw_on_worker(d, "t", count_start, NULL), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(d), "options.workers"));
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static dw_verdict stop_from_worker(dw *d, const dw_firing *firing, void *user)
{
	(void)firing;
	(void)user;
	dw_stop(d);
	return DW_DONE;
}

static void standby_that_took_over_has_its_workers(void **state)
{
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .role = DW_STANDBY, .workers = 1};
	dw *d = NULL;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on_worker(d, "t", stop_from_worker, NULL), DW_OK);
	assert_int_equal(dw_after(d, "t", NULL, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK); /* until it was delivered */
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slow_handler_delays_nobody),
	    cmocka_unit_test(many_deliveries_are_each_started_once),
	    cmocka_unit_test(clock_set_back_before_the_start_is_seen),
	    cmocka_unit_test(handler_calls_what_any_thread_may),
	    cmocka_unit_test(firing_lives_until_its_handler_returns),
	    cmocka_unit_test(signals_are_the_programs),
	    cmocka_unit_test(close_waits_for_the_handlers_that_run),
	    cmocka_unit_test(handler_that_outlives_its_handle_frees_it),
	    cmocka_unit_test(no_clock_is_read_after_close),
	    cmocka_unit_test(no_line_is_logged_after_close),
	    cmocka_unit_test(standby_that_took_over_has_its_workers),
	    cmocka_unit_test(options_of_workers_are_checked),
	};

	return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
