/* What a link learns of the server: which process it is, since when it has been up, and during
 * which time nobody listened at its address. The store needs this to know which leases have ended
 * meanwhile. */
#ifndef DW_REDIS_LIFE_H
#define DW_REDIS_LIFE_H

#include "redis/hello.h"
#include "redis/link_server.h"

struct life {
	struct link_server server;
	/* is_away: the last attempt was refused, or the server was loading. was_away: the same for
	 * the attempt before the last one. */
	bool is_away, was_away;
};

/* life_up is called when a connection is up, and life_lost when one that was up is lost. */
void life_up(struct life *, const struct hello *, dw_usec now);
void life_lost(struct life *);

/* life_refused is called when an attempt to connect has failed. is_away means that nobody listens
 * at the address. life_accepted is called when somebody listens. life_loading is called when the
 * server still loads its data, so that nobody can use it. */
void life_refused(struct life *, bool is_away, dw_usec now);
void life_accepted(struct life *);
void life_loading(struct life *, dw_usec now);

#endif
