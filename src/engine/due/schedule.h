/* A wheel of timers. dw_wheel only knows indexes; the schedule knows which timer has which
 * index. */
#ifndef DW_ENGINE_SCHEDULE_H
#define DW_ENGINE_SCHEDULE_H

#include "base/segments.h"
#include "timer/timer.h"

struct schedule {
	dw_wheel *wheel;
	const struct alloc *alloc;
	struct segments timers; /* the timers, by their index in the wheel */
};

int schedule_init(struct schedule *, const struct alloc *, dw_usec now);
void schedule_free(struct schedule *);

/* schedule_add adds the timer, and sets its slot. It returns DW_OK or DW_ENOMEM. */
int schedule_add(struct schedule *, struct timer *, dw_usec at);
void schedule_remove(struct schedule *, struct timer *);

/* schedule_pop takes out the next timer that is due at now, in exact order. It returns NULL if no
 * timer is due, or if the wheel needs more calls to find it. In the second case schedule_next() <=
 * now. */
struct timer *schedule_pop(struct schedule *, dw_usec now);

/* schedule_at returns the timer with this index, or NULL. Indexes are below schedule_size. */
struct timer *schedule_at(const struct schedule *, uint32_t index);
uint32_t schedule_size(const struct schedule *);

/* schedule_next returns a time before which no timer is due. */
dw_usec schedule_next(const struct schedule *);

/* schedule_is_due returns true if a timer in the schedule is due at now. After many cancels this
 * may be a cancelled one. */
bool schedule_is_due(struct schedule *, dw_usec now);

/* schedule_wake returns the latest time for the next schedule_pop(), so that the wheel's work stays
 * spread out. */
dw_usec schedule_wake(const struct schedule *);

#endif
