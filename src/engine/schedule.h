/* A wheel of timers. dw_wheel knows indexes only; the schedule knows which timer has which
 * index. */
#ifndef DW_ENGINE_SCHEDULE_H
#define DW_ENGINE_SCHEDULE_H

#include "base/segments.h"
#include "timer/timer.h"

struct schedule {
	dw_wheel *wheel;
	const struct alloc *alloc;
	struct segments timers; /* by index of the wheel */
};

int schedule_init(struct schedule *, const struct alloc *, dw_usec now);
void schedule_free(struct schedule *);

/* schedule_add: the timer's slot is set. 0, or DW_ENOMEM. */
int schedule_add(struct schedule *, struct timer *, dw_usec at);
void schedule_remove(struct schedule *, struct timer *);

/* schedule_pop takes out the next timer due at now, in exact order; NULL: none, or more work is
 * left before the next one is known (schedule_next() <= now then). */
struct timer *schedule_pop(struct schedule *, dw_usec now);

/* schedule_at: the timer with this index, or NULL; indexes are below schedule_size. */
struct timer *schedule_at(const struct schedule *, uint32_t index);
uint32_t schedule_size(const struct schedule *);

/* schedule_next: no timer is due before. */
dw_usec schedule_next(const struct schedule *);

/* schedule_is_due: a timer is due at now; it stays in the schedule. After many cancels it may be a
 * cancelled one. */
bool schedule_is_due(struct schedule *, dw_usec now);

/* schedule_wake: when to pop next, at the latest, so that the wheel's work stays spread out. */
dw_usec schedule_wake(const struct schedule *);

#endif
