/* Saturating arithmetic on dw_usec. Only these helpers add and subtract time, so that "never" stays
 * never and a huge delay never wraps into the past. */
#ifndef DW_BASE_USEC_H
#define DW_BASE_USEC_H

#include "durawheel/durawheel.h"

/* If the wall clock is set back by more than this, all times that were computed from the clock
 * are computed again. A smaller step back changes nothing, as with cron. */
#define DERIVED_AGAIN DW_HOURS(3)

static inline dw_usec usec_add(dw_usec a, dw_usec b)
{
	dw_usec sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline dw_usec usec_sub(dw_usec a, dw_usec b)
{
	dw_usec difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

static inline dw_usec usec_mul(dw_usec a, dw_usec b)
{
	dw_usec product;

	if (__builtin_mul_overflow(a, b, &product))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return product;
}

static inline dw_usec usec_min(dw_usec a, dw_usec b)
{
	return a < b ? a : b;
}

static inline dw_usec usec_max(dw_usec a, dw_usec b)
{
	return a > b ? a : b;
}

#endif
