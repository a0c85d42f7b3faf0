#include "engine/core.h"

#include "port/driven.h"

#define LOOK_EVERY DW_MILLISECONDS(50) /* time between two looks at all leases */

/* covers returns true if the lease covers this moment. */
static bool covers(dw_usec lease, dw_usec steady)
{
	return lease == DW_NEVER || steady < lease;
}

bool lease_is_ours(const struct engine *engine, unsigned shard)
{
	dw_usec lease;

	if (!engine->shards.all[shard].owned)
		return true; /* a client has no lease, and starts no timers */
	lease = driven_lease(engine->store, shard);
	return lease == DW_NEVER || engine_steady(engine) < lease;
}

bool lease_holds(const struct engine *engine, unsigned shard)
{
	return engine->shards.all[shard].giving == GIVING_NOT && lease_is_ours(engine, shard);
}

bool lease_allows(const struct engine *engine, const struct timer *timer)
{
	return lease_holds(engine, timer->shard) && !engine->shards.all[timer->shard].refused;
}

bool lease_suspend(struct engine *engine, struct timer *timer)
{
	if (timer->busy || timer->state == TIMER_HELD || lease_allows(engine, timer))
		return false;
	timer_suspend(engine, timer);
	return true;
}

/* ---- All leases ---------------------------------------------------------------------------- */

/* is_over returns true if the shard is ours, and its lease is over. A shard that is being given to
 * another peer does not count. */
static bool is_over(const struct engine *engine, unsigned shard, dw_usec steady)
{
	const struct engine_shard *its = &engine->shards.all[shard];

	return its->owned && !its->refused && its->giving == GIVING_NOT &&
	       !covers(driven_lease(engine->store, shard), steady);
}

int lease_find_over(const struct engine *engine)
{
	const struct lease *lease = &engine->lease;
	unsigned count = engine->shards.count;
	dw_usec steady;

	if (engine->ownership.role != DW_OWNER || (!lease->is_over && lease->first_end == DW_NEVER))
		return -1;
	steady = engine_steady(engine);
	if (!lease->is_over && steady < lease->first_end)
		return -1;
	for (unsigned i = 0; i < count; i++)
		if (is_over(engine, i, steady))
			return (int)i;
	return -1;
}

void lease_look(struct engine *engine)
{
	struct lease *lease = &engine->lease;
	unsigned count = engine->shards.count;
	dw_usec steady;

	if (engine->ownership.role != DW_OWNER)
		return;
	if (count == 1 && driven_lease(engine->store, 0) == DW_NEVER) {
		*lease = (struct lease){.notified = lease->notified, .first_end = DW_NEVER};
		return;
	}
	steady = engine_steady(engine);
	if (count > 1 && !lease->is_over && steady < lease->look_at)
		return;
	lease->first_end = DW_NEVER;
	lease->is_over = false;
	for (unsigned i = 0; i < count; i++) {
		dw_usec until = driven_lease(engine->store, i);

		if (engine->shards.all[i].owned && covers(until, steady))
			lease->first_end = usec_min(lease->first_end, until);
		else
			lease->is_over |= is_over(engine, i, steady);
	}
	lease->look_at = usec_min(lease->first_end, usec_add(steady, LOOK_EVERY));
}

/* is_waited_for returns true if due timers wait for the lease of the shard. A store may delay
 * starts for a moment, which does not count. */
static bool is_waited_for(const struct engine *engine, unsigned shard, dw_usec steady)
{
	return engine->shards.all[shard].suspended.first && is_over(engine, shard, steady) &&
	       steady >= usec_add(driven_lease(engine->store, shard), LEASE_LOOK);
}

static void tell_over(struct engine *engine, unsigned first, unsigned over)
{
	dw_event event = {.kind = DW_EVENT_LEASE, .count = first};

	if (driven_shards(engine->store) == 1)
		event_raise(engine, &event,
			    "the lease is over: due timers wait until it is renewed");
	else
		event_raise(engine, &event,
			    "the lease of shard %u%s is over: due timers wait until it is renewed",
			    first, over > 1 ? ", and of others," : "");
}

void lease_watch(struct engine *engine)
{
	unsigned count = engine->shards.suspended > 0 ? engine->shards.count : 0;
	dw_usec steady = count > 0 ? engine_steady(engine) : 0;
	unsigned first = 0, over = 0, waits = 0;

	if (engine->ownership.role != DW_OWNER)
		return;
	for (unsigned i = 0; i < count; i++) {
		waits += engine->shards.all[i].suspended.first && is_over(engine, i, steady);
		if (is_waited_for(engine, i, steady) && over++ == 0)
			first = i;
	}
	if (waits == 0)
		engine->lease.notified = false;
	if (over == 0 || engine->lease.notified || engine->drive.closing)
		return;
	engine->lease.notified = true;
	tell_over(engine, first, over);
}

dw_usec lease_wake(const struct engine *engine, dw_usec now)
{
	const struct lease *lease = &engine->lease;
	dw_usec at = DW_NEVER;

	if (engine->ownership.role != DW_OWNER)
		return at;
	if (lease->first_end != DW_NEVER)
		at = usec_add(now, usec_max(usec_sub(lease->first_end, engine_steady(engine)), 0));
	/* The store wakes the engine when a lease is renewed. Until lease_watch() has told the
	 * program that timers wait, every LEASE_LOOK a turn looks whether they still wait. */
	if (lease->is_over && engine->shards.suspended > 0 && !lease->notified)
		at = usec_min(at, usec_add(now, LEASE_LOOK));
	return at;
}
