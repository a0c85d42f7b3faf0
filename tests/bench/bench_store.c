/*
 * bench_store.c: how many puts a second the Redis store confirms. N timers (100,000) of 100 bytes
 * under ids of 16 are put into 16 shards of a redis-server that appends to a file and syncs it
 * every second; beside a bare client that stores the same bytes with a ZADD and an HSET a batch of
 * the same size, and promises nothing.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_bare.h"
#include "bench/bench_home.h"

enum { ROUNDS = 6 }; /* the first one is not counted */

enum { RATE, BATCH, SERVER, METRICS };

static const char *const metric_names[METRICS] = {"confirmed", "batch", "server"};
static const char *const metric_units[METRICS] = {"/s", "timers", "us"};

#define DUE DW_HOURS(1)

/* struct round: what one system did in one round. */
struct round {
	double rate;
	double batch;     /* timers a command */
	double server_us; /* of the server's time for a timer, in the commands */
};

/* note_server takes in what the server did for n timers since it was asked last. */
static void note_server(const struct bench_home *home, struct round *round, size_t n,
			const char *first, const char *second)
{
	struct bench_commands commands;

	bench_home_commands(home, first, second, &commands);
	round->batch = commands.calls > 0 ? (double)n / commands.calls : 0;
	round->server_us = commands.us / (double)n;
}

static void put_ours(struct bench_home *home, size_t n, struct round *round)
{
	dw *d = bench_open(home, NULL, NULL);
	dw_usec due = (dw_usec)1800000000000000;
	uint64_t start;

	note_server(home, round, n, "evalsha:", "eval:");
	start = bench_ns();
	bench_put_all(d, "order.timeout", n, due, DUE);
	round->rate = (double)n * 1e9 / (double)(bench_ns() - start);
	note_server(home, round, n, "evalsha:", "eval:");
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	bench_home_clear(home);
}

/* put_bare uses the batches that ours had. */
static void put_bare(struct bench_home *home, size_t n, double batch, struct round *round)
{
	uint64_t start;

	note_server(home, round, n, "", "");
	start = bench_ns();
	bench_bare_put(home->redis, n, (size_t)(batch + 0.5));
	round->rate = (double)n * 1e9 / (double)(bench_ns() - start);
	note_server(home, round, n, "zadd:", "hset:");
	bench_home_clear(home);
}

static void note(struct bench_figure figures[], const struct round *round)
{
	const double values[METRICS] = {round->rate, round->batch, round->server_us};

	for (int i = 0; i < METRICS; i++)
		figures[i].rounds[figures[i].count++] = values[i];
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 100000);
	static struct bench_figure figures[2][METRICS];
	struct bench_home home;

	bench_home_open(&home, "redis");
	for (int i = 0; i < ROUNDS; i++) {
		struct round ours, bare;

		put_ours(&home, options.n, &ours);
		put_bare(&home, options.n, ours.batch, &bare);
		if (i == 0)
			continue;
		note(figures[0], &ours);
		note(figures[1], &bare);
	}
	bench_home_end(&home);
	for (int i = 0; i < METRICS; i++) {
		struct bench_figure pair[2] = {figures[0][i], figures[1][i]};
		struct bench_metric metric = {"store", "put", metric_names[i], metric_units[i],
					      options.n};

		pair[0].system = "durawheel";
		pair[1].system = "bare";
		bench_report(&options, &metric, pair, 2);
	}
	return 0;
}
