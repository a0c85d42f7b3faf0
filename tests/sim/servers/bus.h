/* The nodes of a cluster talk to each other. Each has its own view: which node has which slots, and
 * with which epoch. A replica whose master the majority does not reach takes its place. */
#ifndef SIM_SERVERS_BUS_H
#define SIM_SERVERS_BUS_H

#include "sim/fleet/network.h"
#include "sim/servers/site.h"

#define MASTERS_MAX 4u
/* The slots of the shards, and one for each of the first masters, which never moves alone. */
#define PLACES_MAX (SHARDS_MAX_SIM + MASTERS_MAX)

struct reply;

/* What one node knows. */
struct view {
	unsigned has[PLACES_MAX];   /* the number of the node */
	uint64_t epochs[SITES_MAX]; /* of each node, as far as it has heard */
	dw_usec heard[SITES_MAX];   /* steady: the last time from each node */
	dw_usec lost_at;            /* steady: it has reached no majority since then; 0: it does */
	dw_usec down_until;         /* steady: it takes no commands */
	dw_usec elected_at; /* of a replica: it takes its master's place then; 0: it does not */
};

/* A slot on its way to another node. */
struct moving {
	bool is_moving;
	unsigned from, to;
	dw_usec until;
};

struct bus {
	dw_usec patience; /* the node timeout */
	uint64_t epoch;   /* the largest one that was given */
	struct view views[SITES_MAX];
	struct moving moving[SHARDS_MAX_SIM];
	unsigned slots[PLACES_MAX]; /* the number of the slot */
};

/* bus_masters: how many masters there are at the beginning, each with a replica. */
unsigned bus_masters(const struct servers *);

void bus_init(struct servers *);
void bus_tick(struct servers *);

/* bus_take: a replica takes its master's place, because a person wants it so. lossless: the master
 * waits until it has everything. */
void bus_take(struct servers *, struct site *replica, bool lossless);

/* bus_move: the shard's slot begins to move to another master. */
void bus_move(struct servers *, unsigned shard, unsigned to);

/* bus_refusal: why the node does not carry out a request of a shard; NULL: it does. The next call
 * overwrites it. */
const char *bus_refusal(struct servers *, const struct site *, unsigned shard);

/* bus_nodes: the answer to CLUSTER NODES. */
struct reply *bus_nodes(struct servers *, const struct site *);

/* bus_master: the node that has the shard, by the newest epoch. */
struct site *bus_master(struct servers *, unsigned shard);

#endif
