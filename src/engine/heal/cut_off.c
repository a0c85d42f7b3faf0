#include "engine/heal/cut_off.h"

#include "engine/core.h"
#include "port/driven.h"

bool cut_off_covers(const struct engine *engine, const char *id)
{
	return engine->cut_off.count > 0 && id &&
	       engine->cut_off.refused[driven_shard_of(engine->store, id)];
}

bool cut_off_holds(struct engine *engine, struct timer *timer)
{
	if (timer->busy || timer->state == TIMER_HELD || !cut_off_covers(engine, timer->id))
		return false;
	timer_suspend(engine, timer);
	return true;
}

/* shard_back is called when the shard is in use again. Memory may have an old state of its timers,
 * and a scan may have left the shard out. So the store is scanned again. */
static void shard_back(struct engine *engine, const dw_shard_news *news)
{
	dw_event event = {.kind = DW_EVENT_SHARD_BACK, .count = news->number};

	engine->cut_off.recheck = engine->timers.suspended.count;
	if (engine->ownership.role == DW_OWNER)
		recovery_need(&engine->recovery);
	event_raise(engine, &event, "shard %u is in use again: its timers start again",
		    news->number);
}

static void shard_refused(struct engine *engine, const dw_shard_news *news)
{
	dw_event event = {
	    .kind = DW_EVENT_SHARD_FAILED, .status = news->status, .count = news->number};

	event_raise(engine, &event, "shard %u cannot be used, and its timers wait: %s",
		    news->number, news->words);
}

void cut_off_watch(struct engine *engine)
{
	dw_shard_news news;

	while (driven_take_shard(engine->store, &news)) {
		bool is_refused = news.state == DW_SHARD_REFUSED;

		engine->cut_off.count = news.refused;
		engine->cut_off.refused[news.number] = is_refused;
		(is_refused ? shard_refused : shard_back)(engine, &news);
	}
}
