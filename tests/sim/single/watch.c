#include "sim/single/single.h"

/* Without faults, a delivery and its settling end this long after the deadline, because the engine
 * asks a failing store again after at most 5 s. */
#define PATIENCE DW_SECONDS(8)

/* stored_and_handled: the timer of that name that must be delivered; NULL: none. */
static const struct generation *stored_and_handled(const struct single *single,
						   const struct name *name)
{
	const struct generation *stored = name->stored;

	return stored && instance_handles(&single->instance, stored->asked->topic) ? stored : NULL;
}

/* handled_for: how long its topic has the handler. */
static dw_usec handled_for(const struct single *single, const struct generation *generation)
{
	return single->sim->clocks.steady - single->instance.handled_at[generation->asked->topic];
}

static dw_usec bound_of(const struct sim *sim)
{
	return PATIENCE + DW_MILLISECONDS(sim->knobs.hold_ms);
}

void watch_overdue(struct single *single)
{
	struct sim *sim = single->sim;
	dw_usec bound = bound_of(sim);
	dw_usec wall = clocks_wall(sim);

	if (!single->instance.engine || sim->clocks.steady < sim->faults.disturbed_until + bound)
		return;
	for (const struct name *name = sim->promises.first; name; name = name->next) {
		const struct generation *generation = stored_and_handled(single, name);

		if (generation && handled_for(single, generation) > bound &&
		    usec_add(generation->due, bound) < wall &&
		    generation->since + bound < sim->clocks.steady)
			broken(sim, "I2", "%s has been due for %lld us and is %s", name->id,
			       (long long)(wall - generation->due),
			       generation->life == single->instance.life ? "not settled"
									 : "not started");
	}
}

void watch_armed(struct single *single)
{
	struct sim *sim = single->sim;
	const struct instance *instance = &single->instance;
	dw_usec now = clocks_wall(sim);

	if (instance->woken || instance->closing || !disk_idle(single->disk) ||
	    !ownership_may_start(&single->disk->own))
		return;
	for (const struct name *name = sim->promises.first; name; name = name->next) {
		const struct generation *generation = stored_and_handled(single, name);

		if (generation &&
		    instance->armed > usec_add(usec_max(generation->due, now), bound_of(sim)))
			broken(sim, "I2", "no turn is armed for %s", name->id);
	}
}
