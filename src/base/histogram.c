#include "base/histogram.h"

#define MS(count) DW_MILLISECONDS(count)

const dw_usec histogram_bounds[HISTOGRAM_BOUNDS] = {
    50,
    100,
    250,
    500,
    MS(1),
    2500,
    MS(5),
    MS(10),
    MS(25),
    MS(50),
    MS(100),
    MS(250),
    MS(500),
    DW_SECONDS(1),
    MS(2500),
    DW_SECONDS(5),
    DW_SECONDS(10),
    DW_SECONDS(30),
    DW_SECONDS(60),
};

static uint32_t bound_of(dw_usec duration)
{
	uint32_t bound = 0;

	while (bound < HISTOGRAM_BOUNDS && duration > histogram_bounds[bound])
		bound++;
	return bound;
}

void histogram_add(struct histogram *histogram, dw_usec duration)
{
	duration = usec_max(duration, 0);
	histogram->counts[bound_of(duration)]++;
	histogram->sum_us += (uint64_t)duration;
	spread_add(&histogram->recent, duration);
}

void histogram_take(struct histogram *histogram, dw_usec duration)
{
	duration = usec_max(duration, 0);
	histogram->counts[bound_of(duration)]--;
	histogram->sum_us -= (uint64_t)duration;
	spread_take(&histogram->recent, duration);
}
