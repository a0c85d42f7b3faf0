/*
 * time.h: the times of a wheel: unsigned, in the order of the signed ones outside.
 */
#ifndef WHEEL_TIME_H
#define WHEEL_TIME_H

#include "wheel/state.h"

/* wheel_encode, wheel_decode: signed time as unsigned in the same order, and back. */
static inline uint64_t wheel_encode(int64_t time)
{
	return (uint64_t)time ^ (UINT64_C(1) << 63);
}

static inline int64_t wheel_decode(uint64_t time)
{
	return (int64_t)(time ^ (UINT64_C(1) << 63));
}

/*
 * wheel_bucket: where the bucket of a time begins. All slots begin at such times, so that comparing
 * with this instead of the time itself changes nothing, but keeps the last tick off WHEEL_NEVER.
 */
static inline uint64_t wheel_bucket(uint64_t time)
{
	return time >> WHEEL_FINE_BITS << WHEEL_FINE_BITS;
}

/* wheel_set_current: the only way in which time passes. */
static inline void wheel_set_current(dw_wheel *wheel, uint64_t time)
{
	wheel->current = time;
	wheel->near_until = time | (WHEEL_FINE_LISTS - 1);
}

#endif
