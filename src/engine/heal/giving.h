/* A peer gives shards to other peers, when its store says that it has too many, and all of them
 * before it ends. It gives a shard only in a quiet moment: a shard that is given has no claim, no
 * delivery and no operation under way, so no start is lost or doubled.
 *
 * First the shard drains: nothing of it is claimed and started any more. When no delivery of it
 * runs, what is claimed or held and has not started is given back. Then the calls of its ids wait,
 * too, until the store has answered.
 *
 * An attempt is short, and one shard drains. If no shard was quiet for a while, some of them wait
 * for deliveries of usual length together, and now and then one waits for a long one. A peer that
 * leaves starts nothing more, so all its shards drain until their deliveries have ended. */
#ifndef DW_ENGINE_GIVING_H
#define DW_ENGINE_GIVING_H

#include <stdbool.h>

#include "port/op.h"

struct engine;

struct giving {
	bool is_leaving;   /* the peer is about to end, and gives all its shards */
	unsigned draining; /* how many shards drain, or wait with their calls */
	unsigned asked;    /* how many GIVE are not answered yet */
	bool has_given;    /* this attempt has given a shard */
	unsigned next;     /* the choice of a shard begins here */
	dw_usec patience;  /* for how long this attempt drains */
	dw_usec until;     /* steady; when the shards that drain go on */
	dw_usec at;        /* steady; when the next attempt, or GIVE, may begin */
	dw_usec failing;   /* steady; since when no shard was given; 0: the last attempt gave one */
	bool needs_long;   /* the usual patience was too short */
	/* When a shard may drain for long, and the time until then the next time. */
	dw_usec long_at, long_pause;
};

/* giving_leave begins to give all shards of a peer. */
void giving_leave(struct engine *);

void giving_round(struct engine *);
dw_usec giving_wake(const struct engine *, dw_usec now);
void giving_answered(struct engine *, const dw_op *);

#endif
