#include "sim/fleet/outage.h"

#include "sim/fleet/fleet.h"

void outage_choose(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;

	if (fleet->only_shards) {
		fleet->outage = (struct outage){.shards = 5 + some(sim, 40)};
		return;
	}
	fleet->outage = (struct outage){.cut = some(sim, 100),
					.refuse = some(sim, 15),
					.flush = some(sim, 15),
					.halt = some(sim, 20),
					.restart = some(sim, 10),
					.foreign = some(sim, 10),
					.shards = some(sim, 20),
					.long_stall = (uint32_t)draw(sim, 60)};
}

static void cut_any(struct fleet *fleet)
{
	struct process *process = &fleet->processes[draw(fleet->sim, fleet->count)];
	struct connection *connection =
	    chance(fleet->sim, 2000) ? process->subscriber : process->commands;

	if (connection)
		connection_cut(connection, chance(fleet->sim, 3000));
}

void outage_restart(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	dw_usec lease = fleet->server.lease;
	dw_usec until = sim->clocks.steady +
			(dw_usec)draw(sim, chance(sim, 1000) ? (uint64_t)(3 * lease) : 20000);

	trace(sim, "restart", "", until, 0);
	for (unsigned i = 0; i < fleet->count; i++) {
		struct process *process = &fleet->processes[i];

		if (process->commands)
			connection_cut(process->commands, true);
		if (process->subscriber)
			connection_cut(process->subscriber, true);
	}
	server_flush(&fleet->server);
	network_restart(&fleet->network, until);
	/* Without an owner that has a proof, nobody has a lease for so long. */
	faults_disturb(sim, until + lease + DW_SECONDS(1));
}

static void refuse(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct outage *outage = &fleet->outage;

	outage->refusal = (unsigned)draw(sim, 100);
	outage->refusing_until =
	    sim->clocks.steady + (dw_usec)draw(sim, chance(sim, 2000) ? 6000000 : 300000);
	trace(sim, "refusing", "", outage->refusing_until, outage->refusal);
	faults_disturb(sim, outage->refusing_until);
}

void outage_act(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	const struct outage *outage = &fleet->outage;

	if (chance(sim, outage->cut))
		cut_any(fleet);
	if (chance(sim, outage->flush))
		server_flush(&fleet->server);
	if (chance(sim, outage->restart))
		outage_restart(fleet);
	if (chance(sim, outage->halt))
		network_halt(&fleet->network,
			     sim->clocks.steady +
				 (dw_usec)draw(sim, chance(sim, 3000) ? 8000000 : 500000));
	if (chance(sim, outage->refuse))
		refuse(fleet);
	if (chance(sim, outage->foreign))
		foreign_begin(fleet);
	refused_act(fleet);
}
