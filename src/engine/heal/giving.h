/* A peer gives shards to other peers, when its store says that it has too many. It gives one at a
 * time, and only in a quiet moment: a shard that is given has no claim, no delivery and no
 * operation under way, so no start is lost or doubled.
 *
 * First the shard drains: nothing of it is claimed and started any more, and claims that have not
 * started are given back. Then the calls of its ids wait, too, until the store has answered. */
#ifndef DW_ENGINE_GIVING_H
#define DW_ENGINE_GIVING_H

#include <stdbool.h>

#include "port/op.h"

struct engine;

struct giving {
	bool active;
	bool asked;      /* the GIVE is not answered yet */
	unsigned shard;  /* the shard that is being given, or was last */
	dw_usec until;   /* steady; when this attempt is given up */
	dw_usec at;      /* steady; when the next attempt may begin */
	dw_usec failing; /* steady; since when no shard was quiet; 0: the last attempt succeeded */
	/* When a shard may be kept from starting timers for long, and the time until then the next
	 * time. */
	dw_usec long_at, long_pause;
};

void giving_round(struct engine *);
dw_usec giving_wake(const struct engine *, dw_usec now);
void giving_answered(struct engine *, const dw_op *);

#endif
