/*
 * count.h: how many generations, timers and entries there are, and can be.
 */
#ifndef WHEEL_COUNT_H
#define WHEEL_COUNT_H

#include "wheel/state.h"

static inline uint32_t wheel_generation(dw_wheel_handle handle)
{
	return (uint32_t)(handle >> 32);
}

/* wheel_next_generation: what the next add or move is given. */
static inline uint32_t wheel_next_generation(const dw_wheel *wheel)
{
	return wheel_generation(wheel->next_name);
}

/* wheel_age: how many generations were given after this one. */
static inline uint32_t wheel_age(const dw_wheel *wheel, uint32_t generation)
{
	return wheel_next_generation(wheel) - 1 - generation;
}

/* wheel_fresh: indexes from here on were not in use since the wheel was last empty. */
static inline uint32_t wheel_fresh(const dw_wheel *wheel)
{
	return (uint32_t)wheel->next_name;
}

/* wheel_count: timers, each of which has one live entry. */
static inline uint32_t wheel_count(const dw_wheel *wheel)
{
	return wheel_fresh(wheel) - wheel->names.free;
}

/* wheel_entries: the live and the dead. */
static inline uint32_t wheel_entries(const dw_wheel *wheel)
{
	return wheel->pool.room - (wheel->full_at - wheel_next_generation(wheel));
}

/* wheel_entries_gone: so many are not in any list any more. */
static inline void wheel_entries_gone(dw_wheel *wheel, uint32_t count)
{
	wheel->full_at += count;
}

/* wheel_dead: how many entries are. */
static inline uint32_t wheel_dead(const dw_wheel *wheel)
{
	return wheel_entries(wheel) - wheel_count(wheel);
}

/* wheel_names_known: how many generations the ring knows. The sweep must meet every
 * entry sooner. */
static inline uint32_t wheel_names_known(const dw_wheel *wheel)
{
	return wheel->names.ring;
}

/* wheel_names_ready: can one more name be taken, before there is something else to do? */
static inline bool wheel_names_ready(const dw_wheel *wheel)
{
	return wheel_next_generation(wheel) != wheel->stop_at;
}

/* wheel_names_ready_fresh: the same, and no index that was in use before is free. */
static inline bool wheel_names_ready_fresh(const dw_wheel *wheel)
{
	return wheel->next_name < wheel->quick_until;
}

#endif
