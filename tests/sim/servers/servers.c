#include "sim/servers/servers.h"

#include <stdio.h>

#include "sim/fleet/requests.h"
#include "store/redis/core.h"
#include "store/redis/store.h"

#define TICK_MIN DW_MILLISECONDS(50)

/* ---- Stores ---------------------------------------------------------------------------------- */

static void write_url(const struct servers *servers, char *ret_url, size_t size)
{
	if (servers->is_cluster)
		(void)snprintf(ret_url, size, "redis+cluster://h:%u,h:%u", PORT, PORT + 1);
	else
		(void)snprintf(ret_url, size, "redis+sentinel://h:%u,h:%u,h:%u/m?replicas=%u",
			       PORT + SITES_MAX, PORT + SITES_MAX + 1, PORT + SITES_MAX + 2,
			       servers->replicas);
}

/* open_links does what redis_store_open() does, but waits for nothing. */
static int open_links(struct redis_store *store, const char *url)
{
	char message[DW_MESSAGE_SIZE];
	int status = redis_url_read(&store->url, url, &store->alloc, message);

	if (status == DW_OK && store->url.kind == REDIS_CLUSTER)
		return cluster_open(store);
	if (status == DW_OK)
		status = link_open(store, &store->url, NULL, &store->node.link);
	return status == DW_OK ? sentinels_open(store) : status;
}

static dw_store *open_store(struct member *member, dw_store_env *env)
{
	const struct servers *servers = servers_of(member->outages);
	struct redis_store *store = NULL;
	char url[128];

	write_url(servers, url, sizeof url);
	process_name(member->process, env);
	if (redis_new(&store, env, NULL) != DW_OK || open_links(store, url) != DW_OK ||
	    redis_shards(store, servers->base.fleet.server.shard_count) != DW_OK)
		broken(servers->sim, "sim", "the store does not open");
	store->opened = true;
	return redis_base(store);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static bool is_end(const struct servers *servers, unsigned end)
{
	return end < servers->site_count || (end >= SITES_MAX && !servers->is_cluster);
}

/* first_end: where the next packet arrives; ENDS: nowhere. */
static unsigned first_end(struct servers *servers, dw_usec *ret_at)
{
	unsigned first = ENDS;

	*ret_at = DW_NEVER;
	for (unsigned i = 0; i < ENDS; i++) {
		dw_usec at = is_end(servers, i) ? network_next(servers_end(servers, i)) : DW_NEVER;

		if (at >= *ret_at)
			continue;
		*ret_at = at;
		first = i;
	}
	return first;
}

static dw_usec next(struct outages *outages)
{
	struct servers *servers = servers_of(outages);
	dw_usec at;

	(void)first_end(servers, &at);
	return usec_min(at, servers->tick_at);
}

/* attach: a replica that lost its master finds it again. */
static void attach(struct servers *servers)
{
	for (unsigned i = 0; i < servers->site_count; i++) {
		struct site *site = &servers->sites[i];

		if (site->follows && !site->is_attached && !site->follows->follows &&
		    site_is_reached(site) && site_is_reached(site->follows))
			site_follow(site, site->follows);
		site_catch_up(site, servers->sim->clocks.steady);
	}
}

static void tick(struct servers *servers)
{
	servers->tick_at = servers->sim->clocks.steady + TICK_MIN +
			   (dw_usec)draw(servers->sim, (uint64_t)TICK_MIN);
	attach(servers);
	if (servers->is_cluster)
		bus_tick(servers);
	else
		tellers_tick(servers);
}

/* has_lease: by its own clock, and so it may start timers of the shard. */
static bool has_lease(const struct member *member, unsigned shard)
{
	const dw_store *real = member->planted.real;
	const struct instance *instance = &member->process->instance;

	return instance->engine && !instance->dead &&
	       real->type->lease(real, shard) > instance->sim->clocks.steady;
}

static unsigned owners(const struct servers *servers, unsigned shard)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PROCESSES; i++)
		count += has_lease(&servers->base.members[i], shard);
	return count;
}

static void work(struct outages *outages)
{
	struct servers *servers = servers_of(outages);
	dw_usec at;
	unsigned end = first_end(servers, &at);

	if (servers->tick_at <= at)
		tick(servers);
	else
		carry_arrived(servers, end, network_take(servers_end(servers, end)));
	for (unsigned i = 0; i < servers->base.fleet.server.shard_count; i++)
		if (owners(servers, i) > 1)
			broken(servers->sim, "owners", "shard %u has two", i);
}

/* ---- What the world asks --------------------------------------------------------------------- */

static unsigned shard_for(const struct servers *servers, const char *id)
{
	return server_shard(&servers->sites[0].server, id);
}

static bool may_start(const struct member *member, const char *id)
{
	const struct servers *servers = servers_of(member->outages);
	unsigned shard = shard_for(servers, id);

	return owners(servers, shard) <= has_lease(member, shard);
}

static bool is_stored(struct outages *outages, const char *id)
{
	struct servers *servers = servers_of(outages);
	struct alloc alloc = memory_alloc(&servers->sim->table_account);
	const struct site *site = servers->is_cluster ? bus_master(servers, shard_for(servers, id))
						      : tellers_master(servers);
	dw_row *row = site ? server_row(&site->server, id) : NULL;

	rows_free(&alloc, row);
	return row != NULL;
}

static void calm(struct outages *outages)
{
	unrest_end(servers_of(outages));
}

static void judge(struct outages *outages)
{
	gaps_tell(servers_of(outages));
}

static void free_all(struct outages *outages)
{
	struct servers *servers = servers_of(outages);

	for (unsigned i = 0; i < servers->site_count; i++)
		site_free(&servers->sites[i]);
	tellers_free(servers);
}

static const struct scene scene = {.open = open_store,
				   .next = next,
				   .work = work,
				   .disturb = unrest_begin,
				   .may_start = may_start,
				   .is_stored = is_stored,
				   .calm = calm,
				   .judge = judge,
				   .free = free_all};

/* ---- A seed ---------------------------------------------------------------------------------- */

static unsigned shards_of_seed;

static unsigned part_of(size_t number)
{
	char id[16];

	(void)snprintf(id, sizeof id, "t%03zu", number); /* it fits */
	return crc16_of(id) % shards_of_seed;
}

static void choose(struct servers *servers)
{
	struct sim *sim = servers->sim;
	struct fleet *fleet = &servers->base.fleet;

	unrest_choose(servers);
	sim->peers = chance(sim, 5000);
	servers->base.puts_left = 100 + (uint32_t)draw(sim, NUMBERS_MAX - 200);
	servers->site_count = servers->is_cluster ? 2 * (unsigned)(2 + draw(sim, MASTERS_MAX - 1))
						  : 2 + (unsigned)draw(sim, 2);
	servers->replicas = servers->is_cluster || chance(sim, 5000) ? 0 : servers->site_count - 1;
	fleet->same_host = chance(sim, 5000);
	fleet->server.shard_count = shards_of_seed = 1 + (unsigned)draw(sim, SHARDS_MAX_SIM);
	fleet->server.lease = DW_MILLISECONDS(1000 + draw(sim, 8000));
}

static void begin(struct servers *servers)
{
	struct sim *sim = servers->sim;

	choose(servers);
	clocks_init(sim, 0);
	wires_begin(servers);
	servers_plant(sim->bug);
	servers->nowhere.sim = sim;
	servers->tick_at = sim->clocks.steady;
	for (unsigned i = 0; i < servers->site_count; i++)
		site_init(&servers->sites[i], servers, i);
	tellers_init(servers);
	if (servers->is_cluster)
		bus_init(servers);
	for (unsigned i = 1; !servers->is_cluster && i < servers->site_count; i++)
		site_follow(&servers->sites[i], &servers->sites[0]);
	history_divide(servers->base.history, part_of);
}

static void run(struct sim *sim, bool is_cluster)
{
	static struct servers all; /* too large for the stack */

	all = (struct servers){.base = {.sim = sim, .scene = &scene, .history = history_new()},
			       .sim = sim,
			       .is_cluster = is_cluster};
	begin(&all);
	outages_play(&all.base);
}

void servers_run_sentinels(struct sim *sim)
{
	run(sim, false);
}

void servers_run_cluster(struct sim *sim)
{
	run(sim, true);
}
