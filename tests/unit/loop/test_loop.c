/* The loop's own sleep: until it is woken, until its timer, and spinning for the last part. Both
 * clocks are the test's, and go on by a microsecond each time the wall clock is read, so what was
 * spun can be told from what was slept. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop/loop.h"

#define MOST DW_SPIN_MAX

struct fixture {
	struct loop *loop;
	struct loop_port port;
	dw_usec now;
	dw_usec steady;
	dw_usec pace; /* how far each look at the wall clock moves it */
	dw_usec looks;
	dw_usec wake_at; /* the wall clock wakes the loop then: another thread, as it were */
};

static dw_usec read_wall(void *user)
{
	struct fixture *f = user;

	f->looks++;
	f->steady++;
	f->now += f->pace;
	if (f->wake_at != 0 && f->now >= f->wake_at) {
		f->wake_at = 0;
		f->port.wake(f->port.user);
	}
	return f->now;
}

static dw_usec read_steady(void *user)
{
	const struct fixture *f = user;

	return f->steady;
}

static void begin(struct fixture *f)
{
	struct alloc alloc = alloc_default();
	struct clock clock = clock_system();

	*f = (struct fixture){.now = DW_DAYS(20000), .pace = 1};
	clock_hook(&clock, read_wall, f);
	clock.steady = read_steady;
	assert_int_equal(loop_new(&f->loop, &alloc, &clock, 1), DW_OK);
	f->port = loop_port(f->loop);
}

static void sleep_spins_until_the_firing(void **state)
{
	struct fixture f;
	dw_usec due;

	(void)state;
	begin(&f);
	due = f.now + MOST / 2;
	f.port.arm(f.port.user, due);
	loop_sleep(f.loop, due, MOST);
	assert_true(f.now >= due && f.now <= due + 1);
	loop_free(f.loop);
}

static void sleep_without_spin_does_not_look_at_the_clock(void **state)
{
	struct fixture f;
	dw_usec due;

	(void)state;
	begin(&f);
	due = f.now + 1;
	f.port.arm(f.port.user, due);
	f.looks = 0;
	loop_sleep(f.loop, due, 0);
	assert_int_equal(f.looks, 0);
	loop_free(f.loop);
}

/* A turn that is needed for something else, before the firing, is not worth a busy core. */
static void sleep_spins_for_firings_only(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.port.arm(f.port.user, f.now + 1);
	f.looks = 0;
	loop_sleep(f.loop, f.now + MOST / 2, MOST);
	assert_int_equal(f.looks, 0);
	loop_free(f.loop);
}

static void wake_up_ends_a_spin(void **state)
{
	struct fixture f;
	dw_usec due;

	(void)state;
	begin(&f);
	due = f.now + MOST / 2;
	f.port.arm(f.port.user, due);
	f.wake_at = due - MOST / 4;
	loop_sleep(f.loop, due, MOST);
	assert_true(f.now < due);
	loop_drain(f.loop);
	f.port.arm(f.port.user, due);
	loop_sleep(f.loop, due, MOST); /* the wake-up is over: it spins again */
	assert_true(f.now >= due);
	loop_free(f.loop);
}

static void clock_set_back_in_a_spin_does_not_spin_for_ever(void **state)
{
	struct fixture f;
	dw_usec due;

	(void)state;
	begin(&f);
	due = f.now + MOST / 2;
	f.pace = -1;
	f.port.arm(f.port.user, due);
	f.looks = 0;
	loop_sleep(f.loop, due, MOST);
	assert_in_range(f.looks, MOST, MOST + 2);
	loop_free(f.loop);
}

static void stop_wakes_and_is_taken_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.port.arm(f.port.user, DW_NEVER);
	assert_int_equal(loop_take_stop(f.loop), 0);
	loop_stop(f.loop);
	loop_sleep(f.loop, DW_NEVER, MOST);
	assert_int_equal(loop_take_stop(f.loop), 1);
	assert_int_equal(loop_take_stop(f.loop), 0);
	loop_free(f.loop);
}

/* A program that waited in dw_open() is not overdue since then. */
static void first_turn_is_due_when_the_loop_begins(void **state)
{
	const struct clock real = clock_system();
	struct fixture f;
	dw_usec before;

	(void)state;
	begin(&f);
	f.port.wake(f.port.user);
	while (loop_overdue(f.loop) < 20000)
		;
	before = real.wall(real.user);
	loop_begin(f.loop);
	assert_true(loop_overdue(f.loop) <= real.wall(real.user) - before);
	assert_true(loop_is_woken(f.loop));
	loop_free(f.loop);
}

static void what_is_watched_wakes_until_it_is_not(void **state)
{
	struct fixture f;
	struct pollfd poll_fd = {.events = POLLIN};
	int ends[2];

	(void)state;
	begin(&f);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(loop_watch(f.loop, ends[0]), DW_OK);
	f.port.arm(f.port.user, DW_NEVER);
	poll_fd.fd = loop_fd(f.loop);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(poll(&poll_fd, 1, 0), 1);
	loop_unwatch(f.loop, ends[0]);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_int_equal(loop_watch(f.loop, -1), DW_ESYS);
	(void)close(ends[0]);
	(void)close(ends[1]);
	loop_free(f.loop);
}

/* open_real: a loop on the system's clocks. */
static struct loop *open_real(void)
{
	struct alloc alloc = alloc_default();
	struct clock clock = clock_system();
	struct loop *loop = NULL;

	assert_int_equal(loop_new(&loop, &alloc, &clock, 0), DW_OK);
	return loop;
}

/* Once it has expired and was read, the timerfd stands at nothing: the same time must be armed as
 * any other. A clock that was set back before the turn makes the engine ask for it. */
static void time_that_has_passed_is_armed_again(void **state)
{
	struct loop *loop = open_real();
	struct loop_port port = loop_port(loop);
	struct pollfd readable = {.fd = loop_fd(loop), .events = POLLIN};
	dw_usec past = clock_system().wall(NULL) - 1;

	(void)state;
	for (int i = 0; i < 3; i++) {
		port.arm(port.user, past);
		assert_int_equal(poll(&readable, 1, 10000), 1); /* at once */
		loop_drain(loop);
		assert_int_equal(poll(&readable, 1, 0), 0);
	}
	loop_free(loop);
}

/* settime_flags: of this process's one timerfd, as the kernel says; -1: none. */
static int settime_flags(void)
{
	int flags = -1;

	for (int fd = 0; fd < 64 && flags < 0; fd++) {
		char line[256];
		FILE *file;

		(void)snprintf(line, sizeof line, "/proc/self/fdinfo/%d", fd);
		file = fopen(line, "r");
		while (file && fgets(line, sizeof line, file))
			(void)sscanf(line, "settime flags: %d", &flags);
		if (file)
			(void)fclose(file);
	}
	return flags;
}

/* No test may set the machine's clock; that the kernel is asked to tell of it can be seen. */
static void timer_is_told_when_the_clock_is_set(void **state)
{
	struct loop *loop = open_real();
	struct loop_port port = loop_port(loop);

	(void)state;
	port.arm(port.user, DW_NEVER);
	assert_int_equal(settime_flags(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	port.arm(port.user, clock_system().wall(NULL) + DW_HOURS(1));
	assert_int_equal(settime_flags(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sleep_spins_until_the_firing),
	    cmocka_unit_test(sleep_without_spin_does_not_look_at_the_clock),
	    cmocka_unit_test(sleep_spins_for_firings_only),
	    cmocka_unit_test(wake_up_ends_a_spin),
	    cmocka_unit_test(clock_set_back_in_a_spin_does_not_spin_for_ever),
	    cmocka_unit_test(stop_wakes_and_is_taken_once),
	    cmocka_unit_test(first_turn_is_due_when_the_loop_begins),
	    cmocka_unit_test(time_that_has_passed_is_armed_again),
	    cmocka_unit_test(timer_is_told_when_the_clock_is_set),
	    cmocka_unit_test(what_is_watched_wakes_until_it_is_not),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
