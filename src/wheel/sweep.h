/*
 * sweep.h: dead entries, those of cancelled and moved timers, make room again.
 */
#ifndef WHEEL_SWEEP_H
#define WHEEL_SWEEP_H

#include "wheel/count.h"

/* wheel_sweep_due: are there so many that some should go before more entries come? */
static inline bool wheel_sweep_due(const dw_wheel *wheel)
{
	return wheel_dead(wheel) > wheel_count(wheel) / WHEEL_DEAD_SHARE + WHEEL_DEAD_FEW;
}

/* wheel_sweep_start: the sweep is to go around all lists, from the last one down. */
static inline void wheel_sweep_start(dw_wheel *wheel)
{
	wheel->sweep.list = WHEEL_LISTS;
	wheel->sweep.prev = wheel->sweep.block = WHEEL_NONE;
	wheel->overdue.swept = UINT32_MAX;
}

/* wheel_sweep_some: look at the entries of so many blocks. */
void wheel_sweep_some(dw_wheel *wheel, unsigned blocks);

/*
 * wheel_sweep_old: before the next 64 generations are given: if the sweep last began to go around
 * long ago, look at more entries, so that the ring of alive.h never loses what it knows of one.
 */
void wheel_sweep_old(dw_wheel *wheel);

/* wheel_sweep_all: look at all entries; afterwards few are dead, if any. */
void wheel_sweep_all(dw_wheel *wheel);

/* wheel_sweep_tidy: when the last timer has gone, memory is handed out from its beginning again. */
void wheel_sweep_tidy(dw_wheel *wheel);

#endif
