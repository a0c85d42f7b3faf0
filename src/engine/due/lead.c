#include "engine/due/lead.h"

#include "base/spread.h"

/* At this number of samples all counts are halved, so that old samples fade. */
#define SAMPLES_MAX 2048u
#define COST_WEIGHT 16

static uint32_t bucket_of(dw_usec round_trip)
{
	uint32_t bucket = spread_bucket(round_trip);

	return bucket < LEAD_BUCKETS ? bucket : LEAD_BUCKETS - 1;
}

/* find_p99 corrects p99_bucket after a small change of the samples. */
static void find_p99(struct lead *lead)
{
	uint32_t most = lead->sample_count / 100;

	while (lead->above > most)
		lead->above -= lead->samples[++lead->p99_bucket];
	while (lead->above + lead->samples[lead->p99_bucket] <= most)
		lead->above += lead->samples[lead->p99_bucket--];
}

static void fade(struct lead *lead)
{
	lead->p99_bucket = LEAD_BUCKETS - 1;
	lead->above = 0;
	lead->sample_count = 0;
	for (uint32_t i = 0; i < LEAD_BUCKETS; i++) {
		lead->samples[i] /= 2;
		lead->sample_count += lead->samples[i];
	}
}

void lead_learn(struct lead *lead, dw_usec round_trip, uint64_t batch)
{
	dw_usec cost_ns = usec_mul(round_trip, 1000) / (dw_usec)(batch ? batch : 1);

	uint32_t bucket = bucket_of(round_trip);

	lead->samples[bucket]++;
	lead->above += bucket > lead->p99_bucket;
	if (++lead->sample_count >= SAMPLES_MAX)
		fade(lead);
	find_p99(lead);
	/* A single claim shows what a round trip costs, not what one more claim costs. */
	if (batch >= COST_WEIGHT)
		lead->cost_ns += (cost_ns - lead->cost_ns) / COST_WEIGHT;
}

dw_usec lead_p99(const struct lead *lead)
{
	return lead->sample_count > 0 ? spread_bucket_end(lead->p99_bucket) : 0;
}

dw_usec lead_now(const struct lead *lead, uint64_t ahead)
{
	dw_usec base = usec_max(LEAD_MIN, usec_mul(2, lead_p99(lead)));
	dw_usec burst = usec_mul((dw_usec)ahead, lead->cost_ns) / 1000;

	return usec_min(usec_add(base, burst), LEAD_MAX);
}
