/* bench_home.c: see bench_home.h. */
#include "bench/bench_home.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/temp.h"
#if DW_WITH_REDIS
#include <hiredis/hiredis.h>
#endif

enum { UNCONFIRMED_MAX = 16384, PUTS_A_TURN = 256 };

/* ---- A file -------------------------------------------------------------------------------- */

static void open_file(struct bench_home *home)
{
	temp_make(home->folder);
	temp_file(home->file, home->folder, "bench.db");
	(void)snprintf(home->url, sizeof home->url, "sqlite:%s", home->file);
}

static void clear_file(const struct bench_home *home)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char path[TEMP_SIZE + 8];

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		(void)snprintf(path, sizeof path, "%s%s", home->file, ends[i]);
		(void)unlink(path); /* a closed file has only the first one */
	}
}

/* ---- A redis-server ------------------------------------------------------------------------ */

#if DW_WITH_REDIS
static void open_redis(struct bench_home *home)
{
	/* A rewrite of the file forks in the middle of a round, whoever was the last straw. */
	static const char *const options[] = {"--appendonly",
					      "yes",
					      "--appendfsync",
					      "everysec",
					      "--auto-aof-rewrite-percentage",
					      "0",
					      NULL};

	redis_server_start(&home->server, false, options);
	(void)snprintf(home->url, sizeof home->url, "unix://%s", home->server.path);
	home->redis = redisConnectUnix(home->server.path);
	bench_require(home->redis && !home->redis->err, "a connection to the server");
}

static void clear_redis(const struct bench_home *home)
{
	redisReply *reply = redisCommand(home->redis, "FLUSHALL SYNC");

	bench_require(reply && reply->type == REDIS_REPLY_STATUS, "FLUSHALL");
	freeReplyObject(reply);
}

/* stat_of returns a field of what the server says of one command, "calls=1,usec=2,...". */
static double stat_of(const char *stats, const char *name, const char *field)
{
	const char *at = *name ? strstr(stats, name) : NULL;

	at = at ? strstr(at, field) : NULL;
	return at ? strtod(at + strlen(field), NULL) : 0;
}

static void read_commands(const struct bench_home *home, const char *first, const char *second,
			  struct bench_commands *commands)
{
	redisReply *info = redisCommand(home->redis, "INFO commandstats");
	redisReply *reset = redisCommand(home->redis, "CONFIG RESETSTAT");

	bench_require(info && reset && info->type == REDIS_REPLY_STRING, "INFO");
	commands->calls = stat_of(info->str, first, "calls=");
	commands->us = stat_of(info->str, first, "usec=") + stat_of(info->str, second, "usec=");
	freeReplyObject(info);
	freeReplyObject(reset);
}

static void end_redis(struct bench_home *home)
{
	redisFree(home->redis);
	redis_server_end(&home->server);
}
#else
static void open_redis(struct bench_home *home)
{
	(void)home;
	(void)printf("NOT TESTED: built without Redis\n");
	exit(0);
}

static void clear_redis(const struct bench_home *home)
{
	(void)home;
}

static void read_commands(const struct bench_home *home, const char *first, const char *second,
			  struct bench_commands *commands)
{
	(void)home;
	(void)first;
	(void)second;
	(void)commands;
}

static void end_redis(struct bench_home *home)
{
	(void)home;
}
#endif

/* ---- Each ---------------------------------------------------------------------------------- */

void bench_home_open(struct bench_home *home, const char *store)
{
	*home = (struct bench_home){.redis = NULL};
	if (strcmp(store, "redis") == 0)
		open_redis(home);
	else if (strcmp(store, "memory") == 0)
		(void)snprintf(home->url, sizeof home->url, "memory:");
	else
		open_file(home);
}

void bench_home_clear(struct bench_home *home)
{
	if (home->redis)
		clear_redis(home);
	else if (home->folder[0])
		clear_file(home);
}

void bench_home_end(struct bench_home *home)
{
	if (home->redis)
		end_redis(home);
	else if (home->folder[0])
		temp_remove(home->folder);
}

void bench_home_commands(const struct bench_home *home, const char *first, const char *second,
			 struct bench_commands *commands)
{
	*commands = (struct bench_commands){0};
	if (home->redis)
		read_commands(home, first, second, commands);
}

dw *bench_open(const struct bench_home *home, void (*on_event)(dw *, const dw_event *, void *),
	       void *user)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options,
			      .store = home->url,
			      .on_event = on_event,
			      .on_event_user = user};
	dw *d = NULL;

	if (home->redis) {
		options.name = BENCH_NAME;
		options.shards = BENCH_SHARDS;
	}
	bench_require(dw_open(&d, &options, message) == DW_OK, message);
	return d;
}

/* ---- Filling it ---------------------------------------------------------------------------- */

void bench_id(size_t i, char id[BENCH_ID_SIZE])
{
	size_t number = i * 2654435761u % 4294967296u;

	memcpy(id, "order:0000000000", BENCH_ID_SIZE);
	for (char *at = id + BENCH_ID_SIZE - 1; number > 0; number /= 16)
		*--at = "0123456789abcdef"[number % 16]; /* printf would cost more than a put */
}

void bench_wait(dw *d)
{
	struct pollfd fd = {.fd = dw_fd(d), .events = POLLIN};

	bench_require(poll(&fd, 1, 60000) > 0, "something happens");
	bench_require(dw_turn(d) == DW_OK, "dw_turn");
}

static void confirmed(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "a put is confirmed");
	++*(size_t *)user;
}

static void put_all(dw *d, dw_timer timer, size_t n, dw_usec first, dw_usec span)
{
	static const char data[BENCH_DATA_SIZE] = "0123456789";
	char id[BENCH_ID_SIZE];
	size_t answered = 0;

	timer.id = id;
	timer.data = data;
	timer.data_size = sizeof data;
	for (size_t i = 0; i < n; i++) {
		bench_id(i, id);
		timer.due = first + (dw_usec)(i * 7919) % (span > 0 ? span : 1);
		bench_require(dw_put(d, &timer, confirmed, &answered) == DW_OK, "dw_put");
		if (i % PUTS_A_TURN == PUTS_A_TURN - 1)
			bench_require(dw_turn(d) == DW_OK, "dw_turn");
		while (i + 1 - answered >= UNCONFIRMED_MAX)
			bench_wait(d);
	}
	while (answered < n)
		bench_wait(d);
}

void bench_put_all(dw *d, const char *topic, size_t n, dw_usec first, dw_usec span)
{
	put_all(d, (dw_timer){.size = sizeof(dw_timer), .topic = topic}, n, first, span);
}

void bench_put_recurring(dw *d, const char *topic, size_t n, const dw_rule *rule)
{
	put_all(d, (dw_timer){.size = sizeof(dw_timer), .topic = topic, .rule = rule}, n, 0, 0);
}
