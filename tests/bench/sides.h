/* sides.h: what is recorded for both systems alike. */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include <stdint.h>
#include <stdlib.h>

#define DELAYS (1u << 16)

/* struct record: who fired; and, for re-arming, the next delays. */
struct record {
	uint64_t count;
	uint64_t sum;
	const int64_t *sorted; /* the deadlines in order, for a system that cannot tell its next */
	const int64_t *delays;
	uint32_t delay;
};

static inline void record_fired(struct record *record, uint32_t id)
{
	record->count++;
	record->sum += id;
}

static inline int64_t record_delay(struct record *record)
{
	return record->delays[record->delay++ & (DELAYS - 1)];
}

#endif
