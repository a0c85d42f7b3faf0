/*
 * rings.h: maps a deadline to a list, and says when a slot may be drained.
 */
#ifndef WHEEL_RINGS_H
#define WHEEL_RINGS_H

#include "base/bits.h"
#include "wheel/time.h"

static inline unsigned wheel_ring_shift(unsigned ring)
{
	return WHEEL_FINE_BITS + WHEEL_STEP_BITS * ring;
}

/*
 * wheel_ring_window returns how long before its start a slot is open, which means that it may be
 * drained. The window is 255 slots of the ring below, so its entries fit in that ring beside the
 * current slot.
 */
static inline uint64_t wheel_ring_window(unsigned ring)
{
	return ring ? UINT64_C(255) << wheel_ring_shift(ring - 1) : 0;
}

static inline uint64_t wheel_ring_opens(unsigned ring, uint64_t start)
{
	uint64_t window = wheel_ring_window(ring);

	return start > window ? start - window : 0;
}

static inline uint32_t wheel_ring_list(unsigned ring, uint64_t time)
{
	uint32_t slot = (uint32_t)(time >> wheel_ring_shift(ring)) & (WHEEL_RING_SLOTS - 1);

	return WHEEL_FINE_LISTS + ring * WHEEL_RING_SLOTS + slot;
}

static inline unsigned wheel_list_ring(uint32_t list)
{
	return (list - WHEEL_FINE_LISTS) / WHEEL_RING_SLOTS;
}

/* wheel_list_below returns the list, one level below `ring`, for an entry of its open slot. */
static inline uint32_t wheel_list_below(unsigned ring, uint64_t deadline)
{
	if (ring == 0)
		return (uint32_t)deadline & (WHEEL_FINE_LISTS - 1);
	return wheel_ring_list(ring - 1, deadline);
}

/*
 * wheel_slots_ahead returns the list for a new timer that is due after the current bucket. It is in
 * the lowest ring in which the deadline and the current time lie in different slots. near_until,
 * the last tick of the current bucket, stands for the current time, because slots are whole
 * buckets.
 */
static inline uint32_t wheel_slots_ahead(const dw_wheel *wheel, uint64_t deadline)
{
	uint64_t apart = deadline ^ wheel->near_until;
	unsigned shift = (bits_highest(apart) - WHEEL_FINE_BITS) & ~(WHEEL_STEP_BITS - 1);

	return WHEEL_FINE_LISTS + shift * (WHEEL_RING_SLOTS / WHEEL_STEP_BITS) +
	       ((uint32_t)(deadline >> (shift + WHEEL_FINE_BITS)) & (WHEEL_RING_SLOTS - 1));
}

#endif
