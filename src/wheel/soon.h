/*
 * soon.h: timers in the order in which they fire, as far as that is known: those of a slot that had
 * only few when the present came to it. They do not go down the levels, where each would lie in
 * lists of its own, and their exact deadlines are known at once.
 *
 * Invariant: sorted by deadline and then by insertion; none is below the present. Among equal
 * deadlines those here are the oldest in the wheel.
 */
#ifndef WHEEL_SOON_H
#define WHEEL_SOON_H

#include "wheel/names.h"

static inline uint32_t wheel_soon_count(const dw_wheel *wheel)
{
	return wheel->soon.end - wheel->soon.first;
}

/* wheel_soon_next: the earliest deadline, of a dead entry perhaps; WHEEL_NEVER when there is none,
 * and on the last tick of all. */
static inline uint64_t wheel_soon_next(const dw_wheel *wheel)
{
	const struct wheel_soon *soon = &wheel->soon;

	return soon->first < soon->end ? soon->entries[soon->first].deadline : WHEEL_NEVER;
}

/* wheel_soon_put: behind those that are due before it or with it; there is room. */
void wheel_soon_put(dw_wheel *wheel, struct wheel_entry entry);

/* wheel_soon_sweep: take out the dead ones. */
void wheel_soon_sweep(dw_wheel *wheel);

/* wheel_soon_check: is it in order? Counts the live ones. */
bool wheel_soon_check(const dw_wheel *wheel, struct wheel_lives *lives);

#endif
