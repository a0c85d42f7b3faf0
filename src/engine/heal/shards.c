#include "engine/heal/shards.h"

#include "engine/core.h"
#include "port/driven.h"

bool shards_refuse(const struct engine *engine, const char *id)
{
	return engine->shards.refused > 0 && id &&
	       engine->shards.all[driven_shard_of(engine->store, id)].refused;
}

bool shards_suspend(struct engine *engine, struct timer *timer)
{
	if (!engine->shards.all[timer->shard].refused || timer->busy || timer->state == TIMER_HELD)
		return false;
	timer_suspend(engine, timer);
	return true;
}

/* shard_back is called when the shard is in use again. Memory may have an old state of its timers,
 * and a scan may have left the shard out. So the store is scanned again. */
static void shard_back(struct engine *engine, const dw_shard_news *news)
{
	dw_event event = {.kind = DW_EVENT_SHARD_BACK, .count = news->number};

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

void shards_watch(struct engine *engine)
{
	dw_shard_news news;

	while (driven_take_shard(engine->store, &news)) {
		bool is_refused = news.state == DW_SHARD_REFUSED;

		engine->shards.refused = news.refused;
		engine->shards.all[news.number].refused = is_refused;
		(is_refused ? shard_refused : shard_back)(engine, &news);
	}
}
