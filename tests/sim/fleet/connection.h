/* A link to the server. Requests arrive after a while, in order, and so do replies. A lost
 * connection loses its replies. Its requests are lost too, or some of them are carried out later,
 * as by a server that was stopped with requests in its socket. */
#ifndef SIM_FLEET_CONNECTION_H
#define SIM_FLEET_CONNECTION_H

#include <stdbool.h>

#include "sim/fleet/network.h"
#include "redis/life.h"
#include "redis/link.h"

struct instance;

struct connection {
	struct link link;         /* first */
	struct connection **home; /* NULL, or: is NULL when the connection is freed */
	struct network *network;
	struct instance *instance; /* is woken by replies */
	bool subscriber;
	bool up;
	struct route route;
	dw_usec up_at;        /* the next attempt to connect */
	struct life life;     /* what it knows of the server's process */
	struct packet *first; /* replies to be taken */
	struct packet *last;
	unsigned under_way;   /* requests without a reply */
	dw_usec waiting_from; /* for the oldest of them */
};

void connection_new(struct connection **home, struct network *, struct instance *, bool subscriber);

/* connection_init is for a link that begins with a connection, and has a class of its own, which
 * calls this one. */
extern const struct link_class connection_class;
void connection_init(struct connection *, struct network *, struct instance *, bool subscriber);
void connection_cut(struct connection *, bool nothing_left);

/* connection_receive takes the packet over. */
void connection_receive(struct connection *, struct packet *);

#endif
