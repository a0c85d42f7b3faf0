#include "sim/servers/tellers.h"

#include <stdio.h>
#include <string.h>

#include "sim/servers/servers.h"

#define HELLO 2000                /* of 10,000 ticks: two Sentinels hear of each other */
#define STRANGE_FOR DW_SECONDS(8) /* so long a master that is not named stays one */
#define AGAIN DW_SECONDS(3)

void tellers_init(struct servers *servers)
{
	struct sim *sim = servers->sim;

	servers->town = (struct town){.patience = DW_SECONDS(1) + (dw_usec)draw(sim, 3000000),
				      .lead_at = DW_NEVER,
				      .epoch = 1};
	for (unsigned i = 0; i < TELLERS; i++)
		servers->tellers[i] = (struct teller){
		    .network = {.sim = sim,
				.run = 100 + i,
				.up_since = sim->clocks.steady - DW_MINUTES(10)},
		    .epoch = 1,
		    .since = sim->clocks.steady - (dw_usec)draw(sim, DW_SECONDS(20))};
}

void tellers_free(struct servers *servers)
{
	for (unsigned i = 0; i < TELLERS; i++)
		network_free(&servers->tellers[i].network);
}

static bool is_up(const struct servers *servers, const struct teller *teller)
{
	dw_usec now = servers->sim->clocks.steady;

	return now >= teller->apart_until && now >= teller->network.halted_until;
}

static void name(struct servers *servers, unsigned number, unsigned site, uint64_t epoch)
{
	struct teller *teller = &servers->tellers[number];

	trace(servers->sim, "names", "", number, site);
	teller->named = site;
	teller->epoch = epoch;
	teller->since = servers->sim->clocks.steady;
}

struct site *tellers_master(struct servers *servers)
{
	const struct teller *newest = &servers->tellers[0];

	for (unsigned i = 1; i < TELLERS; i++)
		if (servers->tellers[i].epoch > newest->epoch)
			newest = &servers->tellers[i];
	return &servers->sites[newest->named];
}

/* ---- What each sees -------------------------------------------------------------------------- */

static void look(struct servers *servers, struct teller *teller)
{
	dw_usec now = servers->sim->clocks.steady;

	for (unsigned i = 0; i < servers->site_count; i++) {
		const struct site *site = &servers->sites[i];
		bool reached = site_is_reached(site);
		bool strange = reached && !site->follows && i != teller->named;

		teller->missed[i] = reached ? 0 : teller->missed[i] ? teller->missed[i] : now;
		teller->strange[i] = !strange ? 0 : teller->strange[i] ? teller->strange[i] : now;
	}
}

static bool misses(const struct servers *servers, const struct teller *teller, unsigned site)
{
	dw_usec since = teller->missed[site];

	return since > 0 && servers->sim->clocks.steady > since + servers->town.patience;
}

/* convert makes a replica of a master that came back. Its clients are cut off. */
static void convert(struct servers *servers, const struct teller *teller, unsigned number)
{
	struct site *site = &servers->sites[number], *master = &servers->sites[teller->named];

	if (!site_is_reached(master) || master->follows || site == servers->town.chosen)
		return;
	site_follow(site, master);
	wires_cut(servers, number, true);
}

/* convert_strange: one that comes back, or follows another master. A Sentinel that has not heard of
 * the newest master yet leaves the servers alone. */
static void convert_strange(struct servers *servers, const struct teller *teller)
{
	dw_usec now = servers->sim->clocks.steady;

	for (unsigned i = 0; i < servers->site_count; i++) {
		const struct site *site = &servers->sites[i];
		bool lost = site->follows && site->follows != &servers->sites[teller->named];

		if (i == teller->named || teller->epoch != servers->town.epoch ||
		    !site_is_reached(site))
			continue;
		if (lost || (teller->strange[i] > 0 && now > teller->strange[i] + STRANGE_FOR))
			convert(servers, teller, i);
	}
}

/* ---- A failover ------------------------------------------------------------------------------ */

static struct site *choose(struct servers *servers, const struct teller *leader)
{
	struct site *best = NULL;

	for (unsigned i = 0; i < servers->site_count; i++) {
		struct site *site = &servers->sites[i];

		if (site->follows != &servers->sites[leader->named] || !site->is_attached ||
		    !site_is_reached(site))
			continue;
		if (!best || site->has_until < best->has_until)
			best = site;
	}
	return best;
}

static void begin(struct servers *servers, unsigned leader)
{
	struct town *town = &servers->town;
	struct sim *sim = servers->sim;

	town->chosen = choose(servers, &servers->tellers[leader]);
	town->again_at = sim->clocks.steady + AGAIN + (dw_usec)draw(sim, 2000000);
	if (!town->chosen)
		return;
	town->leader = leader;
	town->lead_at = sim->clocks.steady + (dw_usec)draw(sim, 1000000);
	trace(sim, "failover", "", leader, town->chosen->number);
}

/* look_for_leader: a majority reaches each other and not the master. */
static void look_for_leader(struct servers *servers)
{
	unsigned agree = 0, leader = 0;

	for (unsigned i = 0; i < TELLERS; i++) {
		const struct teller *teller = &servers->tellers[i];

		if (!is_up(servers, teller) || !misses(servers, teller, teller->named) ||
		    teller->epoch != servers->town.epoch)
			continue;
		leader = i;
		agree++;
	}
	if (2 * agree > TELLERS && servers->sim->clocks.steady >= servers->town.again_at)
		begin(servers, leader);
}

/* finish: the leader names the new master; the others hear of that later. */
static void finish(struct servers *servers)
{
	struct town *town = &servers->town;
	struct site *site = town->chosen;

	town->lead_at = DW_NEVER;
	town->chosen = NULL;
	if (!site_is_reached(site) || !is_up(servers, &servers->tellers[town->leader]))
		return;
	gaps_begin(servers, site, HISTORY_ALL, site_lead(site));
	name(servers, town->leader, site->number, ++town->epoch);
}

void tellers_fail_over(struct servers *servers)
{
	for (unsigned i = 0; i < TELLERS && servers->town.lead_at == DW_NEVER; i++)
		if (is_up(servers, &servers->tellers[i]) &&
		    servers->tellers[i].epoch == servers->town.epoch)
			begin(servers, i);
}

/* talk: two Sentinels that reach each other hear of the newest epoch. */
static void talk(struct servers *servers, unsigned one, unsigned other)
{
	const struct teller *teller = &servers->tellers[other];

	if (is_up(servers, &servers->tellers[one]) && is_up(servers, teller) &&
	    teller->epoch > servers->tellers[one].epoch)
		name(servers, one, teller->named, teller->epoch);
}

void tellers_tick(struct servers *servers)
{
	for (unsigned i = 0; i < TELLERS; i++) {
		struct teller *teller = &servers->tellers[i];

		if (!is_up(servers, teller))
			continue;
		look(servers, teller);
		convert_strange(servers, teller);
		for (unsigned k = 0; k < TELLERS; k++)
			if (chance(servers->sim, HELLO))
				talk(servers, i, k);
	}
	if (servers->sim->clocks.steady >= servers->town.lead_at)
		finish(servers);
	else if (servers->town.lead_at == DW_NEVER)
		look_for_leader(servers);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void add(struct reply *all, size_t at, const char *name, const char *value)
{
	(void)reply_bytes(all, &all->items[at], REPLY_BULK, name, strlen(name));
	(void)reply_bytes(all, &all->items[at + 1], REPLY_BULK, value, strlen(value));
}

static void tell_master(const struct servers *servers, const struct teller *teller,
			struct reply *reply)
{
	char port[16], epoch[24], age[24];

	(void)snprintf(port, sizeof port, "%u", PORT + teller->named);
	(void)snprintf(epoch, sizeof epoch, "%llu", (unsigned long long)teller->epoch);
	(void)snprintf(age, sizeof age, "%lld",
		       (long long)(servers->sim->clocks.steady - teller->since) / 1000);
	(void)reply_items(reply, reply, 10);
	add(reply, 0, "ip", "h");
	add(reply, 2, "port", port);
	add(reply, 4, "config-epoch", epoch);
	add(reply, 6, "role-reported-time", age);
	add(reply, 8, "num-other-sentinels", "2");
}

struct reply *teller_answer(struct servers *servers, const struct teller *teller,
			    const struct packet *packet)
{
	struct alloc alloc = memory_alloc(&servers->sim->table_account);
	struct reply *reply = reply_new(&alloc);
	char id[16];

	(void)snprintf(id, sizeof id, "sentinel%u", teller->network.run);
	if (strcmp(packet->words[0], "INFO") == 0)
		(void)reply_bytes(reply, reply, REPLY_BULK, "sentinel_tilt:0", 15);
	else if (strcmp(packet->words[1], "MYID") == 0)
		(void)reply_bytes(reply, reply, REPLY_BULK, id, strlen(id));
	else if (strcmp(packet->words[1], "MASTER") == 0)
		tell_master(servers, teller, reply);
	else
		(void)reply_items(reply, reply, 0); /* the URL names all of them */
	return reply;
}
