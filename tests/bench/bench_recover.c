/*
 * bench_recover.c: how an owner begins. N timers (1,000,000) of 100 bytes are stored. It measures
 * the time in dw_open(), and from dw_open() until all are loaded, and the bytes that malloc() has
 * given to this process for each timer then. With --store redis it also measures a bare client that
 * reads the same bytes and makes nothing of them, the longest command by which the server was
 * blocked for others meanwhile, and the bytes that the server takes for each timer.
 */
#include <hiredis/hiredis.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_bare.h"
#include "bench/bench_home.h"

enum { ROUNDS = 4, PAGE = 512 }; /* the first round is not counted */

/* Far away: nothing fires here. */
#define DUE ((dw_usec)1800000000000000)
#define SPAN DW_DAYS(1)

static void ask(const struct bench_home *home, const char *command)
{
	redisReply *reply = redisCommand(home->redis, command);

	bench_require(reply && reply->type != REDIS_REPLY_ERROR, command);
	freeReplyObject(reply);
}

static double used_memory(const struct bench_home *home)
{
	static const char name[] = "used_memory:";
	redisReply *info = redisCommand(home->redis, "INFO memory");
	const char *at;
	double bytes;

	bench_require(info && info->type == REDIS_REPLY_STRING, "INFO");
	at = strstr(info->str, name);
	bench_require(at != NULL, name);
	bytes = strtod(at + strlen(name), NULL);
	freeReplyObject(info);
	return bytes;
}

/* longest_command in ms, since SLOWLOG RESET; those below one are not in it, and count as none. */
static double longest_command(const struct bench_home *home)
{
	redisReply *log = redisCommand(home->redis, "SLOWLOG GET 10000");
	long long longest = 0;

	bench_require(log && log->type == REDIS_REPLY_ARRAY, "SLOWLOG");
	for (size_t i = 0; i < log->elements; i++) {
		const redisReply *entry = log->element[i];

		if (entry->elements > 2 && entry->element[2]->integer > longest)
			longest = entry->element[2]->integer;
	}
	freeReplyObject(log);
	return (double)longest / 1e3;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	if (event->kind == DW_EVENT_RECOVERED)
		*(uint64_t *)user = event->count + 1;
}

/* fill returns the bytes that a redis-server takes for a timer. */
static double fill(struct bench_home *home, size_t n)
{
	uint64_t recovered = 0;
	dw *d = bench_open(home, on_event, &recovered);
	double before;
	double after;

	while (recovered == 0)
		bench_wait(d);
	before = home->redis ? used_memory(home) : 0;
	bench_put_all(d, "order.timeout", n, DUE, SPAN);
	after = home->redis ? used_memory(home) : 0;
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	return (after - before) / (double)n;
}

/* allocated: the bytes that malloc() has given out, in all threads, with what it needs itself. */
static double allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)(info.uordblks + info.hblkhd);
}

/* A start of an owner. */
struct start {
	double opened; /* s */
	double loaded; /* s */
	double bytes;  /* of this process, for a timer */
};

static struct start load(struct bench_home *home, size_t n)
{
	struct start start;
	uint64_t recovered = 0;
	double before = allocated();
	uint64_t began = bench_ns();
	dw *d = bench_open(home, on_event, &recovered);

	start.opened = (double)(bench_ns() - began) / 1e9;
	while (recovered == 0)
		bench_wait(d);
	start.loaded = (double)(bench_ns() - began) / 1e9;
	start.bytes = (allocated() - before) / (double)n;
	bench_require(recovered == n + 1, "all are loaded");
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	return start;
}

static double load_bare(struct bench_home *home, size_t n)
{
	uint64_t start = bench_ns();

	bench_require(bench_bare_load(home->redis, PAGE) == n, "the bare client loads all");
	return (double)(bench_ns() - start) / 1e9;
}

static void note(struct bench_figure *figure, int round, double value)
{
	if (round > 0)
		figure->rounds[figure->count++] = value;
}

/* measure_sqlite: of a file that the page cache holds. */
static void measure_sqlite(const struct bench_options *options)
{
	struct bench_metric metrics[] = {{"recover", "load", "opened", "s", options->n},
					 {"recover", "load", "loaded", "s", options->n},
					 {"recover", "load", "owner", "B", options->n}};
	struct bench_figure opened = {.system = "durawheel"};
	struct bench_figure loaded = {.system = "durawheel"};
	struct bench_figure owner = {.system = "durawheel"};
	struct bench_home home;

	bench_home_open(&home, "sqlite");
	(void)fill(&home, options->n); /* a file has no figure of its memory */
	for (int round = 0; round < ROUNDS; round++) {
		struct start start = load(&home, options->n);

		note(&loaded, round, start.loaded);
		note(&opened, round, start.opened);
		note(&owner, round, start.bytes);
	}
	bench_home_end(&home);
	bench_report(options, &metrics[0], &opened, 1);
	bench_report(options, &metrics[1], &loaded, 1);
	bench_report(options, &metrics[2], &owner, 1);
}

static void measure_redis(const struct bench_options *options)
{
	struct bench_metric metrics[] = {{"recover", "load", "opened", "s", options->n},
					 {"recover", "load", "loaded", "s", options->n},
					 {"recover", "load", "blocked", "ms", options->n},
					 {"recover", "load", "bytes", "B", options->n},
					 {"recover", "load", "owner", "B", options->n}};
	struct bench_figure opened = {.system = "durawheel"};
	struct bench_figure loaded[] = {{.system = "durawheel"}, {.system = "bare"}};
	struct bench_figure blocked = {.system = "durawheel"};
	struct bench_figure bytes = {.system = "durawheel", .count = 1};
	struct bench_figure owner = {.system = "durawheel"};
	struct bench_home home;

	bench_home_open(&home, "redis");
	bytes.rounds[0] = fill(&home, options->n);
	bench_bare_put(home.redis, options->n, 64);
	ask(&home, "CONFIG SET slowlog-log-slower-than 1000 slowlog-max-len 10000");
	for (int round = 0; round < ROUNDS; round++) {
		struct start start;

		ask(&home, "SLOWLOG RESET");
		start = load(&home, options->n);
		note(&loaded[0], round, start.loaded);
		note(&opened, round, start.opened);
		note(&owner, round, start.bytes);
		note(&blocked, round, longest_command(&home));
		note(&loaded[1], round, load_bare(&home, options->n));
	}
	bench_home_end(&home);
	bench_report(options, &metrics[0], &opened, 1);
	bench_report(options, &metrics[1], loaded, 2);
	bench_report(options, &metrics[2], &blocked, 1);
	bench_report(options, &metrics[3], &bytes, 1);
	bench_report(options, &metrics[4], &owner, 1);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 1000000);

	bench_require(strcmp(options.store, "memory") != 0, "a store that outlives its owner");
	if (strcmp(options.store, "redis") == 0)
		measure_redis(&options);
	else
		measure_sqlite(&options);
	return 0;
}
