/*
 * bench_late.c: how late timers fire. N timers at random microseconds over N ms (20,000 over 20 s):
 * durable ones of durawheel, in a SQLite file or in a redis-server (--store), and volatile ones of
 * libev's ev_timer, in turns of the same random deadlines; and a bare timerfd that is armed for
 * one deadline after the other and does nothing else: no program can be less late on this machine,
 * and where it is late by much the core is not idle, or the machine's host is not. The loop's
 * thread stays on one core, as a service would pin it; the store's thread, or server, may use the
 * others. Lateness is the wall clock at the start of the callback minus the deadline; below zero is
 * early.
 */
#include <ev.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench/bench_home.h"
#include "bench/bench_support.h"
#include "durawheel/durawheel.h"

#define ROUNDS 5
#define HEAD_START DW_MILLISECONDS(500) /* puts are over before the first deadline */

enum { DURAWHEEL, LIBEV, TIMERFD, SYSTEMS };
enum { P50, P99, P999, WORST, EARLY, METRICS };

static const char *const metric_names[METRICS] = {"p50", "p99", "p99.9", "worst", "early"};
static const char *const metric_units[METRICS] = {"us", "us", "us", "us", "timers"};

/* One round: the deadlines, and what came of them. */
struct run {
	size_t n;
	size_t fired;
	dw_usec *delays; /* from the start of the round */
	dw_usec *late;
	dw_usec start;
	dw *d;
	struct ev_loop *loop;
};

struct timer_slot {
	struct ev_timer timer;
	struct run *run;
	size_t index;
};

static dw_usec wall(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (dw_usec)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- durawheel ----------------------------------------------------------------------------- */

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct run *run = user;

	run->late[run->fired++] = wall() - firing->due;
	if (run->fired == run->n)
		dw_stop(d);
	return DW_DONE;
}

static void put_all(struct run *run)
{
	char id[32];

	for (size_t i = 0; i < run->n; i++) {
		(void)snprintf(id, sizeof id, "late:%zu", i);
		bench_require(
		    dw_at(run->d, "late", id, run->start + run->delays[i], id, strlen(id)) == DW_OK,
		    "dw_at");
	}
	bench_require(dw_sync(run->d, DW_SECONDS(60)) == DW_OK, "dw_sync");
}

static void run_durawheel(struct run *run, struct bench_home *home)
{
	/* The store's thread is made before this one is pinned, and so is not. */
	run->d = bench_open(home, NULL, NULL);
	bench_pin();
	bench_require(dw_on(run->d, "late", on_due, run) == DW_OK, "dw_on");
	run->start = wall() + HEAD_START + (dw_usec)run->n * 20;
	put_all(run);
	bench_require(dw_run(run->d) == DW_OK, "dw_run");
	bench_require(dw_close(run->d, DW_SECONDS(10)) == DW_OK, "dw_close");
	bench_home_clear(home);
}

/* ---- libev --------------------------------------------------------------------------------- */

static void on_ev(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct timer_slot *slot = (struct timer_slot *)timer;
	struct run *run = slot->run;

	(void)events;
	run->late[run->fired++] = wall() - (run->start + run->delays[slot->index]);
	if (run->fired == run->n)
		ev_break(loop, EVBREAK_ALL);
}

static void run_libev(struct run *run)
{
	struct timer_slot *slots = calloc(run->n, sizeof *slots);
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);

	bench_require(slots && loop, "memory");
	bench_pin();
	run->start = wall() + HEAD_START;
	for (size_t i = 0; i < run->n; i++) {
		slots[i].run = run;
		slots[i].index = i;
		ev_now_update(loop);
		/* The deadline on ev_timer's terms: seconds from the loop's now. */
		ev_timer_init(&slots[i].timer, on_ev,
			      (double)(run->start + run->delays[i]) / 1e6 - ev_now(loop), 0.);
		ev_timer_start(loop, &slots[i].timer);
	}
	(void)ev_run(loop, 0);
	ev_loop_destroy(loop);
	free(slots);
}

/* ---- A bare timerfd ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	dw_usec x = *(const dw_usec *)a;
	dw_usec y = *(const dw_usec *)b;

	return (x > y) - (x < y);
}

static void sleep_until(int timer, int poll, dw_usec at)
{
	struct itimerspec due = {.it_value = {at / 1000000, at % 1000000 * 1000}};
	struct epoll_event event;
	uint64_t expiries;

	bench_require(timerfd_settime(timer, TFD_TIMER_ABSTIME, &due, NULL) == 0, "settime");
	bench_require(epoll_wait(poll, &event, 1, -1) == 1, "epoll_wait");
	bench_require(read(timer, &expiries, sizeof expiries) == sizeof expiries, "timerfd");
}

static void run_timerfd(struct run *run)
{
	int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	int poll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};

	bench_require(epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event) == 0, "epoll_ctl");
	bench_pin();
	qsort(run->delays, run->n, sizeof *run->delays, by_value);
	run->start = wall() + HEAD_START;
	for (; run->fired < run->n; run->fired++) {
		dw_usec at = run->start + run->delays[run->fired];

		if (wall() < at)
			sleep_until(timer, poll, at);
		run->late[run->fired] = wall() - at;
	}
	(void)close(poll);
	(void)close(timer);
}

/* ---- Rounds -------------------------------------------------------------------------------- */

static void note(struct run *run, const char *system, struct bench_figure *figures)
{
	size_t early = 0;
	double values[METRICS];

	bench_require(run->fired == run->n, "every timer fired once");
	qsort(run->late, run->n, sizeof *run->late, by_value);
	while (early < run->n && run->late[early] < 0)
		early++;
	values[P50] = (double)run->late[run->n / 2];
	values[P99] = (double)run->late[run->n * 99 / 100];
	values[P999] = (double)run->late[run->n * 999 / 1000];
	values[WORST] = (double)run->late[run->n - 1];
	values[EARLY] = (double)early;
	for (int i = 0; i < METRICS; i++) {
		figures[i].system = system;
		figures[i].rounds[figures[i].count++] = values[i];
	}
	run->fired = 0;
}

static void unpin(void)
{
	cpu_set_t all;

	CPU_ZERO(&all);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	(void)pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

static void run_round(struct run *run, struct bench_home *home,
		      struct bench_figure figures[SYSTEMS][METRICS])
{
	unpin();
	run_durawheel(run, home);
	note(run, "durawheel", figures[DURAWHEEL]);
	unpin();
	run_libev(run);
	note(run, "libev", figures[LIBEV]);
	unpin();
	run_timerfd(run);
	note(run, "timerfd", figures[TIMERFD]);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 20000);
	static struct bench_figure figures[SYSTEMS][METRICS];
	struct run run = {.n = options.n / ROUNDS};
	struct rng rng = {.state = 1};
	struct bench_home home;

	bench_require(run.n >= 10, "--n is at least 50");
	bench_home_open(&home, options.store);
	run.delays = bench_alloc(run.n, sizeof *run.delays);
	run.late = bench_alloc(run.n, sizeof *run.late);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < run.n; i++)
			run.delays[i] = (dw_usec)rng_below(&rng, run.n * 1000);
		run_round(&run, &home, figures);
	}
	for (int i = 0; i < METRICS; i++) {
		struct bench_figure beside[SYSTEMS] = {figures[DURAWHEEL][i], figures[LIBEV][i],
						       figures[TIMERFD][i]};
		struct bench_metric metric = {"late", "random", metric_names[i], metric_units[i],
					      options.n};

		bench_report(&options, &metric, beside, SYSTEMS);
	}
	bench_home_end(&home);
	return 0;
}
