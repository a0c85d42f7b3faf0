/* Notices that the wall clock was set. */
#ifndef DW_ENGINE_CLOCK_STEPS_H
#define DW_ENGINE_CLOCK_STEPS_H

#include "durawheel/durawheel.h"
#include "engine/rule/derive.h"

struct engine;

struct clock_steps {
	dw_usec skew; /* wall clock minus steady clock */
	struct derive derive;
};

void clock_steps_init(struct engine *);

/* clock_steps_watch compares the clocks. `before` is the steady time, read before the wall time
 * `now`. */
void clock_steps_watch(struct engine *, dw_usec before, dw_usec now);

#endif
