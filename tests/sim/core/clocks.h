/* The clocks. The steady clock is the simulation's own. The wall clock follows it with a drift, and
 * is set now and then. */
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
	dw_usec wall_max; /* the largest time ever shown */
	dw_usec step_max; /* the longest step of the wall clock */
	uint32_t set_count;
};

void clocks_init(struct sim *, dw_usec step_max);
dw_usec clocks_wall(const struct sim *);

/* clocks_steady_at: when the wall clock will show `wall` if nobody sets it. */
dw_usec clocks_steady_at(const struct sim *, dw_usec wall);

void clocks_pass(struct sim *, dw_usec time);

/* clocks_disturb steps the wall clock by a second, an hour or less and changes its rate. False: it
 * changed the rate only. */
bool clocks_disturb(struct sim *);

/* clocks_port: the clocks as the engine sees them. */
struct clock clocks_port(struct sim *);

#endif
