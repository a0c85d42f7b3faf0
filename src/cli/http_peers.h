/* The peers of the web server: who has an open connection, and how much time is left to each. */
#ifndef DW_CLI_HTTP_PEERS_H
#define DW_CLI_HTTP_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

enum { PEERS_MAX = 32 };

struct peer {
	int fd;         /* -1: nobody */
	dw_usec end_at; /* steady */
	bool is_held;   /* its request waits for the store: its end is told in words */
};

struct peers {
	struct peer peers[PEERS_MAX];
};

void peers_open(struct peers *);

/* peers_take notes a new connection, which gets 5 s to send a request. NULL: there are too many. */
struct peer *peers_take(struct peers *, int fd);
void peer_leave(struct peer *);

/* peer_began: a request has come, and gets 30 s to be answered. peer_ended: it is over, and 5 s are
 * left for the next one. */
void peer_began(struct peer *);
void peer_ended(struct peer *);

/* peer_is_late: the request has used up its time. peer_is_gone: the client has hung up. One that
 * has only ended its own side may still read a quick answer. */
bool peer_is_late(const struct peer *);
bool peer_is_gone(const struct peer *);

/* peers_turn ends connections that have used up their time. libmicrohttpd sees their end. */
void peers_turn(struct peers *);

#endif
