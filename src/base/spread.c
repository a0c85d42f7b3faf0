#include "base/spread.h"

/* A bucket's number is 4 * (octave - 2), plus the two bits below the highest set bit of the
 * duration. The octave is the position of this highest bit. */
uint32_t spread_bucket(dw_usec duration)
{
	uint64_t value = (uint64_t)usec_max(duration, 4);
	uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);

	return (octave - 2) * 4 + ((uint32_t)(value >> (octave - 2)) & 3);
}

dw_usec spread_bucket_end(uint32_t bucket)
{
	return (dw_usec)(5 + bucket % 4) << (bucket / 4);
}

static void fade(struct spread *spread)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < SPREAD_BUCKETS; i++) {
		spread->samples[i] /= 2;
		count += spread->samples[i];
	}
	spread->sample_count = (uint16_t)count;
}

void spread_add(struct spread *spread, dw_usec duration)
{
	uint32_t bucket = spread_bucket(duration);

	spread->samples[bucket < SPREAD_BUCKETS ? bucket : SPREAD_BUCKETS - 1]++;
	spread->max = usec_max(spread->max, duration);
	if (++spread->sample_count >= SPREAD_SAMPLES_MAX)
		fade(spread);
}

void spread_take(struct spread *spread, dw_usec duration)
{
	uint32_t bucket = spread_bucket(duration);
	uint16_t *samples = &spread->samples[bucket < SPREAD_BUCKETS ? bucket : SPREAD_BUCKETS - 1];

	if (*samples == 0)
		return; /* this duration has faded already */
	--*samples;
	--spread->sample_count;
}

dw_usec spread_quantile(const struct spread *spread, uint32_t percent)
{
	uint32_t above = spread->sample_count;
	uint32_t most = above * (100 - percent) / 100;
	uint32_t bucket = 0;

	if (spread->sample_count == 0)
		return 0;
	for (; bucket + 1 < SPREAD_BUCKETS && above - spread->samples[bucket] > most; bucket++)
		above -= spread->samples[bucket];
	return usec_min(spread_bucket_end(bucket), spread->max);
}
