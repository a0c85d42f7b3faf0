#include "sim/fleet/refused.h"

#include <string.h>

#include "sim/fleet/fleet.h"

/* ---- Which shards, and how long ------------------------------------------------------------- */

static unsigned how_many(struct sim *sim, unsigned count)
{
	uint64_t dice = draw(sim, 100);

	if (dice < 10)
		return count;
	return dice < 70 ? 1 : 1 + (unsigned)draw(sim, count);
}

static void choose_shards(struct fleet *fleet)
{
	struct refused *refused = &fleet->refused;
	unsigned count = fleet->server.shard_count;
	unsigned wanted = how_many(fleet->sim, count);

	memset(refused->shards, 0, sizeof refused->shards);
	for (refused->count = 0; refused->count < wanted; refused->count++) {
		unsigned shard = (unsigned)draw(fleet->sim, count);

		while (refused->shards[shard])
			shard = (shard + 1) % count;
		refused->shards[shard] = true;
	}
}

static dw_usec choose_length(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	const dw_usec lengths[] = {DW_MILLISECONDS(20), DW_SECONDS(1), DW_SECONDS(3),
				   4 * fleet->server.lease};

	return 1 + (dw_usec)draw(sim, (uint64_t)lengths[draw(sim, 4)]);
}

void refused_act(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct refused *refused = &fleet->refused;

	if (sim->clocks.steady < refused->until || !chance(sim, fleet->outage.shards))
		return;
	choose_shards(fleet);
	refused->process = chance(sim, 7000) ? PROCESSES_MAX : (unsigned)draw(sim, fleet->count);
	refused->moves = chance(sim, 4000);
	refused->since = sim->clocks.steady;
	refused->until = sim->clocks.steady + choose_length(fleet);
	for (unsigned i = 0; i < fleet->server.shard_count; i++) {
		if (!refused->shards[i])
			continue;
		trace(sim, "shard refused", refused->moves ? "moves" : "", refused->until, i);
		refused->ended[i] = refused->until;
	}
	if (refused->count == fleet->server.shard_count)
		faults_disturb(sim, refused->until);
}

void refused_end(struct fleet *fleet)
{
	struct refused *refused = &fleet->refused;

	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		refused->ended[i] = usec_min(refused->ended[i], fleet->sim->clocks.steady);
	refused->until = usec_min(refused->until, fleet->sim->clocks.steady);
}

/* ---- Who is refused ------------------------------------------------------------------------- */

static bool is_now(const struct fleet *fleet, unsigned process)
{
	const struct refused *refused = &fleet->refused;

	return fleet->sim->clocks.steady < refused->until &&
	       (refused->process == PROCESSES_MAX || refused->process == process);
}

bool refused_is(const struct fleet *fleet, unsigned shard, unsigned process)
{
	return is_now(fleet, process) && fleet->refused.shards[shard];
}

bool refused_all(const struct fleet *fleet, unsigned process)
{
	return is_now(fleet, process) && fleet->refused.count == fleet->server.shard_count;
}

bool refused_disturbs(const struct fleet *fleet)
{
	return fleet->sim->clocks.steady < fleet->refused.until + 2 * fleet->server.lease;
}

struct reply *refused_reply(struct fleet *fleet, const struct packet *packet, const char *script)
{
	const char *words = fleet->refused.moves
				? "TRYAGAIN Multiple keys request during rehashing of slot"
				: "NOPERM No permissions to access a key";
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	unsigned process =
	    packet->route ? packet->route->connection->instance->number : PROCESSES_MAX;
	int shard = packet_shard(packet, script != NULL);
	struct reply *reply;

	if (shard < 0 || !refused_is(fleet, (unsigned)shard, process))
		return NULL;
	reply = reply_new(&alloc);
	(void)reply_bytes(reply, reply, REPLY_ERROR, words, strlen(words)); /* endless memory */
	trace(fleet->sim, "shard refuses", script ? script : packet->words[0], shard, (int)process);
	return reply;
}
