#include "cli/out/rates.h"

#define SPAN DW_MINUTES(1)

static const struct rate_sample *sample_at(const struct rates *rates, uint32_t i)
{
	return &rates->samples[(rates->first + i) % RATE_SAMPLES];
}

static bool has_fallen(const struct rate_sample *last, const uint64_t counts[RATES])
{
	for (int i = 0; i < RATES; i++)
		if (counts[i] < last->counts[i])
			return true;
	return false;
}

void rates_clear(struct rates *rates)
{
	rates->count = 0;
}

void rates_note(struct rates *rates, dw_usec steady, const uint64_t counts[RATES])
{
	struct rate_sample sample = {.at = steady};

	for (int i = 0; i < RATES; i++)
		sample.counts[i] = counts[i];
	if (rates->count > 0 && has_fallen(sample_at(rates, rates->count - 1), counts))
		rates->count = 0;
	while (rates->count == RATE_SAMPLES ||
	       (rates->count > 1 && steady - sample_at(rates, 0)->at > SPAN)) {
		rates->first = (rates->first + 1) % RATE_SAMPLES;
		rates->count--;
	}
	rates->samples[(rates->first + rates->count++) % RATE_SAMPLES] = sample;
}

bool rates_of(const struct rates *rates, enum rate rate, double *ret_rate)
{
	const struct rate_sample *begin = sample_at(rates, 0);
	const struct rate_sample *end;

	if (rates->count < 2)
		return false;
	end = sample_at(rates, rates->count - 1);
	if (end->at - begin->at < DW_SECONDS(1))
		return false;
	*ret_rate =
	    (double)(end->counts[rate] - begin->counts[rate]) * 1e6 / (double)(end->at - begin->at);
	return true;
}
