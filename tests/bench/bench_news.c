/*
 * bench_news.c: how soon an owner hears of what another process puts. A client puts N timers
 * (2,000), due at once, one after the other, a random while apart; the owner waits for them. From
 * the client's call to the start of the handler: on the way the timer is stored, the owner is told,
 * reads it, and claims it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench/bench_home.h"
#include "bench/bench_support.h"
#include "durawheel/durawheel.h"

#define ROUNDS 5
#define APART_MAX DW_MILLISECONDS(4)

enum { P50, P99, WORST, METRICS };

static const char *const metric_names[METRICS] = {"p50", "p99", "worst"};

struct run {
	size_t n;
	size_t fired;
	dw_usec *delays;
};

static dw_usec wall(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (dw_usec)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- The client ---------------------------------------------------------------------------- */

static void pause_for(dw_usec time)
{
	struct timespec patience = {.tv_nsec = time * 1000};

	(void)nanosleep(&patience, NULL);
}

static void be_client(const char *url, size_t n)
{
	dw_options options = {
	    .size = sizeof options, .store = url, .name = BENCH_NAME, .role = DW_CLIENT};
	struct rng rng = {.state = 1};
	dw *d;

	bench_require(dw_open(&d, &options, NULL) == DW_OK, "dw_open of the client");
	for (size_t i = 0; i < n; i++) {
		bench_require(dw_at(d, "news", NULL, wall(), "x", 1) == DW_OK, "dw_at");
		bench_require(dw_sync(d, DW_SECONDS(60)) == DW_OK, "dw_sync");
		pause_for((dw_usec)rng_below(&rng, APART_MAX));
	}
	bench_require(dw_close(d, DW_SECONDS(10)) == DW_OK, "dw_close of the client");
	exit(0);
}

/* ---- The owner ----------------------------------------------------------------------------- */

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct run *run = user;

	run->delays[run->fired++] = wall() - firing->due;
	if (run->fired == run->n)
		dw_stop(d);
	return DW_DONE;
}

static int by_value(const void *a, const void *b)
{
	dw_usec x = *(const dw_usec *)a;
	dw_usec y = *(const dw_usec *)b;

	return (x > y) - (x < y);
}

static void run_round(struct run *run, struct bench_home *home, struct bench_figure figures[])
{
	dw *d = bench_open(home, NULL, NULL);
	pid_t client;
	int status;

	run->fired = 0;
	bench_require(dw_on(d, "news", on_due, run) == DW_OK, "dw_on");
	client = fork();
	bench_require(client >= 0, "fork");
	if (client == 0)
		be_client(home->url, run->n);
	bench_require(dw_run(d) == DW_OK, "dw_run");
	bench_require(waitpid(client, &status, 0) == client && status == 0, "the client ended");
	bench_require(dw_close(d, DW_SECONDS(10)) == DW_OK, "dw_close");
	bench_home_clear(home);
	qsort(run->delays, run->n, sizeof *run->delays, by_value);
	figures[P50].rounds[figures[P50].count++] = (double)run->delays[run->n / 2];
	figures[P99].rounds[figures[P99].count++] = (double)run->delays[run->n * 99 / 100];
	figures[WORST].rounds[figures[WORST].count++] = (double)run->delays[run->n - 1];
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 2000);
	struct bench_figure figures[METRICS] = {{0}};
	struct run run = {.n = options.n};
	struct bench_home home;

	bench_require(run.n >= 100, "--n is at least 100");
	run.delays = bench_alloc(run.n, sizeof *run.delays);
	bench_home_open(&home, options.store);
	for (int round = 0; round < ROUNDS; round++)
		run_round(&run, &home, figures);
	bench_home_end(&home);
	for (int i = 0; i < METRICS; i++) {
		struct bench_metric metric = {"news", "client", metric_names[i], "us", options.n};

		figures[i].system = "durawheel";
		bench_report(&options, &metric, &figures[i], 1);
	}
	free(run.delays);
	return 0;
}
