/* A link to the server. What is sent arrives after a while, in order, and so do the replies. A
 * connection that is lost takes its replies with it. Its requests are lost, too, or a part of them
 * is carried out later, as by a server that was stopped with them in its socket. */
#ifndef SIM_FLEET_CONNECTION_H
#define SIM_FLEET_CONNECTION_H

#include <stdbool.h>

#include "sim/fleet/network.h"
#include "redis/link.h"

struct instance;

struct connection {
	struct link link;         /* first */
	struct connection **home; /* is NULL when the connection is freed */
	struct network *network;
	struct instance *instance; /* is woken by replies */
	bool subscriber;
	bool up;
	struct route route;
	dw_usec up_at;
	struct packet *first; /* replies to be taken */
	struct packet *last;
	unsigned under_way;   /* requests without a reply */
	dw_usec waiting_from; /* for the oldest of them */
};

void connection_new(struct connection **home, struct network *, struct instance *, bool subscriber);
void connection_cut(struct connection *, bool nothing_left);

/* connection_receive takes the packet over. */
void connection_receive(struct connection *, struct packet *);

#endif
