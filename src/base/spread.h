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
	dw_usec max; /* the longest of all durations, even of those that have faded */
};

/* spread_bucket returns the number of the duration's bucket, which may be beyond SPREAD_BUCKETS.
 * spread_bucket_end returns the first duration of the next bucket. */
uint32_t spread_bucket(dw_usec duration);
dw_usec spread_bucket_end(uint32_t bucket);

/* spread_add counts a duration. spread_take takes it back, except that max stays. */
void spread_add(struct spread *, dw_usec duration);
void spread_take(struct spread *, dw_usec duration);

/* spread_quantile returns a duration that `percent` of 100 durations do not exceed, or 0 if there
 * are no durations. */
dw_usec spread_quantile(const struct spread *, uint32_t percent);

#endif
