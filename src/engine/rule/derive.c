#include "engine/rule/derive.h"

#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "engine/rule/put_off.h"
#include "engine/rule/zones.h"

/* a further walk follows after this time, if too many timers had to change in one */
#define LOOK_AGAIN DW_SECONDS(1)

static void visit(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (!engine->shards.all[timer->shard].owned)
		return;
	if (timer->busy || timer->state != TIMER_PENDING) {
		/* When the timer is pending again, it may have a time that the clock ahead has
		 * computed. So another walk follows. */
		if (timer->recurs && timer->head.due > usec_add(engine_now(engine), DERIVED_AGAIN))
			engine->clock_steps.derive.is_wanted = true;
		return;
	}
	if (submit_is_urgent_full(&engine->submit)) {
		engine->clock_steps.derive.is_wanted = true;
		return;
	}
	if (timer->recurs)
		zones_correct(engine, timer);
	if (!timer->busy && timer->place == PLACE_CLAIM && put_off_is(engine, timer)) {
		timer_disarm(engine, timer);
		lifecycle_resume(engine, timer);
	}
}

void derive_again(struct clock_steps *clock_steps)
{
	clock_steps->derive = (struct derive){.is_wanted = true};
}

static bool may_begin(const struct engine *engine)
{
	return engine->clock_steps.derive.is_wanted && engine->ownership.role == DW_OWNER &&
	       !recovery_loads(engine) && !walk_is_on(&engine->walk);
}

void derive_round(struct engine *engine)
{
	static const struct walker walker = {visit, NULL};
	struct derive *derive = &engine->clock_steps.derive;

	if (!may_begin(engine) || engine_steady(engine) < derive->at)
		return;
	derive->is_wanted = false;
	derive->at = usec_add(engine_steady(engine), LOOK_AGAIN);
	walk_begin(&engine->walk, &walker);
}

dw_usec derive_wake(const struct engine *engine, dw_usec now)
{
	dw_usec wait = usec_sub(engine->clock_steps.derive.at, engine_steady(engine));

	return may_begin(engine) ? usec_add(now, usec_max(wait, 0)) : DW_NEVER;
}
