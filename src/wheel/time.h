/*
 * time.h: converts the caller's signed times to unsigned ones in the same order, and moves the
 * current time.
 */
#ifndef WHEEL_TIME_H
#define WHEEL_TIME_H

#include "wheel/state.h"

/* wheel_encode converts a signed time to an unsigned time in the same order. wheel_decode converts
 * it back. */
static inline uint64_t wheel_encode(int64_t time)
{
	return (uint64_t)time ^ (UINT64_C(1) << 63);
}

static inline int64_t wheel_decode(uint64_t time)
{
	return (int64_t)(time ^ (UINT64_C(1) << 63));
}

/*
 * wheel_bucket returns the start of the bucket of a time. All slots begin at such times, so
 * comparing the bucket with a slot's start gives the same result as comparing the time. The start
 * of a bucket is never WHEEL_NEVER, but the last tick is.
 */
static inline uint64_t wheel_bucket(uint64_t time)
{
	return time >> WHEEL_FINE_BITS << WHEEL_FINE_BITS;
}

/* wheel_set_current is the only function that changes the current time. */
static inline void wheel_set_current(dw_wheel *wheel, uint64_t time)
{
	wheel->current = time;
	wheel->near_until = time | (WHEEL_FINE_LISTS - 1);
}

#endif
