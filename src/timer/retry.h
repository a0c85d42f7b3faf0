/* When a timer is delivered again after DW_RETRY: 1 s, doubled, at most 5 min, 20 % jitter. */
#ifndef DW_TIMER_RETRY_H
#define DW_TIMER_RETRY_H

#include "base/rng.h"
#include "durawheel/durawheel.h"

/* retry_delay after `retries` earlier retries of the timer. */
dw_usec retry_delay(uint32_t retries, struct rng *);

#endif
