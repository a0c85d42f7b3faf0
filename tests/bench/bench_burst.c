/*
 * bench_burst.c: how fast a crowd is delivered. N timers of 100 bytes (100,000) are stored, in a
 * SQLite file, in a redis-server or in memory (--store): from their first deadline on, how many a
 * second start their handler, which does nothing, and how many are settled, their settling
 * confirmed by the store.
 *
 * "awaited": the owner sees the deadline come, and has claimed part of them ahead of it. "backlog":
 * it has passed before their topic has a handler, so each is claimed, started and settled. All have
 * one deadline; in "-spread" each has its own, somewhere within one second. There an owner that
 * waits can fire N a second at most.
 */
#include <string.h>
#include <time.h>

#include "bench/bench_home.h"
#include "bench/bench_support.h"
#include "durawheel/durawheel.h"

enum { ROUNDS = 6 }; /* the first one is not counted */
enum { FIRED, SETTLED, METRICS };

struct workload {
	const char *name;
	bool awaited;
	dw_usec span; /* from the first deadline to the last one */
};

static const struct workload workloads[] = {{"awaited", true, 0},
					    {"awaited-spread", true, DW_SECONDS(1)},
					    {"backlog", false, 0},
					    {"backlog-spread", false, DW_SECONDS(1)}};

static const char *const metric_names[METRICS] = {"fired", "settled"};

#define HEAD_START DW_MILLISECONDS(500)
#define PUT_AT_MOST 60 /* us each, so that puts are over before the deadline */
#define PATIENCE DW_SECONDS(60)

struct burst {
	dw *d;
	size_t n;
	size_t fired;
	dw_usec start;
	dw_usec last_fired;
};

static dw_usec wall(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (dw_usec)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct burst *burst = user;

	(void)d;
	bench_require(firing->data_size == BENCH_DATA_SIZE, "the data");
	if (++burst->fired == burst->n)
		burst->last_fired = wall();
	return DW_DONE;
}

/* settle_all turns until the store has confirmed that all are settled, and says when. */
static dw_usec settle_all(struct burst *burst)
{
	dw_stats stats = {.size = sizeof stats};

	do {
		bench_wait(burst->d);
		bench_require(dw_get_stats(burst->d, &stats) == DW_OK, "dw_get_stats");
	} while (stats.settled < burst->n);
	return wall();
}

static void listen(struct burst *burst)
{
	bench_require(dw_on(burst->d, "burst", on_due, burst) == DW_OK, "dw_on");
}

static void await(struct burst *burst, dw_usec span)
{
	burst->start = wall() + HEAD_START + (dw_usec)burst->n * PUT_AT_MOST;
	listen(burst);
	bench_put_all(burst->d, "burst", burst->n, burst->start, span);
	bench_require(wall() < burst->start, "all are stored before they are due");
}

static void pile_up(struct burst *burst, dw_usec span)
{
	bench_put_all(burst->d, "burst", burst->n, wall() - span, span);
	burst->start = wall();
	listen(burst);
}

static void run_round(struct burst *burst, struct bench_home *home, const struct workload *workload,
		      double rates[METRICS])
{
	dw_usec settled;

	burst->fired = 0;
	burst->d = bench_open(home, NULL, NULL);
	if (workload->awaited)
		await(burst, workload->span);
	else
		pile_up(burst, workload->span);
	settled = settle_all(burst);
	bench_require(burst->fired == burst->n, "every timer fired once");
	bench_require(dw_close(burst->d, PATIENCE) == DW_OK, "dw_close");
	bench_home_clear(home);
	rates[FIRED] = (double)burst->n * 1e6 / (double)(burst->last_fired - burst->start);
	rates[SETTLED] = (double)burst->n * 1e6 / (double)(settled - burst->start);
}

static void run(const struct bench_options *options, struct bench_home *home,
		const struct workload *workload)
{
	struct bench_figure figures[METRICS] = {{.system = "durawheel"}, {.system = "durawheel"}};
	struct burst burst = {.n = options->n};

	for (int round = 0; round < ROUNDS; round++) {
		double rates[METRICS];

		run_round(&burst, home, workload, rates);
		for (int i = 0; i < METRICS && round > 0; i++)
			figures[i].rounds[figures[i].count++] = rates[i];
	}
	for (int i = 0; i < METRICS; i++) {
		struct bench_metric metric = {"burst", workload->name, metric_names[i], "/s",
					      options->n};

		bench_report(options, &metric, &figures[i], 1);
	}
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 100000);
	struct bench_home home;

	bench_home_open(&home, options.store);
	for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
		if (!options.workload || strcmp(options.workload, workloads[i].name) == 0)
			run(&options, &home, &workloads[i]);
	bench_home_end(&home);
	return 0;
}
