#include "sim/servers/bus.h"

#include <stdio.h>
#include <string.h>

#include "sim/servers/servers.h"
#include "store/redis/store.h"

#define WRITABLE DW_SECONDS(2) /* a master that was alone waits so long */

static dw_usec now_of(const struct servers *servers)
{
	return servers->sim->clocks.steady;
}

unsigned bus_masters(const struct servers *servers)
{
	return servers->site_count / 2;
}

static unsigned places(const struct servers *servers)
{
	return servers->base.fleet.server.shard_count + bus_masters(servers);
}

/* place_of: of the slot that its first masters keep. */
static unsigned own_place(const struct servers *servers, unsigned master)
{
	return servers->base.fleet.server.shard_count + master;
}

static bool has_slots(const struct servers *servers, const struct view *view, unsigned site)
{
	for (unsigned i = 0; i < places(servers); i++)
		if (view->has[i] == site)
			return true;
	return false;
}

struct site *bus_master(struct servers *servers, unsigned shard)
{
	unsigned best = servers->site_count;

	for (unsigned i = 0; i < servers->site_count; i++) {
		const struct view *view = &servers->bus.views[i];

		if (!servers->sites[i].follows && view->has[shard] == i &&
		    (best == servers->site_count ||
		     view->epochs[i] > servers->bus.views[best].epochs[best]))
			best = i;
	}
	return best < servers->site_count ? &servers->sites[best] : NULL;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static void choose_slots(struct servers *servers)
{
	unsigned shards = servers->base.fleet.server.shard_count;
	char tag[16];

	for (unsigned i = 0; i < shards; i++) {
		(void)snprintf(tag, sizeof tag, "{t:%02u}", i); /* it fits */
		servers->bus.slots[i] = crc16_of(tag) % 16384;
	}
	for (unsigned i = 0, slot = 0; i < bus_masters(servers); slot++) {
		bool taken = false;

		for (unsigned k = 0; k < shards + i; k++)
			taken = taken || servers->bus.slots[k] == slot;
		if (!taken)
			servers->bus.slots[shards + i++] = slot;
	}
}

void bus_init(struct servers *servers)
{
	struct bus *bus = &servers->bus;
	struct sim *sim = servers->sim;
	unsigned masters = bus_masters(servers);

	*bus =
	    (struct bus){.patience = DW_SECONDS(1) + (dw_usec)draw(sim, 4000000), .epoch = masters};
	choose_slots(servers);
	for (unsigned i = 0; i < places(servers); i++)
		bus->views[0].has[i] = (unsigned)draw(sim, masters);
	for (unsigned i = 0; i < masters; i++) {
		bus->views[0].has[own_place(servers, i)] = i;
		bus->views[0].epochs[i] = i + 1;
	}
	for (unsigned i = 0; i < servers->site_count; i++) {
		bus->views[i] = bus->views[0];
		for (unsigned k = 0; k < servers->site_count; k++)
			bus->views[i].heard[k] = now_of(servers);
		if (i >= masters)
			site_follow(&servers->sites[i], &servers->sites[i - masters]);
	}
}

/* ---- What each hears ------------------------------------------------------------------------- */

/* lose_all: another node has taken all slots of this one, or of its master: it follows that one. */
static void lose_all(struct servers *servers, unsigned number, unsigned to)
{
	struct site *site = &servers->sites[number], *master = &servers->sites[to];

	if (master->follows || site->follows == master)
		return;
	site_follow(site, master);
	servers->bus.views[number].elected_at = 0;
	if (chance(servers->sim, 5000))
		wires_cut(servers, number, chance(servers->sim, 5000));
}

/* hear: the node hears which slots another one has. */
static void hear(struct servers *servers, unsigned number, unsigned from)
{
	struct view *view = &servers->bus.views[number];
	const struct view *other = &servers->bus.views[from];
	const struct site *follows = servers->sites[number].follows;
	unsigned mine = follows ? follows->number : number;
	bool had = has_slots(servers, view, mine);

	view->heard[from] = now_of(servers);
	view->epochs[from] = other->epochs[from];
	for (unsigned i = 0; i < places(servers); i++)
		if (other->has[i] == from && view->has[i] != from &&
		    view->epochs[view->has[i]] < other->epochs[from])
			view->has[i] = from;
	if (had && !has_slots(servers, view, mine))
		lose_all(servers, number, from);
}

/* update: the other one claims a slot that this node knows elsewhere, and is told so. */
static void update(struct servers *servers, unsigned number, unsigned from)
{
	const struct view *view = &servers->bus.views[number];
	struct view *other = &servers->bus.views[from];

	for (unsigned i = 0; i < places(servers); i++) {
		unsigned has = view->has[i];

		if (other->has[i] != from || has == from ||
		    view->epochs[has] <= other->epochs[from])
			continue;
		other->epochs[has] = view->epochs[has];
		other->has[i] = has;
		if (!has_slots(servers, other, from))
			lose_all(servers, from, has);
	}
}

static void talk(struct servers *servers)
{
	for (unsigned i = 0; i < servers->site_count; i++)
		for (unsigned k = 0; k < servers->site_count; k++) {
			if (i == k || !site_is_reached(&servers->sites[i]) ||
			    !site_is_reached(&servers->sites[k]) || chance(servers->sim, 3000))
				continue;
			hear(servers, i, k);
			update(servers, i, k);
		}
}

/* ---- Majorities ------------------------------------------------------------------------------ */

/* reaches_majority: of the masters with slots, as it knows them. */
static bool reaches_majority(const struct servers *servers, unsigned number)
{
	const struct view *view = &servers->bus.views[number];
	unsigned masters = 0, reached = 0;

	for (unsigned i = 0; i < servers->site_count; i++) {
		if (!has_slots(servers, view, i))
			continue;
		masters++;
		reached += i == number || now_of(servers) < view->heard[i] + servers->bus.patience;
	}
	return 2 * reached > masters;
}

/* watch_itself: a node that reaches no majority for too long takes no commands. */
static void watch_itself(struct servers *servers, unsigned number)
{
	struct view *view = &servers->bus.views[number];

	if (reaches_majority(servers, number)) {
		if (view->lost_at > 0)
			view->down_until = now_of(servers) + WRITABLE;
		view->lost_at = 0;
	} else if (view->lost_at == 0) {
		view->lost_at = now_of(servers);
		view->down_until = DW_NEVER;
	}
}

static bool misses(const struct servers *servers, unsigned number, unsigned other)
{
	return now_of(servers) > servers->bus.views[number].heard[other] + servers->bus.patience;
}

/* has_failed: a majority of the masters misses the node. */
static bool has_failed(const struct servers *servers, unsigned by, unsigned site)
{
	const struct view *view = &servers->bus.views[by];
	unsigned masters = 0, agree = 0;

	for (unsigned i = 0; i < servers->site_count; i++) {
		if (!has_slots(servers, view, i))
			continue;
		masters++;
		agree +=
		    i != site && site_is_reached(&servers->sites[i]) && misses(servers, i, site);
	}
	return 2 * agree > masters;
}

static void take_slots(struct servers *servers, struct site *site, const struct site *master)
{
	struct view *view = &servers->bus.views[site->number];
	uint64_t shards = 0;

	for (unsigned i = 0; i < places(servers); i++) {
		if (view->has[i] != master->number)
			continue;
		view->has[i] = site->number;
		if (i < servers->base.fleet.server.shard_count)
			shards |= UINT64_C(1) << i;
	}
	view->epochs[site->number] = ++servers->bus.epoch;
	view->elected_at = view->lost_at = view->down_until = 0;
	gaps_begin(servers, site, shards, site_lead(site));
}

void bus_take(struct servers *servers, struct site *replica, bool lossless)
{
	struct site *master = replica->follows;

	if (!master || !replica->is_attached || !site_is_up(replica))
		return;
	if (lossless && (!site_is_reached(master) || !site_is_reached(replica)))
		return;
	if (lossless)
		site_catch_up(replica, DW_NEVER);
	trace(servers->sim, "taken", "", replica->number, lossless);
	take_slots(servers, replica, master);
	if (lossless)
		hear(servers, master->number, replica->number);
}

/* stand: a replica takes the place of a master that has failed. */
static void stand(struct servers *servers, struct site *site)
{
	struct view *view = &servers->bus.views[site->number];
	const struct site *master = site->follows;

	if (!master || !site->is_attached || !has_slots(servers, view, master->number) ||
	    !reaches_majority(servers, site->number) ||
	    !has_failed(servers, site->number, master->number)) {
		view->elected_at = 0;
		return;
	}
	if (view->elected_at == 0)
		view->elected_at = now_of(servers) + 500000 + (dw_usec)draw(servers->sim, 1000000);
	else if (now_of(servers) >= view->elected_at)
		take_slots(servers, site, master);
}

/* ---- Slots that move ------------------------------------------------------------------------- */

void bus_move(struct servers *servers, unsigned shard, unsigned to)
{
	const struct site *from = bus_master(servers, shard);
	struct moving *moving = &servers->bus.moving[shard];
	struct sim *sim = servers->sim;

	if (!from || from->number == to || servers->sites[to].follows || moving->is_moving)
		return;
	*moving = (struct moving){true, from->number, to,
				  now_of(servers) +
				      (dw_usec)draw(sim, chance(sim, 2000) ? 2000000 : 100000)};
	trace(sim, "moves", "", shard, to);
}

/* are_together: all nodes reach each other. Who moves a slot tells all of them; a node that does
 * not know of it might give the slot to its last node later. */
static bool are_together(const struct servers *servers)
{
	for (unsigned i = 0; i < servers->site_count; i++)
		if (!site_is_reached(&servers->sites[i]))
			return false;
	return true;
}

/* arrive: all keys of the slot are there, and all nodes are told. */
static void arrive(struct servers *servers, unsigned shard)
{
	struct moving *moving = &servers->bus.moving[shard];
	struct site *from = &servers->sites[moving->from], *to = &servers->sites[moving->to];
	struct view *view = &servers->bus.views[to->number];

	moving->is_moving = false;
	if (!are_together(servers) || from->follows || to->follows ||
	    bus_master(servers, shard) != from)
		return;
	keyspace_take(to->server.keyspace, from->server.keyspace, server_key(shard, ""));
	view->epochs[to->number] = ++servers->bus.epoch;
	view->has[shard] = to->number;
	for (unsigned i = 0; i < servers->site_count; i++) {
		struct site *site = &servers->sites[i];

		if (site->follows == from || site->follows == to)
			site_follow(site, site->follows);
		if (site != to)
			hear(servers, i, to->number);
	}
	trace(servers->sim, "moved", "", shard, to->number);
}

/* ---- Time ------------------------------------------------------------------------------------ */

void bus_tick(struct servers *servers)
{
	talk(servers);
	for (unsigned i = 0; i < servers->site_count; i++) {
		if (!site_is_up(&servers->sites[i]))
			continue;
		watch_itself(servers, i);
		if (site_is_reached(&servers->sites[i]))
			stand(servers, &servers->sites[i]);
	}
	for (unsigned i = 0; i < servers->base.fleet.server.shard_count; i++)
		if (servers->bus.moving[i].is_moving &&
		    now_of(servers) >= servers->bus.moving[i].until)
			arrive(servers, i);
}

/* ---- Answers --------------------------------------------------------------------------------- */

const char *bus_refusal(struct servers *servers, const struct site *site, unsigned shard)
{
	static char text[64];
	const struct view *view = &servers->bus.views[site->number];
	const struct moving *moving = &servers->bus.moving[shard];

	if (now_of(servers) < view->down_until)
		return "CLUSTERDOWN The cluster is down";
	if (view->has[shard] != site->number || site->follows) {
		(void)snprintf(text, sizeof text, "MOVED %u h:%u", servers->bus.slots[shard],
			       PORT + view->has[shard]); /* it fits */
		return text;
	}
	if (moving->is_moving && moving->from == site->number) {
		(void)snprintf(text, sizeof text, "ASK %u h:%u", servers->bus.slots[shard],
			       PORT + moving->to); /* it fits */
		return chance(servers->sim, 5000)
			   ? "TRYAGAIN Multiple keys request during rehashing of slot"
			   : text;
	}
	return NULL;
}

static size_t write_line(const struct servers *servers, unsigned self, unsigned number, char *text,
			 size_t size)
{
	const struct view *view = &servers->bus.views[self];
	bool is_master =
	    number == self ? !servers->sites[self].follows : has_slots(servers, view, number);
	int used;

	used = snprintf(text, size, "node%u h:%u@%u %s%s - 0 0 %llu connected", number,
			PORT + number, PORT + 10000 + number, number == self ? "myself," : "",
			is_master ? "master" : "slave", (unsigned long long)view->epochs[number]);
	for (unsigned i = 0; i < places(servers); i++)
		if (view->has[i] == number)
			used += snprintf(text + used, size - (size_t)used, " %u",
					 servers->bus.slots[i]);
	used += snprintf(text + used, size - (size_t)used, "\n");
	return (size_t)used;
}

struct reply *bus_nodes(struct servers *servers, const struct site *site)
{
	struct alloc alloc = memory_alloc(&servers->sim->table_account);
	struct reply *reply = reply_new(&alloc);
	char text[4096];
	size_t used = 0;

	for (unsigned i = 0; i < servers->site_count; i++)
		used += write_line(servers, site->number, i, text + used, sizeof text - used);
	(void)reply_bytes(reply, reply, REPLY_BULK, text, used);
	return reply;
}
