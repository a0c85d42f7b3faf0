/*
 * sweep.h: removes the dead entries of cancelled and moved timers, to make room for new ones.
 */
#ifndef WHEEL_SWEEP_H
#define WHEEL_SWEEP_H

#include "wheel/count.h"

/* wheel_sweep_due returns true if there are enough dead entries to sweep some before more are
 * added. */
static inline bool wheel_sweep_due(const dw_wheel *wheel)
{
	return wheel_dead(wheel) > wheel_count(wheel) / WHEEL_DEAD_SHARE + WHEEL_DEAD_FEW;
}

/* wheel_sweep_start starts a new round of the sweep, from the last list down to the first. */
static inline void wheel_sweep_start(dw_wheel *wheel)
{
	wheel->sweep.list = WHEEL_LISTS;
	wheel->sweep.prev = wheel->sweep.block = WHEEL_NONE;
	wheel->overdue.swept = UINT32_MAX;
}

/* wheel_sweep_some sweeps this many blocks. */
void wheel_sweep_some(dw_wheel *wheel, unsigned blocks);

/*
 * wheel_sweep_old is called before the next 64 generations are given. If the last finished round
 * began long ago, sweeps more, so that the ring of alive.h never loses a generation that an entry
 * still has.
 */
void wheel_sweep_old(dw_wheel *wheel);

/* wheel_sweep_all sweeps all entries. Few dead entries remain, if any. */
void wheel_sweep_all(dw_wheel *wheel);

/* wheel_sweep_tidy is called when the last timer has gone. Memory is then given out from its
 * beginning again. */
void wheel_sweep_tidy(dw_wheel *wheel);

#endif
