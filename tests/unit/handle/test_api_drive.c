/* The three ways to drive a handle: dw_run, the caller's libev loop, and any other loop by dw_fd
 * and dw_turn. What is said here of one holds for all of them. */
#include "support/cmocka.h"

#include <ev.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "durawheel/durawheel.h"

#define PATIENCE DW_SECONDS(20) /* far beyond what a loaded machine needs */
#define WATCHDOG 60             /* seconds: a loop that is never woken is killed */

enum way { BY_RUN, BY_EV_LOOP, BY_FD, WAYS };

struct driven {
	enum way way;
	dw *d;
	struct ev_loop *ev;
	int starts;
	int answers;
	int status; /* of the last answer */
	int steps;
	dw_verdict verdict;
	dw_token token; /* of the last start */
	dw_usec offset; /* of the hooked clock */
	dw_usec jump;   /* what the next start moves it by */
};

/* over ends the driving: what was waited for has come. */
static void over(struct driven *s)
{
	if (s->way == BY_RUN)
		dw_stop(s->d);
	if (s->way == BY_EV_LOOP)
		ev_break(s->ev, EVBREAK_ALL);
}

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct driven *s = user;

	(void)d;
	assert_true(firing->now >= firing->due);
	s->starts++;
	s->token = *firing->token;
	s->offset += s->jump;
	s->jump = 0;
	over(s);
	return s->verdict;
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	struct driven *s = user;

	(void)d;
	s->answers++;
	s->status = result->status;
	over(s);
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct driven *s = user;

	(void)d;
	s->steps += event->kind == DW_EVENT_CLOCK_STEPPED;
}

static dw_usec hooked(void *user)
{
	const struct driven *s = user;
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* it exists */
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + s->offset;
}

/* drive until one more start or answer. */
static void drive(struct driven *s)
{
	struct pollfd fd = {.fd = dw_fd(s->d), .events = POLLIN};
	int before = s->starts + s->answers;

	/* What ended in a turn of rest() has asked dw_run to stop: the next one returns at once. */
	while (s->starts + s->answers == before) {
		if (s->way == BY_RUN) {
			assert_int_equal(dw_run(s->d), DW_OK);
		} else if (s->way == BY_EV_LOOP) {
			(void)ev_run(s->ev, 0); /* whether watchers are left: ours */
		} else {
			assert_int_equal(poll(&fd, 1, WATCHDOG * 1000), 1);
			assert_int_equal(dw_turn(s->d), DW_OK);
		}
	}
}

static bool is_readable(const struct driven *s)
{
	struct pollfd fd = {.fd = dw_fd(s->d), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

/* rest: until nothing is to be done, so that what comes next makes the descriptor readable. */
static void rest(struct driven *s)
{
	while (is_readable(s))
		assert_int_equal(dw_turn(s->d), DW_OK);
}

static void begin(struct driven *s, enum way way, unsigned backend)
{
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .on_event = on_event,
			      .on_event_user = s,
			      .clock = hooked,
			      .clock_user = s};
	char message[DW_MESSAGE_SIZE];

	*s = (struct driven){.way = way};
	if (way == BY_EV_LOOP) {
		/* The kernel may lack a backend that libev knows. */
		s->ev = ev_loop_new(backend);
		if (!s->ev)
			s->ev = ev_loop_new(EVBACKEND_EPOLL);
		assert_non_null(s->ev);
		options.ev_loop = s->ev;
	}
	if (dw_open(&s->d, &options, message) != DW_OK)
		fail_msg("%s", message);
	assert_int_equal(dw_on(s->d, "t", on_due, s), DW_OK);
	rest(s);
	(void)alarm(WATCHDOG);
}

static void end(struct driven *s)
{
	(void)alarm(0);
	assert_int_equal(dw_close(s->d, PATIENCE), DW_OK);
	if (s->ev)
		ev_loop_destroy(s->ev);
}

/* ---- Calls outside a turn ------------------------------------------------------------------ */

static void put(struct driven *s, const char *topic, const char *id, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = topic, .due = hooked(s) + delay};

	rest(s);
	assert_int_equal(dw_put(s->d, &timer, on_done, s), DW_OK);
	assert_true(is_readable(s));
	drive(s);
	assert_int_equal(s->status, DW_OK);
	rest(s);
}

static void put_outside_a_turn_is_written(struct driven *s)
{
	put(s, "t", "a", DW_DAYS(1));
	assert_int_equal(s->answers, 1);
}

static void cancel_outside_a_turn_is_written(struct driven *s)
{
	put(s, "t", "a", DW_DAYS(1));
	assert_int_equal(dw_cancel(s->d, "a", on_done, s), DW_OK);
	assert_true(is_readable(s));
	drive(s);
	assert_int_equal(s->status, DW_OK);
	/* One that is answered without the store. */
	rest(s);
	assert_int_equal(dw_cancel(s->d, "a", on_done, s), DW_OK);
	assert_true(is_readable(s));
	drive(s);
	assert_int_equal(s->status, DW_ENOENT);
}

static void settle_outside_a_turn_is_written(struct driven *s)
{
	s->verdict = DW_HOLD;
	put(s, "t", "a", 0);
	while (s->starts == 0)
		drive(s);
	rest(s);
	assert_int_equal(dw_settle(s->d, &s->token, DW_DONE, -1, on_done, s), DW_OK);
	assert_true(is_readable(s));
	drive(s);
	assert_int_equal(s->status, DW_OK);
}

static void handler_outside_a_turn_fires_what_waits(struct driven *s)
{
	put(s, "late", "a", 0);
	assert_int_equal(s->starts, 0);
	assert_int_equal(dw_on(s->d, "late", on_due, s), DW_OK);
	assert_true(is_readable(s));
	drive(s);
	assert_int_equal(s->starts, 1);
}

static void timer_fires_on_time(struct driven *s)
{
	put(s, "t", "a", DW_MILLISECONDS(20));
	while (s->starts == 0)
		drive(s);
	assert_int_equal(s->starts, 1);
}

/* ---- A clock that is set ------------------------------------------------------------------- */

static void clock_forward_a_year_fires_what_is_due_then(struct driven *s)
{
	put(s, "t", "day", DW_DAYS(1));
	put(s, "t", "month", DW_DAYS(30));
	put(s, "t", "later", DW_DAYS(400));
	s->jump = DW_DAYS(365);
	put(s, "t", "now", 0);
	while (s->starts < 3)
		drive(s);
	rest(s);
	assert_int_equal(s->starts, 3);
	assert_int_equal(s->steps, 1);
}

static void clock_back_a_year_fires_nothing_early(struct driven *s)
{
	put(s, "t", "soon", DW_MINUTES(1));
	s->jump = -DW_DAYS(365);
	put(s, "t", "now", 0);
	while (s->starts < 1)
		drive(s);
	rest(s);
	put(s, "t", "then", 1000); /* by the clock as it is now */
	while (s->starts < 2)
		drive(s);
	rest(s);
	assert_string_equal(s->token.id, "then");
	s->jump = DW_DAYS(365) + DW_MINUTES(1);
	put(s, "t", "right", 0);
	while (s->starts < 4)
		drive(s);
	assert_int_equal(s->steps, 2);
}

/* in_every_way: each has a handle of its own, and libev each backend that it knows here. */
static void in_every_way(void (*test)(struct driven *))
{
	unsigned backends = ev_supported_backends();
	struct driven s;

	for (enum way way = BY_RUN; way < WAYS; way++) {
		for (unsigned backend = 1; backend != 0 && backend <= EVBACKEND_MASK;
		     backend <<= 1) {
			if (way == BY_EV_LOOP ? !(backend & backends) : backend != 1)
				continue;
			begin(&s, way, backend | EVFLAG_NOENV);
			test(&s);
			end(&s);
		}
	}
}

#define IN_EVERY_WAY(test)                                                                         \
	static void test##_in_every_way(void **state)                                              \
	{                                                                                          \
		(void)state;                                                                       \
		in_every_way(test);                                                                \
	}

IN_EVERY_WAY(put_outside_a_turn_is_written)
IN_EVERY_WAY(cancel_outside_a_turn_is_written)
IN_EVERY_WAY(settle_outside_a_turn_is_written)
IN_EVERY_WAY(handler_outside_a_turn_fires_what_waits)
IN_EVERY_WAY(timer_fires_on_time)
IN_EVERY_WAY(clock_forward_a_year_fires_what_is_due_then)
IN_EVERY_WAY(clock_back_a_year_fires_nothing_early)

/* ---- The caller's libev loop --------------------------------------------------------------- */

static void run_on_a_callers_loop_is_refused(void **state)
{
	struct driven s;

	(void)state;
	begin(&s, BY_EV_LOOP, EVFLAG_AUTO);
	assert_int_equal(dw_run(s.d), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(s.d), "ev_run"));
	end(&s);
}

static void close_takes_the_watcher_off_the_loop(void **state)
{
	struct driven s;

	(void)state;
	begin(&s, BY_EV_LOOP, EVFLAG_AUTO);
	assert_int_equal(dw_after(s.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_not_equal(ev_run(s.ev, EVRUN_NOWAIT), 0); /* a watcher is left */
	assert_int_equal(dw_after(s.d, "t", "b", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_close(s.d, PATIENCE), DW_OK);
	assert_int_equal(ev_run(s.ev, 0), 0); /* none: it returns */
	(void)alarm(0);
	ev_loop_destroy(s.ev);
}

static void failed_open_leaves_the_loop_alone(void **state)
{
	dw_options options = {.size = sizeof options, .store = "memory:", .role = DW_CLIENT};
	dw *d;

	(void)state;
	options.ev_loop = ev_loop_new(EVFLAG_AUTO);
	assert_int_equal(dw_open(&d, &options, NULL), DW_EINVAL);
	(void)alarm(WATCHDOG);
	assert_int_equal(ev_run(options.ev_loop, 0), 0);
	(void)alarm(0);
	ev_loop_destroy(options.ev_loop);
}

static void sync_needs_no_other_loop(void **state)
{
	struct driven s;

	(void)state;
	begin(&s, BY_EV_LOOP, EVFLAG_AUTO);
	assert_int_equal(dw_after(s.d, "t", "a", DW_DAYS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(s.d, PATIENCE), DW_OK);
	end(&s);
}

/* A child that goes on with its copy of the loop, told so as libev wants it, fires nothing. */
static void forked_child_leaves_the_loop(void **state)
{
	struct driven s;
	pid_t child;
	int status;

	(void)state;
	begin(&s, BY_EV_LOOP, EVFLAG_AUTO);
	assert_int_equal(dw_after(s.d, "t", "a", 0, NULL, 0), DW_OK);
	child = fork();
	if (child == 0) {
		(void)alarm(WATCHDOG); /* not inherited */
		ev_loop_fork(s.ev);
		(void)ev_run(s.ev, 0); /* returns when the watcher is gone */
		/* By another program: a leak checker would not like what is left on purpose. */
		(void)execlp(s.starts == 0 ? "true" : "false", "child", (char *)NULL);
		_exit(127); /* there is no such program */
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	while (s.starts == 0)
		drive(&s);
	end(&s);
}

static dw_verdict run_nested(dw *d, const dw_firing *firing, void *user)
{
	struct driven *s = user;

	(void)firing;
	assert_int_equal(dw_after(d, "t", "b", 0, NULL, 0), DW_OK);
	dw_stop(d); /* a wake-up in the middle of a turn */
	for (int i = 0; i < 10; i++)
		(void)ev_run(s->ev, EVRUN_NOWAIT); /* whether watchers are left: ours */
	return DW_DONE;
}

/* A handler that runs the loop it is called from gets no turn in it, and no wake-up is lost. */
static void nested_loop_in_a_handler_loses_nothing(void **state)
{
	struct driven s;

	(void)state;
	begin(&s, BY_EV_LOOP, EVFLAG_AUTO);
	assert_int_equal(dw_on(s.d, "nested", run_nested, &s), DW_OK);
	assert_int_equal(dw_after(s.d, "nested", "a", 0, NULL, 0), DW_OK);
	while (s.starts == 0)
		drive(&s);
	end(&s);
}

/* ---- Spinning ------------------------------------------------------------------------------ */

static void refused(const dw_options *options, const char *word)
{
	char message[DW_MESSAGE_SIZE];
	dw *d;

	assert_int_equal(dw_open(&d, options, message), DW_EINVAL);
	if (!strstr(message, word))
		fail_msg("\"%s\" does not say \"%s\"", message, word);
}

static void spin_of_a_wrong_size_is_refused(void **state)
{
	dw_options options = {.size = sizeof options, .store = "memory:", .spin_us = -1};

	(void)state;
	refused(&options, "spin_us is -1");
	options.spin_us = DW_SPIN_MAX + 1;
	refused(&options, "0 to 1000");
	options.spin_us = 50;
	options.ev_loop = ev_loop_new(EVFLAG_AUTO);
	refused(&options, "ev_loop");
	ev_loop_destroy(options.ev_loop);
}

static void spinning_run_fires_and_stops(void **state)
{
	struct driven s = {.way = BY_RUN};
	dw_options options = {.size = sizeof options, .store = "memory:", .spin_us = DW_SPIN_MAX};

	(void)state;
	(void)alarm(WATCHDOG);
	assert_int_equal(dw_open(&s.d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(s.d, "t", on_due, &s), DW_OK);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(dw_after(s.d, "t", NULL, 700 * i, NULL, 0), DW_OK);
		assert_int_equal(dw_run(s.d), DW_OK);
	}
	assert_int_equal(s.starts, 20);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(put_outside_a_turn_is_written_in_every_way),
	    cmocka_unit_test(cancel_outside_a_turn_is_written_in_every_way),
	    cmocka_unit_test(settle_outside_a_turn_is_written_in_every_way),
	    cmocka_unit_test(handler_outside_a_turn_fires_what_waits_in_every_way),
	    cmocka_unit_test(timer_fires_on_time_in_every_way),
	    cmocka_unit_test(clock_forward_a_year_fires_what_is_due_then_in_every_way),
	    cmocka_unit_test(clock_back_a_year_fires_nothing_early_in_every_way),
	    cmocka_unit_test(run_on_a_callers_loop_is_refused),
	    cmocka_unit_test(close_takes_the_watcher_off_the_loop),
	    cmocka_unit_test(failed_open_leaves_the_loop_alone),
	    cmocka_unit_test(sync_needs_no_other_loop),
	    cmocka_unit_test(forked_child_leaves_the_loop),
	    cmocka_unit_test(nested_loop_in_a_handler_loses_nothing),
	    cmocka_unit_test(spin_of_a_wrong_size_is_refused),
	    cmocka_unit_test(spinning_run_fires_and_stops),
	};

	return cmocka_run_group_tests_name("api_drive", tests, NULL, NULL);
}
