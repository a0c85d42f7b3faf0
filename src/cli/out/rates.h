/* Computes rates per second from the growth of counters in the last minute. When a counter falls,
 * another owner has begun to count, and the history is dropped. */
#ifndef DW_CLI_RATES_H
#define DW_CLI_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

enum rate { RATE_STARTED, RATE_DONE, RATE_RETRIED, RATE_DEAD, RATES };

#define RATE_SAMPLES 64

struct rates {
	struct rate_sample {
		dw_usec at; /* the steady time of the sample */
		uint64_t counts[RATES];
	} samples[RATE_SAMPLES];
	uint32_t first, count;
};

void rates_note(struct rates *, dw_usec steady, const uint64_t counts[RATES]);

/* rates_clear forgets the history, because there is no owner any more. */
void rates_clear(struct rates *);

/* rates_of returns the number of events per second. Returns false if the history is too short. */
bool rates_of(const struct rates *, enum rate, double *ret_rate);

#endif
