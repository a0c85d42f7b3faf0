#include "timer/retry.h"

#include "base/usec.h"

#define DELAY_FIRST DW_SECONDS(1)
#define DELAY_MAX DW_MINUTES(5)
#define JITTER_PERCENT 20

dw_usec retry_delay(uint32_t retries, struct rng *rng)
{
	dw_usec delay = DELAY_FIRST;
	dw_usec jitter;

	for (uint32_t i = 0; i < retries && delay < DELAY_MAX; i++)
		delay *= 2;
	delay = usec_min(delay, DELAY_MAX);
	jitter = delay / 100 * JITTER_PERCENT;
	/* The delay is spread over [delay - jitter, delay + jitter], so that timers that failed
	 * together do not come back together. */
	return delay - jitter + (dw_usec)rng_below(rng, (uint64_t)(2 * jitter) + 1);
}
