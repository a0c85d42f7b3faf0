/* The spread of durations: the quantiles of the last 1,024 to 2,048 of them, in fixed memory. Each
 * octave has four buckets, so a quantile is at most a quarter too high. When there are 2,048, all
 * counts are halved, so old durations fade. */
#ifndef DW_BASE_SPREAD_H
#define DW_BASE_SPREAD_H

#include "base/usec.h"

#define SPREAD_BUCKETS 120 /* up to 2^32 us, more than an hour */
#define SPREAD_SAMPLES_MAX 2048u

struct spread {
	uint16_t samples[SPREAD_BUCKETS];
	uint16_t sample_count;
	dw_usec max; /* of all durations, also of those that have faded */
};

/* spread_bucket returns the bucket of a duration, of any number of buckets; spread_bucket_end the
 * first duration of the next bucket. */
uint32_t spread_bucket(dw_usec duration);
dw_usec spread_bucket_end(uint32_t bucket);

/* spread_take takes back the last spread_add(), but for the maximum. */
void spread_add(struct spread *, dw_usec duration);
void spread_take(struct spread *, dw_usec duration);

/* spread_quantile returns a duration that so many of a hundred do not exceed. 0: there is none. */
dw_usec spread_quantile(const struct spread *, uint32_t percent);

#endif
