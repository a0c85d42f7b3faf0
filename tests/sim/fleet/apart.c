#include "sim/fleet/apart.h"

#include "sim/fleet/fleet.h"

#define TRACES DW_SECONDS(8) /* so long after a fault its traces are gone */
#define BACK DW_SECONDS(3)   /* so long after a refusal its shard works again */
#define LATE DW_SECONDS(2)
#define BATCH_WAIT DW_SECONDS(2)

/* is_quiet: nothing but single shards was disturbed since then. */
static bool is_quiet(const struct fleet *fleet, dw_usec since)
{
	const struct sim *sim = fleet->sim;

	return sim->faults.disturbed_until + TRACES < since && !sim->calls.purging &&
	       sim->calls.purged_at + TRACES < since;
}

static bool works(const struct fleet *fleet, unsigned shard, dw_usec since)
{
	return fleet->refused.ended[shard] + BACK < since;
}

/* any_works: the refusals of before and those of now leave a shard, as far as a store can know. */
static bool any_works(const struct fleet *fleet, dw_usec since)
{
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (works(fleet, i, since))
			return true;
	return false;
}

bool apart_must_work(const struct fleet *fleet, const char *id, dw_usec since)
{
	return is_quiet(fleet, since) && works(fleet, server_shard(&fleet->server, id), since);
}

/* ---- Events --------------------------------------------------------------------------------- */

static void note_failed(struct fleet *fleet, unsigned shard)
{
	struct heard *heard = &fleet->at_work->heard;
	dw_usec now = fleet->sim->clocks.steady;

	/* Without memory an event is lost. */
	if (heard->failed[shard] && fleet->sim->memory.fail_count == 0)
		broken(fleet->sim, "S4", "the program was told twice that shard %u fails", shard);
	if (works(fleet, shard, now) && is_quiet(fleet, now))
		broken(fleet->sim, "S4", "the program was told that shard %u fails, and it works",
		       shard);
	heard->failed[shard] = true;
}

static void note_back(struct fleet *fleet, unsigned shard)
{
	struct heard *heard = &fleet->at_work->heard;

	if (!heard->failed[shard] && fleet->sim->memory.fail_count == 0)
		broken(fleet->sim, "S4",
		       "the program was told that shard %u is back, not that it "
		       "had failed",
		       shard);
	heard->failed[shard] = false;
}

void apart_event(struct fleet *fleet, const dw_event *event)
{
	if (event->kind == DW_EVENT_SHARD_FAILED || event->kind == DW_EVENT_SHARD_BACK)
		trace(fleet->sim, dw_event_name(event->kind), "", (int64_t)event->count,
		      fleet->at_work->instance.number);
	if (event->kind == DW_EVENT_SHARD_FAILED)
		note_failed(fleet, (unsigned)event->count);
	if (event->kind == DW_EVENT_SHARD_BACK)
		note_back(fleet, (unsigned)event->count);
	if (!engine_is_owner(fleet->at_work->instance.engine) ||
	    !is_quiet(fleet, fleet->sim->clocks.steady))
		return;
	if (event->kind == DW_EVENT_STORE_FAILED && any_works(fleet, fleet->sim->clocks.steady))
		broken(fleet->sim, "S4", "the program was told that the store fails");
	if (event->kind == DW_EVENT_OWNER_LOST && !fleet->at_work->instance.closing)
		broken(fleet->sim, "S3", "all shards were lost, and some work");
}

/* apart_submitted: in quiet times a scan of the whole store has no reason. */
void apart_submitted(struct fleet *fleet, const dw_op *op)
{
	dw_usec now = fleet->sim->clocks.steady;
	unsigned working = 0;

	if (op->kind != DW_OP_SCAN || ticket_of_const(op)->call || op->flags & DW_OP_SHARDS ||
	    op->topic || !is_quiet(fleet, now))
		return;
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		working += works(fleet, i, now);
	if (2 * working > fleet->server.shard_count && fleet->server.shard_count > 3)
		broken(fleet->sim, "S3", "all shards are read, and %u work", working);
}

/* ---- In time -------------------------------------------------------------------------------- */

static bool is_at_work(const struct fleet *fleet, const struct instance *instance)
{
	return instance->engine && !instance->closing && engine_is_owner(instance->engine) &&
	       instance->stalled_until <= fleet->sim->clocks.steady;
}

/* owner_of: the process that should start the timers of the shard: who has its lease; of owners
 * without peers any that is at work, because it should acquire the lease. NULL: none. */
static const struct process *owner_of(const struct fleet *fleet, unsigned shard)
{
	const struct process *any = NULL;

	for (unsigned i = 0; i < fleet->count; i++) {
		const struct process *process = &fleet->processes[i];

		if (!is_at_work(fleet, &process->instance))
			continue;
		if (fleet_has_lease(process, shard))
			return process;
		any = any ? any : process;
	}
	return fleet->sim->peers ? NULL : any;
}

/* must_start: a timer of this name could start now, and nothing was asked about it. */
static bool must_start(const struct name *name, const struct instance *owner, dw_usec since)
{
	const struct generation *stored = name->stored;

	return stored && !name->newer && name->open == 0 && !name->unreported && !name->loss.at &&
	       stored->fate == FATE_STORED && stored->asked->late_after == 0 &&
	       instance_handles(owner, stored->asked->topic) &&
	       owner->handled_at[stored->asked->topic] < since;
}

static void watch_name(struct fleet *fleet, const struct name *name)
{
	unsigned shard = server_shard(&fleet->server, name->id);
	const struct process *owner = owner_of(fleet, shard);
	struct sim *sim = fleet->sim;
	dw_usec bound = LATE + BATCH_WAIT + DW_MILLISECONDS(sim->knobs.hold_ms);
	dw_usec since = sim->clocks.steady - bound;

	if (!owner || fleet->server.acquired_at[shard] >= since ||
	    !must_start(name, &owner->instance, since) || !apart_must_work(fleet, name->id, since))
		return;
	if (name->stored->due + bound < clocks_wall(sim) && name->stored->since < since &&
	    name->touched_at < since)
		broken(sim, "S1", "%s has been due for %lld us and is %s", name->id,
		       (long long)(clocks_wall(sim) - name->stored->due),
		       name->stored->life == owner->instance.life ? "not settled" : "not started");
}

/* watch_told: the owner has renewed its leases meanwhile. */
static void watch_told(const struct fleet *fleet, unsigned shard)
{
	const struct process *owner = owner_of(fleet, shard);
	const struct refused *refused = &fleet->refused;
	dw_usec now = fleet->sim->clocks.steady;
	dw_usec within = fleet->server.lease * 3 / 10 + DW_SECONDS(3);

	if (!owner)
		return;
	if (refused_is(fleet, shard, owner->instance.number) && !owner->heard.failed[shard] &&
	    refused->since + within < now && is_quiet(fleet, refused->since))
		broken(fleet->sim, "S4", "nobody was told that shard %u is refused", shard);
	if (owner->heard.failed[shard] && works(fleet, shard, now) && is_quiet(fleet, now))
		broken(fleet->sim, "S4", "nobody was told that shard %u is back", shard);
}

void apart_watch(struct fleet *fleet)
{
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		watch_told(fleet, i);
	for (const struct name *name = fleet->sim->promises.first; name; name = name->next)
		watch_name(fleet, name);
}
