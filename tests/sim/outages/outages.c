#include "sim/outages/outages.h"

#include <stdio.h>
#include <string.h>

#include "sim/fleet/requests.h"

/* ---- Faults -------------------------------------------------------------------------------- */

/* lose_server: it is away from all, for longer than the lease now and then. In half of the cases
 * another process of it comes back. */
static void lose_server(struct outages *outages)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 3000) ? DW_SECONDS(15) : DW_SECONDS(2));

	outages->away_until = sim->clocks.steady + length;
	trace(sim, "away", "", outages->away_until, 0);
	for (unsigned i = 0; i < PROCESSES; i++)
		member_hide(&outages->members[i], outages->away_until);
	if (chance(sim, 5000))
		network_restart(&outages->fleet.network, outages->away_until);
	else
		network_drop_requests(&outages->fleet.network);
	outages_fault(outages, length);
}

static void cut_off(struct outages *outages, struct member *member)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 5000) ? DW_SECONDS(12) : DW_SECONDS(1));

	trace(sim, "cut off", "", length, member->process->instance.number);
	member_hide(member, sim->clocks.steady + length);
	outages_fault(outages, length);
}

static void halt(struct outages *outages)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 3000) ? DW_SECONDS(8) : DW_SECONDS(1));

	network_halt(&outages->fleet.network, sim->clocks.steady + length);
	outages_fault(outages, length);
}

static void disturb(struct outages *outages, struct member *member)
{
	struct sim *sim = outages->sim;
	const struct outage *knobs = &outages->fleet.outage;

	if (chance(sim, knobs->restart))
		lose_server(outages);
	if (chance(sim, knobs->cut))
		cut_off(outages, member);
	if (chance(sim, knobs->halt))
		halt(outages);
}

/* ---- A seed -------------------------------------------------------------------------------- */

static dw_usec next(struct outages *outages)
{
	return network_next(&outages->fleet.network);
}

static void work(struct outages *outages)
{
	requests_work(&outages->fleet);
}

static bool is_stored(struct outages *outages, const char *id)
{
	struct alloc alloc = memory_alloc(&outages->sim->table_account);
	dw_row *row = server_row(&outages->fleet.server, id);

	rows_free(&alloc, row);
	return row != NULL;
}

static bool may_start(const struct member *member, const char *id)
{
	const struct fleet *fleet = &member->outages->fleet;

	return fleet_has_lease(member->process, server_shard(&fleet->server, id));
}

static void free_all(struct outages *outages)
{
	network_free(&outages->fleet.network);
	server_free(&outages->fleet.server);
}

static const struct scene scene = {.has_journals = true,
				   .open = member_journal,
				   .next = next,
				   .work = work,
				   .disturb = disturb,
				   .may_start = may_start,
				   .is_stored = is_stored,
				   .free = free_all};

static void choose(struct outages *outages)
{
	struct sim *sim = outages->sim;

	sim->knobs = (struct knobs){.crash = some(sim, 10),
				    .crash_inside = some(sim, 20),
				    .close = some(sim, 5),
				    .stall = some(sim, 8),
				    .timers_max = 1000000,
				    .pause_max_us = 1000 + (uint32_t)draw(sim, 100000)};
	outages->fleet.outage = (struct outage){.restart = 3 + some(sim, 8),
						.cut = some(sim, 10),
						.halt = some(sim, 4),
						.shards = some(sim, 8)};
	outages->puts_left = 30 + (uint32_t)draw(sim, NUMBERS_MAX - 100);
	outages->policy = chance(sim, 5000) ? DW_OUTAGE_FIRE : DW_OUTAGE_HOLD;
	outages->fleet.same_host = chance(sim, 5000);
	outages->fleet.server.shard_count = 1 + (unsigned)draw(sim, SHARDS_MAX_SIM);
	outages->fleet.server.lease = DW_MILLISECONDS(1000 + draw(sim, 8000));
}

void outages_run(struct sim *sim)
{
	static struct outages all; /* too large for the stack */
	struct fleet *fleet = &all.fleet;

	all = (struct outages){.sim = sim, .scene = &scene, .history = history_new()};
	history_journals(all.history);
	choose(&all);
	clocks_init(sim, 0);
	fleet->sim = fleet->network.sim = sim;
	server_init(&fleet->server, sim);
	requests_init(fleet);
	outages_play(&all);
}
