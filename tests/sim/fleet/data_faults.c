#include "sim/fleet/data_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/fleet.h"
#include "sim/fleet/newer.h"

#define AGE_MAX DW_SECONDS(2)

/* ---- Who has to rebuild it ------------------------------------------------------------------ */

/* keeper_of: the owner of the shard, if its process continues, or NULL. */
static struct process *keeper_of(struct fleet *fleet, unsigned shard)
{
	struct process *by_grace = NULL;

	for (unsigned i = 0; i < fleet->count; i++) {
		struct process *process = &fleet->processes[i];

		if (!process->instance.engine || process->instance.closing ||
		    !engine_is_owner(process->instance.engine))
			continue;
		if (fleet_has_lease(process, shard))
			return process;
		if (losses_in_grace(process, shard))
			by_grace = process;
	}
	return by_grace;
}

/* ---- Emptied ------------------------------------------------------------------------------- */

static void empty_shard(struct fleet *fleet, unsigned shard)
{
	struct process *keeper = keeper_of(fleet, shard);

	trace(fleet->sim, "emptied", "", shard, keeper ? (int)keeper->instance.number : -1);
	losses_give_grace(fleet, shard);
	losses_look(fleet, shard, keeper);
	server_empty(&fleet->server, shard);
	losses_emptied(fleet, shard);
	losses_settle(fleet, shard, keeper);
}

/* stall_owner: the owner may notice the loss late, and another process may be faster. */
static void stall_owner(struct fleet *fleet)
{
	struct process *process = keeper_of(fleet, 0);

	if (!process || !chance(fleet->sim, 5000))
		return;
	process->instance.stalled_until = usec_max(
	    process->instance.stalled_until,
	    fleet->sim->clocks.steady + (dw_usec)draw(fleet->sim, (uint64_t)fleet->server.lease));
	trace(fleet->sim, "owner stalls", "", process->instance.stalled_until,
	      process->instance.number);
	faults_disturb(fleet->sim, process->instance.stalled_until);
}

static void empty(struct fleet *fleet)
{
	unsigned only = (unsigned)draw(fleet->sim, 2 * fleet->server.shard_count);

	server_forget(&fleet->server);
	stall_owner(fleet);
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (only >= fleet->server.shard_count || only == i)
			empty_shard(fleet, i);
	server_step_clock(&fleet->server);
	faults_disturb(fleet->sim, fleet->sim->clocks.steady);
}

void data_faults_given(struct fleet *fleet, unsigned shard)
{
	if (fleet->sim->faults.over || fleet->data_faults.empty == 0 || !chance(fleet->sim, 2000))
		return;
	empty_shard(fleet, shard);
	faults_disturb(fleet->sim, fleet->sim->clocks.steady);
}

/* ---- Set back ------------------------------------------------------------------------------ */

/* never_owned: the shard is as before its first acquisition. So it is free at once, and who takes
 * it then succeeds its owner, whatever the fence, as in an emptied shard. Returns no keeper. */
static struct process *never_owned(struct fleet *fleet, unsigned shard, struct process *keeper)
{
	losses_emptied(fleet, shard);
	if (keeper)
		keeper->exposure.superseded = true; /* it loses all shards with one */
	return NULL;
}

static void set_back(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct process *keepers[SHARDS_MAX_SIM];
	uint64_t fences[SHARDS_MAX_SIM];

	if (!fleet->server.past || sim->clocks.steady > fleet->server.past_at + AGE_MAX)
		return;
	trace(sim, "set back", "", sim->clocks.steady - fleet->server.past_at, 0);
	stall_owner(fleet);
	for (unsigned i = 0; i < fleet->server.shard_count; i++) {
		keepers[i] = keeper_of(fleet, i);
		losses_give_grace(fleet, i);
		losses_look(fleet, i, keepers[i]);
		fences[i] = server_fence(&fleet->server, i);
	}
	server_set_back(&fleet->server);
	for (unsigned i = 0; i < fleet->server.shard_count; i++) {
		if (server_fence(&fleet->server, i) == 0 && fences[i] > 0)
			keepers[i] = never_owned(fleet, i, keepers[i]);
		losses_settle(fleet, i, keepers[i]);
	}
	server_step_clock(&fleet->server);
	outage_restart(fleet);
}

/* ---- Ended, half deleted -------------------------------------------------------------------- */

static void command(struct fleet *fleet, const char *word, const char *key, const char *first,
		    const char *second)
{
	const char *words[] = {word, key, first, second};
	size_t sizes[] = {strlen(word), strlen(key), first ? strlen(first) : 0,
			  second ? strlen(second) : 0};

	reply_free(keyspace_call(fleet->server.keyspace, second ? 4 : first ? 3 : 2, words, sizes));
}

static void end_session(struct fleet *fleet)
{
	const struct process *process = &fleet->processes[draw(fleet->sim, fleet->count)];
	char end[32];

	(void)snprintf(end, sizeof end, "s:%s", process->nonce);
	server_forget(&fleet->server);
	trace(fleet->sim, "session ends", "", process->instance.number, 0);
	command(fleet, "DEL",
		server_key((unsigned)draw(fleet->sim, fleet->server.shard_count), end), NULL, NULL);
}

/* The renewals count entries and values: one of each, deleted in one shard, hide each other. */
static void delete_half(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct name *name = &sim->promises.names[draw(sim, sim->knobs.id_count)];
	const char *id = name->id;
	unsigned shard = server_shard(&fleet->server, id);
	struct process *keeper = keeper_of(fleet, shard);
	bool place = draw(sim, 2) == 0;

	if (name->newer)
		return;

	trace(sim, "half deleted", id, place, 0);
	faults_disturb(sim, sim->clocks.steady + DW_SECONDS(60));
	if (place) {
		command(fleet, "ZREM", server_key(shard, "z"), id, NULL);
		return;
	}
	losses_look_at_value(fleet, name, keeper);
	if (name->stored)
		command(fleet, "HDEL", server_key(shard, "h"), id, NULL);
	else
		command(fleet, "ZADD", server_key(shard, "z"), "7", id);
	losses_value_deleted(fleet, name, keeper);
}

/* ---- Chances ------------------------------------------------------------------------------- */

void data_faults_choose(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct data_faults *faults = &fleet->data_faults;

	if (fleet->only_shards || (sim->peers && !sim->losses))
		return;
	faults->newer = some(sim, 15);
	if (!sim->losses || chance(sim, 5000))
		return;
	faults->empty = some(sim, 15);
	faults->set_back = some(sim, 15);
	faults->session = some(sim, 10);
	faults->half_delete = some(sim, 15);
	sim->knobs.memory = 0; /* otherwise an owner could forget what it learnt */
}

void data_faults_act(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	const struct data_faults *faults = &fleet->data_faults;

	newer_act(fleet, faults->newer);
	if (chance(sim, faults->empty))
		empty(fleet);
	if (faults->set_back > 0 && chance(sim, 50))
		server_remember(&fleet->server);
	if (chance(sim, faults->set_back))
		set_back(fleet);
	if (chance(sim, faults->session))
		end_session(fleet);
	if (chance(sim, faults->half_delete))
		delete_half(fleet);
}
