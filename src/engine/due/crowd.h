/* The timers of a schedule that come out together: a heap in the order (time, generation). Timers
 * with equal deadlines are claimed in any order, and start in this order. Time-outs come behind
 * deadlines of the same time. */
#ifndef DW_ENGINE_CROWD_H
#define DW_ENGINE_CROWD_H

#include "base/alloc.h"
#include "timer/timer.h"

struct crowd_entry {
	dw_usec at;
	uint64_t rank;
	struct timer *timer;
};

struct crowd {
	struct crowd_entry *entries;
	uint32_t count, room;
};

/* crowd_reserve allocates space for one more timer. It returns DW_OK or DW_ENOMEM. */
int crowd_reserve(struct crowd *, const struct alloc *);
void crowd_free(struct crowd *, const struct alloc *);

/* crowd_add adds a timer at its slot_time. Call crowd_reserve() first. The timer's slot is its
 * place in the heap, and may change with every call. */
void crowd_add(struct crowd *, struct timer *);
void crowd_remove(struct crowd *, struct timer *);

/* crowd_first returns the first timer. crowd_last returns the timer whose removal moves no other
 * timer. The crowd must not be empty. */
static inline struct timer *crowd_first(const struct crowd *crowd)
{
	return crowd->entries[0].timer;
}

static inline struct timer *crowd_last(const struct crowd *crowd)
{
	return crowd->entries[crowd->count - 1].timer;
}

/* crowd_next returns the time of the first timer, or DW_NEVER. */
static inline dw_usec crowd_next(const struct crowd *crowd)
{
	return crowd->count > 0 ? crowd->entries[0].at : DW_NEVER;
}

/* crowd_has returns true if the timer is where its slot says. crowd_check returns true if the heap
 * is in order. */
bool crowd_has(const struct crowd *, const struct timer *);
bool crowd_check(const struct crowd *);

#endif
