/* Counts durations by fixed bounds, for ever, as Prometheus wants it; and the spread of the last
 * ones. */
#ifndef DW_BASE_HISTOGRAM_H
#define DW_BASE_HISTOGRAM_H

#include "base/spread.h"

#define HISTOGRAM_BOUNDS 19

/* The bounds, growing: 50 us to 60 s. */
extern const dw_usec histogram_bounds[HISTOGRAM_BOUNDS];

struct histogram {
	/* How many durations are at most histogram_bounds[i] and more than the bound before; the
	 * last one: more than all bounds. */
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum_us;
	struct spread recent;
};

/* histogram_add: a negative duration counts as 0. histogram_take takes it back. */
void histogram_add(struct histogram *, dw_usec duration);
void histogram_take(struct histogram *, dw_usec duration);

#endif
