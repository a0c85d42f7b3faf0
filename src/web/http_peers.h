/* The peers of the web server: the clients with an open connection, and how much time each has
 * left.
 *
 * The server accepts more connections than it answers requests at a time. If only few places for
 * connections are left, it closes a connection without a request. So there is always a place for a
 * health check. */
#ifndef DW_WEB_HTTP_PEERS_H
#define DW_WEB_HTTP_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

enum { PEERS_MAX = 40, PEERS_ANSWERED = 32, PEERS_KEPT = 24 };

struct peer {
	int fd;         /* the descriptor of the connection; -1 if the place is free */
	dw_usec end_at; /* the steady time at which the peer's time is over */
	/* The steady time since which the peer has no request; DW_NEVER while it has a request. */
	dw_usec quiet_since;
	/* The peer's request waits for the store. If this takes too long, the client gets a
	 * reply. */
	bool is_held;
	bool is_ending;
};

struct peers {
	struct peer peers[PEERS_MAX];
	bool was_full; /* a peer has left a full server, so another may be accepted */
};

void peers_open(struct peers *);

/* peers_take stores a new connection, which gets 5 s to send a request. Returns NULL if there is no
 * free place. peers_leave frees the place of a connection. */
struct peer *peers_take(struct peers *, int fd);
void peers_leave(struct peers *, struct peer *);

/* peer_began notes that a request has arrived; the server has 30 s to answer it. peer_ended notes
 * the end of the request; the client has 5 s to send the next one. */
void peer_began(struct peer *);
void peer_ended(struct peer *);

/* peer_is_late returns true if the request has used up its time. peer_is_gone returns true if the
 * client has closed the connection. If the client has closed only its own side, it still gets a
 * reply that is ready within a second. */
bool peer_is_late(const struct peer *);
bool peer_is_gone(const struct peer *);

/* peers_are_busy returns true if more than PEERS_ANSWERED requests are being answered.
 * peers_are_many returns true if there are so many connections that each must close after its
 * reply. */
bool peers_are_busy(const struct peers *);
bool peers_are_many(const struct peers *);

/* peers_turn closes connections that have used up their time. If there are more than
 * PEERS_ANSWERED, it also closes the connections that have been without a request for the longest
 * time. Returns the steady time of the next call. */
dw_usec peers_turn(struct peers *);

#endif
