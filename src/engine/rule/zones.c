#include "engine/rule/zones.h"

#include "engine/core.h"
#include "engine/rule/occurrences.h"
#include "engine/due/urgent.h"

#define LOOK_EVERY DW_HOURS(1)
/* pause before the next walk, if too many timers were moved in one */
#define LOOK_AGAIN DW_SECONDS(1)

/* A peer with newer data of zones may have computed the occurrence. Then the occurrence stays. */
void zones_correct(struct engine *engine, struct timer *timer)
{
	dw_op *op = NULL;

	if (!engine->ownership.sharing.last.has_newer_zones)
		op = occurrence_move(engine, timer, engine_now(engine));
	if (!op)
		return;
	timer_disarm(engine, timer);
	urgent_send(engine, timer, op);
}

void zones_learnt(struct engine *engine, struct timer *timer)
{
	char message[DW_MESSAGE_SIZE];

	if (occurrence_is_known(engine, timer, message))
		zones_correct(engine, timer);
	else
		timer->zone_noted = rules_note_unknown(engine, timer, message);
}

/* is_known_again returns true if this machine knows the zone again. */
static bool is_known_again(struct engine *engine, const struct unknown_zone *zone)
{
	const struct timer *timer = index_find(&engine->timers.index, zone->id);
	char message[DW_MESSAGE_SIZE];

	return timer && timer->recurs && occurrence_is_known(engine, timer, message);
}

static void tell_zone(struct engine *engine, const struct unknown_zone *zone)
{
	dw_event event = {.kind = DW_EVENT_ZONE,
			  .status = DW_EINVAL,
			  .id = zone->id,
			  .topic = zone->topic,
			  .count = zone->count};

	if (zone->count == 1)
		event_raise(engine, &event, "%s cannot start, and is kept: %s", zone->id,
			    zone->message);
	else
		event_raise(engine, &event,
			    "%llu timers cannot start, and are kept: %s and others: %s",
			    (unsigned long long)zone->count, zone->id, zone->message);
}

/* tell_unknown reports the zones that are not known, each of them once an hour. */
static void tell_unknown(struct engine *engine)
{
	dw_usec steady = engine->timers.rules.unknown ? engine_steady(engine) : 0;

	for (struct unknown_zone *zone = engine->timers.rules.unknown; zone; zone = zone->next) {
		if (zone->count == 0 || steady < zone->tell_at)
			continue;
		if (!is_known_again(engine, zone))
			tell_zone(engine, zone);
		zone->count = 0;
		zone->tell_at = usec_add(steady, LOOK_EVERY);
	}
}

static void zone_visit(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (!timer->recurs || timer->busy || !engine->shards.all[timer->shard].owned)
		return;
	if (submit_is_urgent_full(&engine->submit))
		engine->timers.rules.unfinished = true;
	else
		zones_correct(engine, timer);
}

/* end_walk is called after the walk. If it left timers out, the next walk follows soon. */
static void end_walk(struct engine *engine)
{
	struct rules *rules = &engine->timers.rules;

	if (rules->unfinished)
		rules->look_at = usec_add(engine_steady(engine), LOOK_AGAIN);
}

void zones_round(struct engine *engine)
{
	static const struct walker corrector = {zone_visit, end_walk};
	struct rules *rules = &engine->timers.rules;
	dw_usec steady = rules->in_use ? engine_steady(engine) : 0;

	if (engine->ownership.role != DW_OWNER)
		/* The next owner notes them again when it loads the timers. */
		rules_forget_unknown(engine);
	if (!rules->in_use || engine->ownership.role != DW_OWNER || recovery_loads(engine))
		return;
	tell_unknown(engine);
	if (steady < rules->look_at || walk_is_on(&engine->walk))
		return;
	rules->look_at = usec_add(steady, LOOK_EVERY);
	if (!rules_changed(engine) && !rules->unfinished)
		return;
	rules->unfinished = false;
	walk_begin(&engine->walk, &corrector);
}

dw_usec zones_wake(const struct engine *engine, dw_usec now)
{
	const struct unknown_zone *zone = engine->timers.rules.unknown;
	dw_usec at = DW_NEVER;

	if (recovery_loads(engine))
		return at;
	for (; zone; zone = zone->next)
		if (zone->count > 0)
			at = usec_min(at, zone->tell_at);
	return at == DW_NEVER ? at
			      : usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}
