/* Claims timers. The store must know that a timer may start. So the engine claims the timer there,
 * one lead before its deadline. */
#ifndef DW_ENGINE_CLAIM_H
#define DW_ENGINE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

#define TURN_CLAIMS_MAX 512u

struct engine;

struct claims {
	/* After a step of the wall clock, or when the store is back: how many timers of the two
	 * schedules the sweep must still look at. */
	uint32_t sweep_fire;
	uint32_t sweep_work;
	bool store_is_back; /* timers that back off are tried again at once */
};

/* claim_is_due returns true if a timer is due within one lead. Then all timers that are due until
 * *ret_until, two leads from now, are claimed together, so that a quiet engine claims in few,
 * fuller batches. claim_next claims the next of them. It returns false if there is none, or if too
 * many operations are under way for another claim. */
bool claim_is_due(const struct engine *, dw_usec now, dw_usec *ret_until);
bool claim_next(struct engine *, dw_usec until);

/* claim_keep_next takes the next due timer out of the schedule, to be claimed after a pause. It
 * returns false if there is none. */
bool claim_keep_next(struct engine *, dw_usec now);

/* claim_full looks at each topic whose queue was full a while ago, and tries its first timer again.
 * If the queue takes it, more and more of the other timers follow. claim_full_wake returns when
 * claim_full has work next. */
void claim_full(struct engine *);
dw_usec claim_full_wake(const struct engine *, dw_usec now);

/* claim_revive claims timers that waited for a handler and have one now. */
void claim_revive(struct engine *);

/* claim_clock_stepped_back starts a sweep over all armed and waiting timers. claim_sweep looks at
 * some of them in each turn. It gives back claims of timers whose deadline is far ahead now, so
 * that clients can cancel these timers again. */
void claim_clock_stepped_back(struct engine *);

/* claim_store_came_back starts the same sweep, for the timers that back off. Without the sweep,
 * each of them would be tried again up to RETRY_STORE_MAX later. */
void claim_store_came_back(struct engine *);
void claim_sweep(struct engine *, dw_usec now);

/* claim_has_more returns true if claim_revive or claim_sweep has work. */
bool claim_has_more(const struct engine *);

#endif
