/* Time. The steady clock is the simulation's own; the wall clock follows it with a drift, and is
 * set now and then. */
#ifndef SIM_CORE_CLOCKS_H
#define SIM_CORE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "port/clock.h"

struct sim;

struct clocks {
	dw_usec steady;
	dw_usec anchor_steady; /* wall time runs from here */
	dw_usec anchor_wall;
	int64_t drift_ppm;
	dw_usec wall_max; /* the largest ever shown */
	dw_usec step_max; /* by which the wall clock is set */
	uint32_t set_count;
};

void clocks_init(struct sim *, dw_usec step_max);
dw_usec clocks_wall(const struct sim *);

/* clocks_steady_at: when the wall clock will show `wall` if nobody sets it. */
dw_usec clocks_steady_at(const struct sim *, dw_usec wall);

void clocks_pass(struct sim *, dw_usec time);

/* clocks_disturb sets the wall clock: a second, an hour, a little, or only its rate. False: only
 * the rate. */
bool clocks_disturb(struct sim *);

/* clocks_port: the clocks as the engine sees them. */
struct clock clocks_port(struct sim *);

#endif
