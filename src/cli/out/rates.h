/* How often something happens: the growth of counters over the last minute. If a counter falls,
 * there is another owner, and all counts begin again. */
#ifndef DW_CLI_RATES_H
#define DW_CLI_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

enum rate { RATE_STARTED, RATE_DONE, RATE_RETRIED, RATE_DEAD, RATES };

#define RATE_SAMPLES 64

struct rates {
	struct rate_sample {
		dw_usec at; /* steady */
		uint64_t counts[RATES];
	} samples[RATE_SAMPLES];
	uint32_t first, count;
};

void rates_note(struct rates *, dw_usec steady, const uint64_t counts[RATES]);

/* rates_clear is called when there is no owner any more. */
void rates_clear(struct rates *);

/* rates_of returns how often it happens in a second. Returns false if too little is known yet. */
bool rates_of(const struct rates *, enum rate, double *ret_rate);

#endif
