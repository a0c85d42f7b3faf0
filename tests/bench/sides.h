/*
 * sides.h: what all systems have alike: the program's object, and the record of what fired.
 *
 * A timer is the timer of something: an order, a connection. Each system has an array of such
 * objects by their number, of the same body; behind the body is what the system wants the program
 * to keep: a handle, or the timer itself. Every call about a timer touches the body of its object,
 * and so does every firing, which has to find it first.
 */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define DELAYS (1u << 16)

/* struct body: the program's own part of an object; with a handle it is a line of the cache. */
struct body {
	uint64_t number;
	uint64_t touched;
	char rest[40];
};

/* struct record: who fired; and, for re-arming, the next delays. */
struct record {
	uint64_t count;
	uint64_t sum;
	const int64_t *sorted; /* the deadlines in order, for a system that cannot tell its next */
	const int64_t *delays;
	uint32_t delay;
};

static inline void record_fired(struct record *record, struct body *body)
{
	body->touched++;
	record->count++;
	record->sum += body->number;
}

static inline int64_t record_delay(struct record *record)
{
	return record->delays[record->delay++ & (DELAYS - 1)];
}

/* object_fetch: the program works on the object, so it is in the cache, with all that is in it. */
static inline void object_fetch(const void *object, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_prefetch((const char *)object + at, 1);
	__builtin_prefetch((const char *)object + size - 1, 1);
}

#endif
