/*
 * soon.h: a sorted array of timers that are due soon. When the time of a slot with few timers
 * comes, its timers go here. They do not move down the levels, where each would lie in a list of
 * its own, and dw_wheel_next() knows their exact deadlines at once.
 *
 * Invariant: the entries are sorted by deadline and then by insertion, and none is below the
 * current time. Among timers with equal deadlines, those in this array are the oldest in the wheel.
 */
#ifndef WHEEL_SOON_H
#define WHEEL_SOON_H

#include "wheel/names.h"

static inline uint32_t wheel_soon_count(const dw_wheel *wheel)
{
	return wheel->soon.end - wheel->soon.first;
}

/* wheel_soon_next returns the earliest deadline, which may be that of a dead entry. It returns
 * WHEEL_NEVER if the array is empty, or if the earliest deadline is the last tick. */
static inline uint64_t wheel_soon_next(const dw_wheel *wheel)
{
	const struct wheel_soon *soon = &wheel->soon;

	return soon->first < soon->end ? soon->entries[soon->first].deadline : WHEEL_NEVER;
}

/* wheel_soon_put inserts an entry after those with the same deadline. There must be room. */
void wheel_soon_put(dw_wheel *wheel, struct wheel_entry entry);

/* wheel_soon_sweep removes the dead entries. */
void wheel_soon_sweep(dw_wheel *wheel);

/* wheel_soon_check returns true if the array is sorted. It counts the live entries of the array. */
bool wheel_soon_check(const dw_wheel *wheel, struct wheel_lives *lives);

#endif
