/*
 * bench_bare.h: the ceiling of a Redis store: a client that does nothing but move the same bytes
 * with plain commands, which compare nothing, promise nothing and tell nobody.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stddef.h>

struct redisContext;

/* bench_bare_put stores n timers, in batches of so many to a sorted set and a hash. */
void bench_bare_put(struct redisContext *, size_t n, size_t batch);

/* bench_bare_load reads all that it has stored, in pages of so many; returns how many there are. */
size_t bench_bare_load(struct redisContext *, size_t page);

#endif
