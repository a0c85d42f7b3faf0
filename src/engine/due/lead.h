/* The lead: how long before its deadline a timer is claimed. It must be long enough that the claim
 * is answered when the timer is due.
 *
 *	lead = max(5 ms, 2 x p99 round trip) + timers claimed and not yet due x cost of a claim
 *
 * The lead is at most 1 s. It grows when many timers are due soon. Round trip and cost are measured
 * on the operations that firing waits for. */
#ifndef DW_ENGINE_LEAD_H
#define DW_ENGINE_LEAD_H

#include "durawheel/durawheel.h"

#define LEAD_MIN DW_MILLISECONDS(5)
#define LEAD_MAX DW_SECONDS(1)
#define LEAD_BUCKETS 96 /* four for each octave, up to 2^24 us */

struct lead {
	uint32_t samples[LEAD_BUCKETS];
	uint32_t sample_count;
	uint32_t p99_bucket; /* at most 1 % of the samples are in the buckets above it */
	uint32_t above;      /* number of samples in the buckets above p99_bucket */
	dw_usec cost_ns;     /* nanoseconds that one more claim in a batch costs, smoothed */
};

/* lead_learn notes that a claim in a batch of `batch` came back after round_trip. lead_p99 returns
 * the 99th percentile of the round trips. */
void lead_learn(struct lead *, dw_usec round_trip, uint64_t batch);
dw_usec lead_p99(const struct lead *);

/* lead_now returns the lead when `ahead` timers are claimed and not yet due. */
dw_usec lead_now(const struct lead *, uint64_t ahead);

#endif
