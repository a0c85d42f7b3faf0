/* What a link learns of the server: which process it is, since when it has been up, and for how
 * long nobody listened at its address. Leases that were given before have ended meanwhile. */
#ifndef DW_REDIS_LIFE_H
#define DW_REDIS_LIFE_H

#include "redis/hello.h"
#include "redis/link_server.h"

struct life {
	struct link_server server;
	/* The last attempt was refused, or the server was loading; and the one before. */
	bool is_away, was_away;
};

/* life_up is called when a connection is up, and life_lost when one that was up is lost. */
void life_up(struct life *, const struct hello *, dw_usec now);
void life_lost(struct life *);

/* life_refused is called when an attempt to connect has failed. With is_away nobody listens.
 * life_accepted is called when somebody listens. life_loading is called when this is the server,
 * which still loads its data, so that nobody can use it. */
void life_refused(struct life *, bool is_away, dw_usec now);
void life_accepted(struct life *);
void life_loading(struct life *, dw_usec now);

#endif
