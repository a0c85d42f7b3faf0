/* Computes when a timer is delivered again after DW_RETRY: after 1 s, doubled with each retry, at
 * most 5 min, with 20 % jitter. */
#ifndef DW_TIMER_RETRY_H
#define DW_TIMER_RETRY_H

#include "base/rng.h"
#include "durawheel/durawheel.h"

/* retry_delay returns the delay after `retries` earlier retries of the timer. */
dw_usec retry_delay(uint32_t retries, struct rng *);

#endif
