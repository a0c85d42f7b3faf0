#include "engine/why.h"

#include "engine/core.h"
#include "port/driven.h"
#include "topic/gather.h"

/* is_away returns true if the store cannot be asked now. */
static bool is_away(const struct engine *engine)
{
	dw_journal_stats journal;

	driven_journal(engine->store, &journal);
	return engine->trouble.failing || journal.state == DW_JOURNAL_TAKES;
}

/* of_pause returns what a timer waits for if its topic or the handle is paused. A program that
 * holds deliveries has paused because it can handle no more. */
static dw_waits of_pause(const struct engine *engine, const struct timer *timer,
			 const char **ret_detail)
{
	if (timer->topic->settings.paused & DW_PAUSE_DELIVERY) {
		*ret_detail = "the topic is paused";
		return DW_WAITS_PAUSED;
	}
	if (!engine->delivery.paused)
		return DW_WAITS_NOT;
	*ret_detail = "the handle is paused: dw_resume() lets it go on";
	return engine->stats.held > 0 ? DW_WAITS_WORKERS : DW_WAITS_PAUSED;
}

/* of_shard returns what a timer waits for if its shard may not start it. */
static dw_waits of_shard(const struct engine *engine, const struct timer *timer,
			 const char **ret_detail)
{
	const struct engine_shard *shard = &engine->shards.all[timer->shard];

	if (shard->refused) {
		*ret_detail = shard->why ? shard->why : "";
		return DW_WAITS_REFUSED;
	}
	if (shard->giving != GIVING_NOT)
		return DW_WAITS_MOVES;
	if (!lease_holds(engine, timer->shard))
		return is_away(engine) ? DW_WAITS_AWAY : DW_WAITS_STORE;
	return DW_WAITS_NOT;
}

/* of_operation returns `waits` if an operation of the timer is under way, or backs off. */
static dw_waits of_operation(const struct engine *engine, const struct timer *timer, dw_waits waits)
{
	if (!timer->busy && !timer->backing_off)
		return DW_WAITS_NOT;
	return is_away(engine) ? DW_WAITS_AWAY : waits;
}

static dw_waits of_batch(const struct timer *timer, dw_usec now, dw_usec *ret_until)
{
	if (!topic_gathers(timer->topic, now))
		return DW_WAITS_WORKERS;
	*ret_until = topic_wait_ends(timer->topic->gathered);
	return DW_WAITS_BATCH;
}

/* is_overfull returns true if the program holds more timers of the topic than it can handle, and
 * has therefore removed its handler for a while. */
static bool is_overfull(const struct topic *topic)
{
	return topic->ready && topic->ready->unstarted;
}

/* of_place returns what a due timer waits for if no pause, shard or operation stops it. */
static dw_waits of_place(const struct topics *topics, const struct timer *timer, dw_usec now,
			 dw_why *why)
{
	if (timer->place == PLACE_UNSCHEDULED)
		return DW_WAITS_MEMORY;
	if (timer->kept == TOPIC_ZONELESS) {
		why->until = timer->slot_time;
		return DW_WAITS_ZONE;
	}
	if (timer->topic->is_full)
		return DW_WAITS_QUEUE;
	if (timer->gathered)
		return of_batch(timer, now, &why->until);
	if (!topic_handler(topics, timer->topic))
		return is_overfull(timer->topic) ? DW_WAITS_WORKERS : DW_WAITS_HANDLER;
	if (timer->kept == TOPIC_REFUSED) {
		why->until = timer->slot_time;
		return DW_WAITS_SIZE;
	}
	return timer->place == PLACE_WORK ? DW_WAITS_WORKERS : DW_WAITS_TURN;
}

/* of_unstarted returns what a timer waits for whose handler has not started. */
static dw_waits of_unstarted(const struct engine *engine, const struct timer *timer, dw_why *why)
{
	dw_usec now = engine_now(engine);
	dw_waits waits;

	if (timer->head.due > now) {
		why->until = timer->head.due;
		return timer->head.retries > 0 ? DW_WAITS_RETRY : DW_WAITS_DUE;
	}
	waits = of_pause(engine, timer, &why->detail);
	if (!waits)
		waits = of_shard(engine, timer, &why->detail);
	if (!waits)
		waits = of_operation(engine, timer, DW_WAITS_CLAIM);
	return waits ? waits : of_place(&engine->topics, timer, now, why);
}

static dw_waits of_held(const struct timer *timer, dw_why *why)
{
	why->until = timer->slot_time;
	if (timer->unstarted)
		return DW_WAITS_WORKERS; /* the program has queued this delivery itself */
	why->since = timer->started;
	return DW_WAITS_HOLD;
}

static dw_waits of_timer(const struct engine *engine, const struct timer *timer, dw_why *why)
{
	dw_waits waits;

	switch ((enum timer_state)timer->state) {
	case TIMER_FIRING:
		why->since = timer->started;
		return DW_WAITS_RUNS;
	case TIMER_HELD:
		return of_held(timer, why);
	case TIMER_VERDICT:
		waits = of_operation(engine, timer, DW_WAITS_VERDICT);
		return waits ? waits : DW_WAITS_VERDICT;
	case TIMER_PENDING:
	case TIMER_CLAIMED:
	case TIMER_ABSENT:
		break;
	}
	return of_unstarted(engine, timer, why);
}

bool engine_knows_why(const struct engine *engine, const char *id, dw_why *ret_why)
{
	const struct timer *timer = index_find(&engine->timers.index, id);

	if (!timer || timer->state == TIMER_ABSENT || !timer->topic || timer->storing ||
	    !engine->shards.all[timer->shard].owned)
		return false;
	*ret_why = (dw_why){.size = sizeof *ret_why,
			    .id = id,
			    .topic = timer->topic->name,
			    .due = timer->head.due,
			    .detail = "",
			    .who = "",
			    .shard = engine_shard_of(engine, id),
			    .is_exact = 1};
	ret_why->waits = of_timer(engine, timer, ret_why);
	return true;
}

int engine_shard_of(const struct engine *engine, const char *id)
{
	return driven_has_members(engine->store) ? (int)driven_shard_of(engine->store, id) : -1;
}

dw_usec engine_clock(const struct engine *engine)
{
	return engine_now(engine);
}
