/* The faults: servers and Sentinels die, stand still or are cut off; a person lets a replica lead,
 * or moves a slot. */
#include "sim/servers/servers.h"

/* Of 10,000 events. */
static struct {
	uint32_t kill, halt, apart, hide, split, teller, ask, move;
} knobs;

void unrest_choose(struct servers *servers)
{
	struct sim *sim = servers->sim;

	sim->knobs = (struct knobs){.crash = some(sim, 6),
				    .crash_inside = some(sim, 10),
				    .close = some(sim, 4),
				    .stall = some(sim, 6),
				    .timers_max = 1000000,
				    .pause_max_us = 20000 + (uint32_t)draw(sim, 400000)};
	knobs.kill = 1 + some(sim, 6);
	knobs.halt = some(sim, 6);
	knobs.apart = some(sim, 6);
	knobs.hide = some(sim, 6);
	knobs.split = some(sim, 6);
	knobs.teller = servers->is_cluster ? 0 : some(sim, 4);
	knobs.ask = some(sim, 4);
	knobs.move = servers->is_cluster ? some(sim, 20) : 0;
}

static dw_usec any_length(struct sim *sim)
{
	return (dw_usec)draw(sim, chance(sim, 4000) ? DW_SECONDS(15) : DW_SECONDS(2));
}

/* any_site: a master, mostly. */
static struct site *any_site(struct servers *servers)
{
	struct site *site = &servers->sites[draw(servers->sim, servers->site_count)];

	while (site->follows && chance(servers->sim, 7000))
		site = &servers->sites[draw(servers->sim, servers->site_count)];
	return site;
}

static void kill_site(struct servers *servers, struct site *site)
{
	dw_usec length = any_length(servers->sim);

	site->dead_until = servers->sim->clocks.steady + length;
	trace(servers->sim, "site dies", "", site->number, length);
	wires_cut(servers, site->number, true);
	network_restart(&site->network, site->dead_until);
	outages_fault(&servers->base, length);
}

static void halt_site(struct servers *servers, struct site *site)
{
	dw_usec length = any_length(servers->sim);

	trace(servers->sim, "site halts", "", site->number, length);
	network_halt(&site->network, servers->sim->clocks.steady + length);
	outages_fault(&servers->base, length);
}

/* cut_apart: clients still reach it. */
static void cut_apart(struct servers *servers, struct site *site)
{
	dw_usec length = any_length(servers->sim);

	trace(servers->sim, "site apart", "", site->number, length);
	site->apart_until = servers->sim->clocks.steady + length;
	outages_fault(&servers->base, length);
}

/* hide: a process does not reach some of the ends. */
static void hide(struct servers *servers, const struct member *member)
{
	struct sim *sim = servers->sim;
	dw_usec length = any_length(sim);
	unsigned number = member->process->instance.number;
	uint32_t share = chance(sim, 3000) ? 10000 : 4000;

	trace(sim, "hidden", "", number, length);
	for (unsigned i = 0; i < ENDS; i++)
		if (chance(sim, share))
			servers->hidden[number][i] = sim->clocks.steady + length;
	outages_fault(&servers->base, length);
}

/* take_over: a replica leads in place of a master of a cluster, which nobody else reaches. */
static void take_over(struct servers *servers, const struct site *master)
{
	for (unsigned i = 0; servers->is_cluster && i < servers->site_count; i++)
		if (servers->sites[i].follows == master)
			bus_take(servers, &servers->sites[i], false);
}

/* split: a server and one process are on their own side, and reach nobody else. In a cluster a
 * person may see that at once. */
static void split(struct servers *servers, const struct member *member, struct site *site)
{
	dw_usec length = any_length(servers->sim);
	unsigned number = member->process->instance.number;

	trace(servers->sim, "split", "", site->number, number);
	cut_apart(servers, site);
	for (unsigned i = 0; i < ENDS; i++)
		if (i != site->number)
			servers->hidden[number][i] = servers->sim->clocks.steady + length;
	outages_fault(&servers->base, length);
	if (chance(servers->sim, 5000))
		take_over(servers, site);
}

static void disturb_teller(struct servers *servers)
{
	struct sim *sim = servers->sim;
	struct teller *teller = &servers->tellers[draw(sim, TELLERS)];
	dw_usec length = any_length(sim);

	trace(sim, "teller", "", teller->network.run, length);
	if (chance(sim, 5000))
		network_halt(&teller->network, sim->clocks.steady + length);
	else
		teller->apart_until = sim->clocks.steady + length;
	outages_fault(&servers->base, length);
}

static void ask(struct servers *servers)
{
	struct site *site = &servers->sites[draw(servers->sim, servers->site_count)];

	if (servers->is_cluster)
		bus_take(servers, site, chance(servers->sim, 5000));
	else
		tellers_fail_over(servers);
}

void unrest_begin(struct outages *outages, struct member *any)
{
	struct servers *servers = servers_of(outages);
	struct sim *sim = servers->sim;

	if (chance(sim, knobs.kill))
		kill_site(servers, any_site(servers));
	if (chance(sim, knobs.halt))
		halt_site(servers, any_site(servers));
	if (chance(sim, knobs.apart))
		cut_apart(servers, any_site(servers));
	if (chance(sim, knobs.hide))
		hide(servers, any);
	if (chance(sim, knobs.split))
		split(servers, any, any_site(servers));
	if (chance(sim, knobs.teller))
		disturb_teller(servers);
	if (chance(sim, knobs.ask))
		ask(servers);
	if (chance(sim, knobs.move))
		bus_move(servers, (unsigned)draw(sim, servers->base.fleet.server.shard_count),
			 (unsigned)draw(sim, servers->site_count));
}

void unrest_end(struct servers *servers)
{
	for (unsigned i = 0; i < servers->site_count; i++)
		servers->sites[i].apart_until = 0;
	for (unsigned i = 0; i < TELLERS; i++)
		servers->tellers[i].apart_until = 0;
	servers->base.away_until = servers->sim->clocks.steady + DW_SECONDS(30);
}
