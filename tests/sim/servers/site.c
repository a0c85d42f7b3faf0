#include "sim/servers/site.h"

#include <stdlib.h>
#include <string.h>

#include "sim/servers/servers.h"

/* A write that a replica does not have yet. */
struct written {
	struct written *next;
	dw_usec at;    /* steady */
	dw_usec clock; /* the master's */
	bool missing[SITES_MAX];
	dw_usec arrives[SITES_MAX];
	struct packet *packet;
};

static struct alloc alloc_of(const struct site *site)
{
	return memory_alloc(&site->servers->sim->table_account);
}

static dw_usec now_of(const struct site *site)
{
	return site->servers->sim->clocks.steady;
}

/* has_data: a new keyspace takes the place of the last one. */
static void has_data(struct site *site, struct keyspace *data)
{
	if (site->server.keyspace)
		keyspace_free(site->server.keyspace);
	site->server.keyspace = data;
	keyspace_load(data);
	wires_listen(site);
}

void site_init(struct site *site, struct servers *servers, unsigned number)
{
	struct alloc alloc = memory_alloc(&servers->sim->table_account);
	struct sim *sim = servers->sim;

	site->servers = servers;
	site->number = number;
	site->network.sim = site->server.sim = sim;
	site->network.run = 1000 * (number + 1);
	site->network.history = ++servers->histories;
	site->network.up_since = sim->clocks.steady - DW_MINUTES(10);
	site->server.shard_count = servers->base.fleet.server.shard_count;
	site->server.wall_offset = clocks_wall(sim) - sim->clocks.steady;
	site->server.wall_offset += (dw_usec)draw(sim, DW_SECONDS(2)) - DW_SECONDS(1);
	has_data(site, keyspace_new(&alloc));
}

/* ---- Writes ---------------------------------------------------------------------------------- */

static void free_written(struct site *master, struct written *written)
{
	struct alloc alloc = alloc_of(master);

	network_free_packet(&master->network, written->packet);
	alloc_free(&alloc, written);
}

static bool is_missing(const struct written *written)
{
	for (unsigned i = 0; i < SITES_MAX; i++)
		if (written->missing[i])
			return true;
	return false;
}

static void drop_old(struct site *master)
{
	while (master->first && !is_missing(master->first)) {
		struct written *written = master->first;

		master->first = written->next;
		free_written(master, written);
	}
	if (!master->first)
		master->last = NULL;
}

void site_free(struct site *site)
{
	while (site->first) {
		memset(site->first->missing, 0, sizeof site->first->missing);
		drop_old(site);
	}
	network_free(&site->network);
	if (site->server.keyspace)
		keyspace_free(site->server.keyspace);
}

/* lag: mostly short; sometimes half a second. Nothing passes while one of both is apart. */
static dw_usec lag(const struct site *master, const struct site *replica)
{
	struct sim *sim = master->servers->sim;
	dw_usec time = (dw_usec)draw(sim, chance(sim, 300) ? 500000 : 2000);
	dw_usec at = usec_max(usec_max(master->apart_until, replica->apart_until),
			      usec_max(replica->dead_until, replica->network.halted_until));

	return usec_max(at, sim->clocks.steady) + 50 + time;
}

static bool has_replicas(const struct site *master)
{
	for (unsigned i = 0; i < master->servers->site_count; i++)
		if (master->servers->sites[i].follows == master &&
		    master->servers->sites[i].is_attached)
			return true;
	return false;
}

/* reach: the write is on its way to the replica. */
static void reach(struct site *master, struct site *replica, struct written *written)
{
	if (replica->follows != master || !replica->is_attached)
		return;
	replica->has_until = usec_max(replica->has_until, lag(master, replica));
	written->arrives[replica->number] = replica->has_until;
	written->missing[replica->number] = true;
}

void site_wrote(struct site *master, const struct packet *packet)
{
	struct alloc alloc = alloc_of(master);
	struct written *written;

	if (!has_replicas(master))
		return;
	written = alloc_new(&alloc, sizeof *written);
	written->at = now_of(master);
	written->clock = server_now(&master->server);
	written->packet = network_copy(&master->network, packet);
	for (unsigned i = 0; i < master->servers->site_count; i++)
		reach(master, &master->servers->sites[i], written);
	if (master->first)
		master->last->next = written;
	else
		master->first = written;
	master->last = written;
}

void site_catch_up(struct site *replica, dw_usec until)
{
	struct site *master = replica->follows;
	unsigned number = replica->number;

	if (!master || !replica->is_attached)
		return;
	for (struct written *each = master->first; each; each = each->next) {
		if (!each->missing[number])
			continue;
		if (each->arrives[number] > until)
			break;
		each->missing[number] = false;
		keyspace_set_time(replica->server.keyspace, each->clock);
		reply_free(keyspace_call(replica->server.keyspace, each->packet->count,
					 each->packet->words, each->packet->sizes));
	}
	drop_old(master);
}

unsigned site_acked(const struct site *master, dw_usec at)
{
	unsigned count = 0;

	for (unsigned i = 0; i < master->servers->site_count; i++) {
		const struct site *replica = &master->servers->sites[i];

		count +=
		    replica->follows == master && replica->is_attached && replica->has_until <= at;
	}
	return count;
}

dw_usec site_acked_at(const struct site *master, unsigned count)
{
	dw_usec best = DW_NEVER;

	if (site_acked(master, now_of(master)) >= count)
		return now_of(master);
	for (unsigned i = 0; i < master->servers->site_count; i++) {
		dw_usec at = master->servers->sites[i].has_until;

		if (at > now_of(master) && at < best && site_acked(master, at) >= count)
			best = at;
	}
	return best;
}

/* ---- Its place ------------------------------------------------------------------------------- */

/* detach returns since when the replica lacks writes. */
static dw_usec detach(struct site *replica)
{
	struct site *master = replica->follows;
	dw_usec since = now_of(replica);

	if (!master || !replica->is_attached)
		return since;
	for (struct written *each = master->first; each; each = each->next) {
		if (!each->missing[replica->number])
			continue;
		each->missing[replica->number] = false;
		since = usec_min(since, each->at);
	}
	drop_old(master);
	replica->is_attached = false;
	if (since < now_of(replica)) /* a WAIT may count on it */
		wires_cut_waiting(replica->servers, master->number);
	return since;
}

/* forget_replicas: those that followed this site have no part in its writes any more. */
static void forget_replicas(struct site *site)
{
	for (unsigned i = 0; i < site->servers->site_count; i++)
		if (site->servers->sites[i].follows == site)
			(void)detach(&site->servers->sites[i]);
}

void site_follow(struct site *site, struct site *master)
{
	trace(site->servers->sim, "follows", "", site->number, master->number);
	(void)detach(site);
	forget_replicas(site);
	site->follows = master;
	site->is_attached = true;
	site->has_until = now_of(site);
	site->network.history = master->network.history;
	has_data(site, keyspace_copy(master->server.keyspace));
}

dw_usec site_lead(struct site *site)
{
	static const char *const words[] = {"SCRIPT", "FLUSH"};
	static const size_t sizes[] = {6, 5};
	dw_usec since;

	site_catch_up(site, now_of(site));
	since = detach(site);
	site->follows = NULL;
	site->network.history = ++site->servers->histories;
	reply_free(keyspace_call(site->server.keyspace, 2, words, sizes));
	trace(site->servers->sim, "leads", "", site->number, now_of(site) - since);
	return since;
}
