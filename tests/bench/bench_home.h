/*
 * bench_home.h: where a benchmark keeps its timers, a file or a redis-server of its own or memory,
 * and how it fills it.
 */
#ifndef BENCH_HOME_H
#define BENCH_HOME_H

#include "bench/bench_support.h"
#include "durawheel/durawheel.h"
#include "support/redis_server.h"

#define BENCH_NAME "bench" /* the namespace */
#define BENCH_SHARDS 16u
#define BENCH_DATA_SIZE 100u
#define BENCH_ID_SIZE 17u /* of 16 bytes, and their end */

struct redisContext;

struct bench_home {
	char url[TEMP_SIZE + 64];
	char file[TEMP_SIZE]; /* sqlite: */
	char folder[TEMP_SIZE];
	struct redis_server server; /* redis: it appends to its file and syncs it every second */
	struct redisContext *redis; /* a connection beside durawheel's; NULL: none */
};

/* bench_home_open: options.store is "sqlite", "redis" or "memory". Without a redis-server to start
 * it says so and ends the program: there is nothing to measure. */
void bench_home_open(struct bench_home *, const char *store);
/* bench_home_clear: no timers are left; nobody has it open. */
void bench_home_clear(struct bench_home *);
void bench_home_end(struct bench_home *);

/* What a redis-server did. */
struct bench_commands {
	double calls; /* of the first command */
	double us;    /* in both */
};

/* bench_home_commands: since it was asked last, in two commands ("evalsha:"); nothing on another
 * store. */
void bench_home_commands(const struct bench_home *, const char *first, const char *second,
			 struct bench_commands *);

/* bench_open: a handle on it, as its owner. */
dw *bench_open(const struct bench_home *, void (*on_event)(dw *, const dw_event *, void *),
	       void *user);

/* bench_id writes the id of the i-th timer; as in life, they are in the order of nothing. */
void bench_id(size_t i, char id[BENCH_ID_SIZE]);

/* bench_put_all puts n timers, due at first and up to span later, as a program does that serves a
 * loop: some, then a turn, with at most so many unconfirmed. All are confirmed when it returns. */
void bench_put_all(dw *, const char *topic, size_t n, dw_usec first, dw_usec span);

/* bench_put_recurring: the same with a rule. */
void bench_put_recurring(dw *, const char *topic, size_t n, const dw_rule *rule);

/* bench_wait turns once when there is something to do. */
void bench_wait(dw *);

#endif
