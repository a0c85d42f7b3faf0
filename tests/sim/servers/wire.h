/* A link of the library, to the end that its URL names: a server or a Sentinel. */
#ifndef SIM_SERVERS_WIRE_H
#define SIM_SERVERS_WIRE_H

#include "redis/url.h"
#include "sim/fleet/connection.h"

struct servers;
struct site;

struct wire {
	struct connection connection; /* first */
	struct wire *next;
	struct servers *servers;
	const struct redis_url *url;
	bool is_voter;  /* it asks who is named */
	char *channels; /* of a subscriber, '\n' between them; NULL: it is none */
	unsigned end;   /* where it leads; ENDS: nowhere yet */
};

/* wires_begin: from now on links are wires of these nodes. */
void wires_begin(struct servers *);

/* wires_cut: all that lead to that end. nothing_left: what is on its way is lost. */
void wires_cut(struct servers *, unsigned end, bool nothing_left);

/* wires_cut_waiting: only those on which a reply is still to come, as that to a WAIT. */
void wires_cut_waiting(struct servers *, unsigned end);

/* wires_listen: what is published at the site reaches the subscribers. */
void wires_listen(struct site *);

#endif
