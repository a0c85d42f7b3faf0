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

#define DUE DW_HOURS(1)

/* calls_of: how many calls of a kind the server has seen since the last one of this. */
static double calls_of(const struct bench_home *home, const char *name)
{
	redisReply *info = redisCommand(home->redis, "INFO commandstats");
	redisReply *reset = redisCommand(home->redis, "CONFIG RESETSTAT");
	const char *at;
	double calls = 0;

	bench_require(info && reset && info->type == REDIS_REPLY_STRING, "INFO");
	at = strstr(info->str, name);
	if (at)
		calls = strtod(at + strlen(name), NULL);
	freeReplyObject(info);
	freeReplyObject(reset);
	return calls;
}

/* put_ours returns how many a second, and how large the batches were. */
static double put_ours(struct bench_home *home, size_t n, double *ret_batch)
{
	dw *d = bench_open(home, NULL, NULL);
	dw_usec due = (dw_usec)1800000000000000;
	uint64_t start;
	double seconds;

	(void)calls_of(home, "");
	start = bench_ns();
	bench_put_all(d, "order.timeout", n, due, DUE);
	seconds = (double)(bench_ns() - start) / 1e9;
	*ret_batch = (double)n / calls_of(home, "cmdstat_evalsha:calls=");
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	bench_home_clear(home);
	return (double)n / seconds;
}

static double put_bare(struct bench_home *home, size_t n, double batch)
{
	uint64_t start = bench_ns();
	double seconds;

	bench_bare_put(home->redis, n, (size_t)(batch + 0.5));
	seconds = (double)(bench_ns() - start) / 1e9;
	bench_home_clear(home);
	return (double)n / seconds;
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 100000);
	struct bench_metric rate = {"store", "put", "confirmed", "/s", options.n};
	struct bench_metric size = {"store", "put", "batch", "timers", options.n};
	struct bench_figure rates[] = {{.system = "durawheel"}, {.system = "bare"}};
	struct bench_figure sizes = {.system = "durawheel"};
	struct bench_home home;

	bench_home_open(&home, "redis");
	for (int round = 0; round < ROUNDS; round++) {
		double batch = 0;
		double ours = put_ours(&home, options.n, &batch);
		double bare = put_bare(&home, options.n, batch);

		if (round == 0)
			continue;
		rates[0].rounds[rates[0].count++] = ours;
		rates[1].rounds[rates[1].count++] = bare;
		sizes.rounds[sizes.count++] = batch;
	}
	bench_home_end(&home);
	bench_report(&options, &rate, rates, 2);
	bench_report(&options, &size, &sizes, 1);
	return 0;
}
