#include "engine/heal/shards.h"

#include <string.h>

#include "engine/core.h"
#include "port/driven.h"

/* Shards that a peer gains and loses in this time are reported together. */
#define TELL_AFTER DW_SECONDS(1)

bool shards_refuse(const struct engine *engine, const char *id)
{
	return engine->shards.refused > 0 && id &&
	       engine->shards.all[driven_shard_of(engine->store, id)].refused;
}

bool shards_suspend(struct engine *engine, struct timer *timer)
{
	const struct engine_shard *shard = &engine->shards.all[timer->shard];

	if ((!shard->refused && shard->giving == GIVING_NOT) || timer->busy ||
	    timer->state == TIMER_HELD)
		return false;
	timer_suspend(engine, timer);
	return true;
}

/* A timer that is being delivered is not suspended, because its shard cannot be given before the
 * delivery ends. */
bool shards_suspend_call(struct engine *engine, struct timer *timer)
{
	if (engine->shards.all[timer->shard].giving < GIVING_WAITS ||
	    timer->state == TIMER_FIRING || timer->state == TIMER_HELD ||
	    timer->state == TIMER_VERDICT)
		return false;
	timer_suspend(engine, timer);
	return true;
}

bool shards_row_is_current(const struct engine *engine, const dw_op *op, const dw_row *row)
{
	const struct shards *shards = &engine->shards;

	/* The shards have not changed since the operation was sent. */
	if (ticket_of_const(op)->term == shards->terms && shards->owned == shards->count)
		return true;
	return shards_is_current(shards, driven_shard_of(engine->store, row->id), op);
}

void shards_forget(struct engine *engine)
{
	for (unsigned i = 0; i < DW_SHARDS_MAX; i++)
		alloc_free(&engine->alloc, engine->shards.all[i].why);
}

/* ---- Gaining and losing -------------------------------------------------------------------- */

void shards_own(struct engine *engine, unsigned term)
{
	struct shards *shards = &engine->shards;

	shards->owned = 0;
	shards->lost_last = false;
	for (unsigned i = 0; i < shards->count; i++) {
		struct engine_shard *shard = &shards->all[i];

		shard->owned = driven_lease(engine->store, i) != INT64_MIN;
		shard->term = term;
		shards->owned += shard->owned;
	}
	shards->gains += shards->owned;
}

void shards_lose_all(struct shards *shards)
{
	unsigned term = shards_begin_term(shards);

	for (unsigned i = 0; i < DW_SHARDS_MAX; i++) {
		struct engine_shard *shard = &shards->all[i];

		shard->owned = shard->drops = shard->gained = false;
		shard->term = term;
	}
	shards->losses += shards->owned;
	shards->owned = shards->drops = 0;
	shards->lost_last = false;
}

void shards_lose(struct engine *engine, unsigned number)
{
	struct shards *shards = &engine->shards;
	struct engine_shard *shard = &shards->all[number];

	shard->gained = false;
	if (!shard->owned)
		return;
	shard->owned = false;
	shard->term = shards_begin_term(shards);
	shard->drops = true;
	shards->owned--;
	shards->losses++;
	shards->drops++;
	shards->bucket = 0; /* the round begins again, and finds the timers of all lost shards */
	shards->lost_last = shards->owned == 0 && !engine->env.is_peer;
	recovery_leave(&engine->recovery, number);
	submit_refuse_shard(engine, number);
}

void shards_lose_fenced(struct engine *engine, const char *id)
{
	struct shards *shards = &engine->shards;

	for (unsigned i = 0; i < shards->count; i++)
		if (!shards->all[i].refused && driven_lease(engine->store, i) == INT64_MIN)
			shards_lose(engine, i);
	shards_lose(engine, driven_shard_of(engine->store, id));
}

void shards_gain(struct engine *engine, unsigned number)
{
	struct shards *shards = &engine->shards;
	struct engine_shard *shard = &shards->all[number];

	shard->gained = shard->drops;
	if (shard->drops)
		return;
	if (!shard->owned) {
		shard->owned = true;
		shard->term = shards_begin_term(shards);
		shards->owned++;
		shards->gains++;
	}
	recovery_need(&engine->recovery, number);
	engine->recovery.hurries = true;
}

void shards_read_again(struct engine *engine, unsigned number)
{
	if (engine->shards.all[number].owned)
		recovery_need(&engine->recovery, number);
}

void shards_read_all_again(struct engine *engine)
{
	for (unsigned i = 0; i < engine->shards.count; i++)
		shards_read_again(engine, i);
}

/* ---- News ---------------------------------------------------------------------------------- */

/* renumber is called when a client hears that the store has another number of shards. */
static void renumber(struct timer *timer, void *user)
{
	struct engine *engine = user;
	bool is_suspended = timer->place == PLACE_SUSPENDED;

	if (is_suspended)
		timer_disarm(engine, timer);
	engine->shards.all[timer->shard].busy -= timer->busy;
	timer->shard = (uint8_t)driven_shard_of(engine->store, timer->id);
	engine->shards.all[timer->shard].busy += timer->busy;
	if (!is_suspended)
		return;
	timer_arm_fire(&engine->timers, timer, engine_now(engine));
	timer->backing_off = true;
}

static void watch_count(struct engine *engine)
{
	unsigned count = driven_shards(engine->store);

	if (engine->shards.count == count || engine->ownership.role == DW_OWNER)
		return;
	engine->shards.count = count;
	index_each(&engine->timers.index, renumber, engine);
}

/* set_why keeps why the shard is refused, for the report. NULL: the shard is refused no longer. */
static void set_why(struct engine *engine, struct engine_shard *shard, const char *words)
{
	size_t size = words ? strlen(words) + 1 : 0;

	engine->shards.refusals++;
	alloc_free(&engine->alloc, shard->why);
	shard->why = words ? alloc_new(&engine->alloc, size) : NULL;
	if (shard->why)
		memcpy(shard->why, words, size);
}

static void note_refused(struct engine *engine, const dw_shard_news *news)
{
	struct engine_shard *shard = &engine->shards.all[news->number];
	dw_event event = {
	    .kind = DW_EVENT_SHARD_FAILED, .status = news->status, .count = news->number};

	if (shard->refused)
		return;
	shard->refused = true;
	shard->refused_at = engine_now(engine);
	set_why(engine, shard, news->words);
	engine->shards.refused++;
	/* The scan of this shard continues with its other shards. This shard is read when it is in
	 * use again. */
	recovery_leave(&engine->recovery, news->number);
	shards_read_again(engine, news->number);
	event_raise(engine, &event, "shard %u cannot be used, and its timers wait: %s",
		    news->number, news->words);
}

static void note_accepted(struct engine *engine, unsigned number)
{
	struct engine_shard *shard = &engine->shards.all[number];
	dw_event event = {.kind = DW_EVENT_SHARD_BACK, .count = number};

	if (!shard->refused)
		return;
	shard->refused = false;
	set_why(engine, shard, NULL);
	engine->shards.refused--;
	event_raise(engine, &event, "shard %u is in use again: its timers start again", number);
}

static void take_news(struct engine *engine, const dw_shard_news *news)
{
	if (news->state == DW_SHARD_REFUSED) {
		note_refused(engine, news);
		return;
	}
	note_accepted(engine, news->number);
	/* If the store refuses no shard at all, none of ours is refused. For example, the namespace
	 * of a client may have another number of shards now. */
	for (unsigned i = 0; news->refused == 0 && engine->shards.refused > 0; i++)
		note_accepted(engine, i);
	if (engine->ownership.role != DW_OWNER)
		return;
	if (news->state == DW_SHARD_FOREIGN)
		shards_lose(engine, news->number);
	else /* memory may have an old state of its timers, so they are read again */
		shards_gain(engine, news->number);
}

void shards_watch(struct engine *engine)
{
	dw_shard_news news;

	watch_count(engine);
	while (driven_take_shard(engine->store, &news))
		take_news(engine, &news);
}

/* Shards move one by one, so shards_tell waits a moment to report all of them together. */
void shards_tell(struct engine *engine)
{
	struct shards *shards = &engine->shards;
	dw_event event = {.kind = DW_EVENT_SHARDS, .count = shards->owned};
	dw_usec steady;

	if (!engine->env.is_peer || shards->gains + shards->losses == 0)
		return;
	steady = engine_steady(engine);
	if (shards->tell_at == 0)
		shards->tell_at = usec_add(steady, TELL_AFTER);
	if (steady < shards->tell_at)
		return;
	event_raise(engine, &event, "this process has %u of %u shards now: gained %u, lost %u",
		    shards->owned, shards->count, shards->gains, shards->losses);
	shards->gains = shards->losses = 0;
	shards->tell_at = 0;
}

dw_usec shards_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = engine->shards.tell_at;

	return at == 0 ? DW_NEVER : usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}
