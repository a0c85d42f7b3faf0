#include "engine/core.h"

#include "port/driven.h"

/* lease_of returns when the first lease of the shards ends that are ours. */
static dw_usec lease_of(const dw_store *store)
{
	unsigned count = driven_shards(store);
	dw_usec until = INT64_MIN;

	for (unsigned i = 0; i < count; i++) {
		dw_usec lease = driven_lease(store, i);

		if (lease != INT64_MIN && (until == INT64_MIN || lease < until))
			until = lease;
	}
	return until;
}

bool lease_holds(const struct engine *engine)
{
	dw_usec lease;

	if (engine->ownership.role != DW_OWNER)
		return true; /* a client has no lease, and starts no timers */
	lease = lease_of(engine->store);
	return lease == DW_NEVER || engine_steady(engine) < lease;
}

dw_usec lease_wake(const struct engine *engine, dw_usec now)
{
	dw_usec lease, steady;

	if (engine->ownership.role != DW_OWNER)
		return DW_NEVER;
	lease = lease_of(engine->store);
	if (lease == DW_NEVER)
		return DW_NEVER;
	steady = engine_steady(engine);
	return steady < lease ? usec_add(now, usec_sub(lease, steady)) : DW_NEVER;
}

static bool is_due(struct timers *timers, dw_usec now)
{
	return schedule_is_due(&timers->fire, now) ||
	       (timers_have_work(timers) && schedule_is_due(&timers->work, now));
}

void lease_watch(struct engine *engine, dw_usec now)
{
	dw_event event = {.kind = DW_EVENT_LEASE};

	if (lease_holds(engine)) {
		engine->lease.notified = false;
		return;
	}
	/* A store may hold starts up for a moment. */
	if (engine_steady(engine) < usec_add(lease_of(engine->store), LEASE_LOOK))
		return;
	if (engine->lease.notified || engine->drive.closing || engine->delivery.paused ||
	    !is_due(&engine->timers, now))
		return;
	engine->lease.notified = true;
	event_raise(engine, &event, "the lease is over: due timers wait until it is renewed");
}
