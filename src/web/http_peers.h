/* The peers of the web server: who has an open connection, and how much time is left to each.
 *
 * There are more places than requests are answered at a time, and nobody keeps one of the last
 * places without asking. So there is always one for a probe. */
#ifndef DW_WEB_HTTP_PEERS_H
#define DW_WEB_HTTP_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

enum { PEERS_MAX = 40, PEERS_ANSWERED = 32, PEERS_KEPT = 24 };

struct peer {
	int fd;              /* -1: nobody */
	dw_usec end_at;      /* steady */
	dw_usec quiet_since; /* steady; DW_NEVER: a request is answered */
	bool is_held;        /* its request waits for the store: its end is told in words */
	bool is_ending;
};

struct peers {
	struct peer peers[PEERS_MAX];
	bool was_full; /* one has left since: another may be let in */
};

void peers_open(struct peers *);

/* peers_take notes a new connection, which gets 5 s to send a request. NULL: there are too many. */
struct peer *peers_take(struct peers *, int fd);
void peers_leave(struct peers *, struct peer *);

/* peer_began: a request has come, and gets 30 s to be answered. peer_ended: it is over, and 5 s are
 * left for the next one. */
void peer_began(struct peer *);
void peer_ended(struct peer *);

/* peer_is_late: the request has used up its time. peer_is_gone: the client has hung up. One that
 * has only ended its own side may still read a quick answer. */
bool peer_is_late(const struct peer *);
bool peer_is_gone(const struct peer *);

/* peers_are_busy: more than PEERS_ANSWERED requests are answered. peers_are_many: from now on, a
 * connection ends with its answer. */
bool peers_are_busy(const struct peers *);
bool peers_are_many(const struct peers *);

/* peers_turn ends connections that have used up their time and, while there are more than
 * PEERS_ANSWERED, those that have asked nothing for longest. libmicrohttpd sees their end. Returns
 * the steady time when to call it again. */
dw_usec peers_turn(struct peers *);

#endif
