/* The packets on their way between the processes and the server. */
#ifndef SIM_FLEET_NETWORK_H
#define SIM_FLEET_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

struct connection;
struct reply;
struct sim;

enum packet_kind { PACKET_REQUEST, PACKET_REPLY };

/* A request's words are in one block, behind their addresses. */
struct packet {
	struct packet *next;
	enum packet_kind kind;
	dw_usec at;          /* it arrives */
	struct route *route; /* NULL: its process is gone */
	uint64_t serial;     /* of the route, when it was sent */
	bool late;           /* the connection was cut since */
	struct reply *reply;
	int count;
	const char **words;
	size_t *sizes;
};

/* The packets of one connection arrive in order. */
struct route {
	struct connection *connection;
	uint64_t serial; /* grows with every new connection */
	dw_usec sent_until;
	dw_usec reply_until;
};

struct network {
	struct sim *sim;
	struct packet *packets; /* by time */
	dw_usec halted_until;
	unsigned run;     /* the number of the server's process: each restart makes another one */
	unsigned history; /* of its replication id; 0: it shows none */
	dw_usec up_since; /* that process listens since then; before, connections are refused */
};

/* network_send copies the words; network_reply takes the reply over. */
void network_send(struct network *, struct route *, int count, const char *const *words,
		  const size_t *sizes);
void network_reply(struct network *, struct route *, struct reply *);

/* network_take: the packet that arrives next, at network_next(). */
dw_usec network_next(const struct network *);
struct packet *network_take(struct network *);
void network_free_packet(struct network *, struct packet *);

/* packet_shard: the shard of the request's first key; -1: it has none in a shard. */
int packet_shard(const struct packet *, bool is_script);

/* network_copy: a request that is on no way; network_free_packet frees it. */
struct packet *network_copy(struct network *, const struct packet *);

/* network_cut: the connection is lost. Some of its requests arrive late, or none. */
void network_cut(struct network *, const struct route *, bool nothing_left);

/* network_forget: the connection is freed and takes no more replies. */
void network_forget(struct network *, const struct route *);

/* network_halt: the server carries nothing out until then. */
void network_halt(struct network *, dw_usec until);

/* network_drop_requests drops all requests, also those of lost connections. */
void network_drop_requests(struct network *);

/* network_restart: the server is away until then, and another process of it comes back. All
 * requests are lost. */
void network_restart(struct network *, dw_usec until);
void network_free(struct network *);

#endif
