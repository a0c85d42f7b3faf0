/* Several Redis servers, of which others take the place now and then: a master with replicas and
 * Sentinels, or a Redis Cluster whose slots move. A replica is behind its master, so a server that
 * takes the place of another one lacks the last of what that one has confirmed.
 *
 * The processes are those of outages/, without journals. The library's own code asks the simulated
 * Sentinels and nodes, and follows them. The history judges what the programs see.
 *
 *	wire.c     the library's links, each to the server that its URL names
 *	site.c     a server: what it has, and what its replicas have of that
 *	gaps.c     the times in which a confirmation may be lost
 *	tellers.c  the Sentinels
 *	bus.c      the nodes of a cluster: who is the master, and who has which slot
 *	carry.c    a request arrives at a server
 *	unrest.c   the faults
 *	servers.c  a seed
 *	planted.c  planted bugs
 *
 * Calls go down, but for those of a scene. */
#ifndef SIM_SERVERS_SERVERS_H
#define SIM_SERVERS_SERVERS_H

#include "sim/servers/bus.h"
#include "sim/servers/gaps.h"
#include "sim/servers/site.h"
#include "sim/servers/tellers.h"
#include "sim/servers/wire.h"
#include "sim/outages/outages.h"

/* Servers and Sentinels have numbers, from which their ports are made. */
#define ENDS (SITES_MAX + TELLERS)
#define PORT 7000u

struct servers {
	struct outages base;
	struct sim *sim;
	bool is_cluster;
	unsigned site_count;
	unsigned replicas; /* what the URL asks for */
	struct site sites[SITES_MAX];
	struct teller tellers[TELLERS];
	struct town town;
	struct bus bus;
	struct gaps gaps;
	struct wire *wires;
	struct network nowhere;          /* of links whose URL names no server yet */
	dw_usec hidden[PROCESSES][ENDS]; /* steady: that end is away from the process until then */
	dw_usec tick_at;                 /* steady: servers and Sentinels talk to each other */
	unsigned histories;              /* replication ids that were given */
};

/* Both run a seed. */
void servers_run_sentinels(struct sim *);
void servers_run_cluster(struct sim *);

static inline struct servers *servers_of(struct outages *outages)
{
	return (struct servers *)outages; /* its first field */
}

/* servers_end: the network of an end. */
static inline struct network *servers_end(struct servers *servers, unsigned end)
{
	return end < SITES_MAX ? &servers->sites[end].network
			       : &servers->tellers[end - SITES_MAX].network;
}

/* site_is_up: its process runs. site_is_reached: others reach it, too. */
static inline bool site_is_up(const struct site *site)
{
	dw_usec now = site->servers->sim->clocks.steady;

	return now >= site->dead_until && now >= site->network.halted_until;
}

static inline bool site_is_reached(const struct site *site)
{
	return site_is_up(site) && site->servers->sim->clocks.steady >= site->apart_until;
}

/* ---- carry.c ---- */
void carry_arrived(struct servers *, unsigned end, struct packet *);

/* ---- unrest.c ---- */
void unrest_choose(struct servers *);
void unrest_begin(struct outages *, struct member *any);
void unrest_end(struct servers *);

/* ---- planted.c ---- */
void servers_plant(enum bug);

#endif
