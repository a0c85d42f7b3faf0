/* Counts durations by fixed bounds, since the start, as Prometheus wants it. It also keeps the
 * spread of the latest durations. */
#ifndef DW_BASE_HISTOGRAM_H
#define DW_BASE_HISTOGRAM_H

#include "base/spread.h"

#define HISTOGRAM_BOUNDS 19

/* The bounds in growing order, from 50 us to 60 s. */
extern const dw_usec histogram_bounds[HISTOGRAM_BOUNDS];

struct histogram {
	/* counts[i] is the number of durations that are at most histogram_bounds[i] and more than
	 * the bound before; the last count is of durations above all bounds. */
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum_us;
	struct spread recent;
};

/* histogram_add counts a duration. A negative duration counts as 0. histogram_take takes a duration
 * out again. */
void histogram_add(struct histogram *, dw_usec duration);
void histogram_take(struct histogram *, dw_usec duration);

#endif
