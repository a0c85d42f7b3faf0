#include "engine/heal/clock_steps.h"

#include "engine/core.h"

#define STEP_MIN DW_MILLISECONDS(20) /* a smaller difference is drift */

void clock_steps_init(struct engine *engine)
{
	engine->clock_steps.skew = usec_sub(engine_now(engine), engine_steady(engine));
}

/* clock_steps_watch sees that the wall clock was set if it moved against the steady clock. When the
 * process is suspended between the two readings, the difference looks the same. Therefore the
 * steady clock is read once more, and if too much time has passed, the measurement is ignored. */
void clock_steps_watch(struct engine *engine, dw_usec before, dw_usec now)
{
	dw_usec skew = usec_sub(now, before);
	dw_usec step = usec_sub(skew, engine->clock_steps.skew);
	dw_event event = {.kind = DW_EVENT_CLOCK_STEPPED};

	if (usec_sub(engine_steady(engine), before) >= STEP_MIN / 2)
		return;
	engine->clock_steps.skew = skew;
	if (step > -STEP_MIN && step < STEP_MIN)
		return;
	if (step < 0)
		claim_clock_stepped_back(engine);
	if (step < -DERIVED_AGAIN)
		derive_again(&engine->clock_steps);
	/* Work that was put off until a wall time must not wait longer because the clock was set
	 * back. */
	recovery_hurry(&engine->recovery, now);
	registry_hurry(&engine->recovery.registry, now);
	ownership_hurry(&engine->ownership, now);
	report_hurry(&engine->report, now);
	event_raise(engine, &event, "the wall clock was set %lld us %s",
		    (long long)(step < 0 ? usec_sub(0, step) : step),
		    step < 0 ? "back" : "forward");
}
