/* A peer gives shards to other peers when its store says that it has too many, and gives all of
 * them before it ends. It gives a shard only in a quiet moment, when the shard has no claim, no
 * delivery and no operation under way. So no start is lost or doubled.
 *
 * First the shard drains: its timers are no longer claimed or started. When none of its deliveries
 * runs, the engine gives back the timers that are claimed or held and have not started. Then calls
 * about its ids also wait, until the store has answered the GIVE.
 *
 * An attempt is short, and one shard drains. If no shard was quiet for a while, several shards
 * drain together, for as long as usual deliveries take. Now and then one shard drains for long. A
 * peer that leaves starts nothing more, so all its shards drain until their deliveries have
 * ended. */
#ifndef DW_ENGINE_GIVING_H
#define DW_ENGINE_GIVING_H

#include <stdbool.h>

#include "port/op.h"

struct engine;

struct giving {
	bool is_leaving;   /* the peer is about to end, and gives all its shards */
	unsigned draining; /* how many shards drain, or also let their calls wait */
	unsigned asked;    /* how many GIVE are not answered yet */
	bool has_given;    /* this attempt has given a shard */
	unsigned next;     /* the number of the shard at which the next choice begins */
	dw_usec patience;  /* for how long this attempt drains */
	dw_usec until;     /* steady; when the shards that drain start timers again */
	dw_usec at;        /* steady; when the next attempt, or GIVE, may begin */
	/* Steady; since when no attempt has given a shard; 0: the last attempt has. */
	dw_usec failing;
	bool needs_long; /* the usual patience was too short */
	/* Steady; when a shard may drain for long next. The pause after the last long drain. */
	dw_usec long_at, long_pause;
};

/* giving_leave begins to give all shards of a peer. */
void giving_leave(struct engine *);

void giving_round(struct engine *);
dw_usec giving_wake(const struct engine *, dw_usec now);
void giving_answered(struct engine *, const dw_op *);

#endif
