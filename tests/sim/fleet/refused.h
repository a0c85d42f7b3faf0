/* Shards that the server refuses, one by one: a user has lost the right to their keys, or a slot
 * moves to another node. Then every command that names a key of such a shard is answered with an
 * error, for everybody or for one process alone. Now and then all shards are refused. */
#ifndef SIM_FLEET_REFUSED_H
#define SIM_FLEET_REFUSED_H

#include <stdbool.h>

#include "sim/fleet/network.h"
#include "sim/fleet/server.h"

struct fleet;

/* One time of refusals. The next one begins after its end. */
struct refused {
	bool shards[SHARDS_MAX_SIM];
	unsigned count;   /* how many of them are refused */
	unsigned process; /* whose commands are; PROCESSES_MAX: everybody's */
	bool moves;       /* the slot moves, so that the refusal may pass */
	dw_usec since, until;
	dw_usec ended[SHARDS_MAX_SIM]; /* steady: end of the last refusal of that shard */
};

/* refused_act begins a refusal now and then, if there is none. refused_end ends it. */
void refused_act(struct fleet *);
void refused_end(struct fleet *);

/* refused_is returns true if commands of the process about the shard are refused now.
 * refused_all: all of its commands are. */
bool refused_is(const struct fleet *, unsigned shard, unsigned process);
bool refused_all(const struct fleet *, unsigned process);

/* refused_disturbs: a lease may be over, because its renewals were refused. */
bool refused_disturbs(const struct fleet *);

/* refused_reply: the server's reply to a command that it refuses; NULL: it carries it out. */
struct reply *refused_reply(struct fleet *, const struct packet *, const char *script);

#endif
