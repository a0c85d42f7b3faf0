/* A wheel of timers. dw_wheel only knows indexes; the schedule knows which timer has which index.
 * The wheel returns equal deadlines in the order of insertion. Some schedules must return them in
 * the order of generation. Such a schedule takes all timers of one time out of the wheel, and sorts
 * them, before it returns the first one. A timer that is added later for this time, or for an
 * earlier one, is sorted in. */
#ifndef DW_ENGINE_SCHEDULE_H
#define DW_ENGINE_SCHEDULE_H

#include "base/segments.h"
#include "engine/due/crowd.h"
#include "timer/timer.h"

struct schedule {
	dw_wheel *wheel;
	const struct alloc *alloc;
	struct segments timers; /* the timers, by their index in the wheel */
	struct crowd crowd;     /* the sorted timers of the time that comes out now */
};

int schedule_init(struct schedule *, const struct alloc *, dw_usec now);
void schedule_free(struct schedule *);

/* schedule_add adds the timer, and sets its slot. It returns DW_OK or DW_ENOMEM. */
int schedule_add(struct schedule *, struct timer *, dw_usec at);
void schedule_remove(struct schedule *, struct timer *);

/* schedule_pop takes out the next timer that is due at now, in the order of (deadline, insertion).
 * schedule_pop_sorted does the same in the order of (deadline, generation). Without memory for the
 * crowd, it uses the order of insertion. A schedule is used with only one of these functions. Both
 * return NULL if no timer is due, or if they need more calls to find it. In the second case
 * schedule_next() <= now. */
struct timer *schedule_pop(struct schedule *, dw_usec now);
struct timer *schedule_pop_sorted(struct schedule *, dw_usec now);

/* schedule_put_back puts the timer back that schedule_pop_sorted has just returned. It returns
 * false if there is no memory. */
bool schedule_put_back(struct schedule *, struct timer *);

/* schedule_scatter puts the crowd back into the wheel, because the clock was set back. Timers for
 * which the wheel has no memory stay in the crowd. */
void schedule_scatter(struct schedule *);

/* schedule_at returns the timer with this index in the wheel, or NULL. Indexes are below
 * schedule_size. */
struct timer *schedule_at(const struct schedule *, uint32_t index);
uint32_t schedule_size(const struct schedule *);

/* schedule_count returns the number of timers. schedule_has returns true if the timer is where its
 * slot says. schedule_check returns true if wheel and crowd are sound. */
size_t schedule_count(const struct schedule *);
bool schedule_has(const struct schedule *, const struct timer *);
bool schedule_check(const struct schedule *);

/* schedule_next returns a time before which no timer is due. */
dw_usec schedule_next(const struct schedule *);

/* schedule_is_due returns true if a timer in the schedule is due at now. After many cancels this
 * may be a cancelled timer. */
bool schedule_is_due(struct schedule *, dw_usec now);

/* schedule_wake returns the latest time for the next schedule_pop(), so that the wheel's work stays
 * spread out. */
dw_usec schedule_wake(const struct schedule *);

#endif
