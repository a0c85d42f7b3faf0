/*
 * count.h: counts of generations, timers and entries, and their limits.
 */
#ifndef WHEEL_COUNT_H
#define WHEEL_COUNT_H

#include "wheel/state.h"

static inline uint32_t wheel_generation(dw_wheel_handle handle)
{
	return (uint32_t)(handle >> 32);
}

/* wheel_next_generation returns the generation that the next add or move gets. */
static inline uint32_t wheel_next_generation(const dw_wheel *wheel)
{
	return wheel_generation(wheel->next_name);
}

/* wheel_age returns how many generations were given after this one. */
static inline uint32_t wheel_age(const dw_wheel *wheel, uint32_t generation)
{
	return wheel_next_generation(wheel) - 1 - generation;
}

/* wheel_fresh returns the lowest index that was not used since the wheel was last empty. */
static inline uint32_t wheel_fresh(const dw_wheel *wheel)
{
	return (uint32_t)wheel->next_name;
}

/* wheel_count returns the number of timers. Each timer has one live entry. */
static inline uint32_t wheel_count(const dw_wheel *wheel)
{
	return wheel_fresh(wheel) - wheel->names.free;
}

/* wheel_entries returns the number of entries, live and dead. */
static inline uint32_t wheel_entries(const dw_wheel *wheel)
{
	return wheel->pool.room - (wheel->full_at - wheel_next_generation(wheel));
}

/* wheel_entries_gone notes that `count` entries have left their lists. */
static inline void wheel_entries_gone(dw_wheel *wheel, uint32_t count)
{
	wheel->full_at += count;
}

/* wheel_dead returns the number of dead entries. */
static inline uint32_t wheel_dead(const dw_wheel *wheel)
{
	return wheel_entries(wheel) - wheel_count(wheel);
}

/* wheel_names_known returns how many generations the ring holds. The sweep must meet every entry
 * before this many more generations are given. */
static inline uint32_t wheel_names_known(const dw_wheel *wheel)
{
	return wheel->names.ring;
}

/* wheel_names_ready returns true if a name can be taken now, without calling go_on() first. */
static inline bool wheel_names_ready(const dw_wheel *wheel)
{
	return wheel_next_generation(wheel) != wheel->stop_at;
}

/* wheel_names_ready_fresh returns true if a name can be taken now, and no used index is free. */
static inline bool wheel_names_ready_fresh(const dw_wheel *wheel)
{
	return wheel->next_name < wheel->quick_until;
}

#endif
