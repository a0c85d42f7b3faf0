/* A server with its data, and its place among the servers: a master, or a replica, which follows a
 * master. The writes of a master go to its replicas as they were called, and each replica has them
 * a while later. */
#ifndef SIM_SERVERS_SITE_H
#define SIM_SERVERS_SITE_H

#include <stdbool.h>

#include "sim/fleet/network.h"
#include "sim/fleet/server.h"

#define SITES_MAX 8u

struct servers;
struct written;

struct site {
	struct servers *servers;
	unsigned number;
	struct server server; /* its keyspace and its clock */
	struct network network;
	struct site *follows;  /* NULL: it is a master */
	bool is_attached;      /* it gets the writes of that one */
	dw_usec has_until;     /* steady: it has all that its master has sent it by then */
	dw_usec dead_until;    /* steady: nobody listens */
	dw_usec apart_until;   /* steady: no other server and no Sentinel reaches it */
	struct written *first; /* of a master: what a replica does not have yet */
	struct written *last;
};

void site_init(struct site *, struct servers *, unsigned number);
void site_free(struct site *);

/* site_wrote: the master has carried out the request, which the replicas get. */
void site_wrote(struct site *, const struct packet *);

/* site_catch_up: a replica has what reaches it until then (steady). */
void site_catch_up(struct site *, dw_usec until);

/* site_acked: how many replicas have all writes at this time (steady). */
unsigned site_acked(const struct site *, dw_usec at);
/* site_acked_at: when so many have them, if nothing changes; DW_NEVER. */
dw_usec site_acked_at(const struct site *, unsigned count);

/* site_follow: it becomes a replica of that one, and has a copy of its data. */
void site_follow(struct site *, struct site *master);

/* site_lead: it becomes a master with what it has. Returns since when (steady) it lacks writes of
 * the master that it followed. */
dw_usec site_lead(struct site *);

#endif
