/* wheel_years.h: brings a wheel at once to a state that normally takes years, after four billion
 * adds and moves. */
#ifndef SUPPORT_WHEEL_YEARS_H
#define SUPPORT_WHEEL_YEARS_H

#include "wheel/names.h"
#include "wheel/sweep.h"

/*
 * wheel_years_pass: the wheel looks as if so many generations had been given and their timers had
 * gone. The number must be a multiple of 64 for a new wheel, and of its ring for a wheel with only
 * elders.
 */
static inline void wheel_years_pass(dw_wheel *wheel, uint32_t generations)
{
	wheel->next_name += (uint64_t)generations << 32;
	wheel->full_at += generations;
	wheel->stop_at += generations;
	wheel_names_quick(wheel);
	wheel->swept += generations;
	wheel->sweep.began += generations;
}

/* wheel_years_age sweeps `blocks` blocks. Timers older than the last `old` generations become
 * elders when the sweep meets them. The wheel must have space for elders. */
static inline void wheel_years_age(dw_wheel *wheel, uint32_t old, unsigned blocks)
{
	wheel->names.old = old;
	wheel_sweep_some(wheel, blocks);
}

/* wheel_years_elders returns the number of elders. */
static inline size_t wheel_years_elders(const dw_wheel *wheel)
{
	size_t count = 0;

	for (uint32_t index = 0; index < wheel_fresh(wheel); index++)
		count += (wheel_chunk(wheel, index)->elders & wheel_chunk_bit(index)) != 0;
	return count;
}

#endif
