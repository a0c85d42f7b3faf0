#include "engine/heal/cut_off.h"

#include "engine/core.h"
#include "port/driven.h"

bool cut_off_covers(const struct engine *engine, const char *id)
{
	return engine->cut_off.parts > 0 && id && driven_is_cut_off(engine->store, id);
}

bool cut_off_holds(struct engine *engine, struct timer *timer)
{
	if (timer->busy || timer->state == TIMER_HELD || !cut_off_covers(engine, timer->id))
		return false;
	timer_suspend(engine, timer);
	return true;
}

/* part_back is called when the part is in use again. Memory may have an old state of the part's
 * timers, and a scan may have left the part out. So the store is scanned again. */
static void part_back(struct engine *engine, const dw_part *part)
{
	dw_event event = {.kind = DW_EVENT_SHARD_BACK, .count = part->number};

	engine->cut_off.recheck = engine->timers.suspended.count;
	if (engine->ownership.role == DW_OWNER)
		recovery_need(&engine->recovery);
	event_raise(engine, &event, "shard %u is in use again: its timers start again",
		    part->number);
}

static void part_failed(struct engine *engine, const dw_part *part)
{
	dw_event event = {
	    .kind = DW_EVENT_SHARD_FAILED, .status = part->status, .count = part->number};

	event_raise(engine, &event, "shard %u cannot be used, and its timers wait: %s",
		    part->number, part->words);
}

void cut_off_watch(struct engine *engine)
{
	dw_part part;

	while (driven_take_part(engine->store, &part)) {
		engine->cut_off.parts = part.cut_off;
		(part.status == DW_OK ? part_back : part_failed)(engine, &part);
	}
}
