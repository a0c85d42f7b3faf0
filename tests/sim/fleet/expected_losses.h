/* The losses that are allowed after the server has lost confirmed data.
 *
 * The KEEPER of a shard is its owner at that moment, if its process continues. It knows a timer if
 * its engine has learnt of the timer and has acknowledged that in the inbox.
 * - A known timer that is missing now is OWED: the keeper must rebuild it.
 * - A known timer that had ended and is back now must not start.
 * - An unknown timer, which a client wrote just before, is LOST: it need not be rebuilt, but it may
 *   be.
 *
 * If there is no keeper, or if it ends before it has rebuilt everything, the server's data is the
 * truth, whatever was confirmed.
 *
 * Until a timer is rebuilt, a client's answers about it promise nothing. */
#ifndef SIM_FLEET_EXPECTED_LOSSES_H
#define SIM_FLEET_EXPECTED_LOSSES_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "sim/fleet/server.h"

struct fleet;
struct process;

/* A timer before a fault of the data. */
struct remembered {
	bool stored;
	bool unacked; /* it has an entry in the inbox */
	bool unread;  /* its owner has not read that entry */
	dw_head head;
};

/* How far a process may be wrong about its shards. */
struct exposure {
	bool unowned
	    [SHARDS_MAX_SIM]; /* set back to before it was the owner, which it need not know */
	dw_usec grace[SHARDS_MAX_SIM];  /* steady: until then it may believe that it is the owner */
	bool superseded;                /* another process took over a shard that was set back */
	uint64_t fence[SHARDS_MAX_SIM]; /* its own; 0: it has none */
	bool gives_way[SHARDS_MAX_SIM]; /* to a newer version: it need not keep that fence */
};

/* Call losses_look before a fault of the shard's data and losses_settle after it. keeper NULL: the
 * shard has no owner. */
void losses_look(struct fleet *, unsigned shard, const struct process *keeper);
void losses_settle(struct fleet *, unsigned shard, const struct process *keeper);

/* losses_look_at_value, losses_value_deleted: the same for one value that is deleted. */
void losses_look_at_value(struct fleet *, struct name *, const struct process *keeper);
void losses_value_deleted(struct fleet *, struct name *, const struct process *keeper);

void losses_give_grace(struct fleet *, unsigned shard);
bool losses_in_grace(const struct process *, unsigned shard);

/* losses_renumbered: the server raised the numbers of timers that clients wrote into an emptied
 * shard above those that its owner knows. */
void losses_renumbered(struct fleet *, unsigned shard);
void losses_taken_over(struct fleet *, unsigned shard);

/* losses_acquired: the process, or NULL, was given that fence of the shard. losses_emptied: nobody
 * keeps the shard. losses_gives_way: the process was refused a shard that a newer version had. */
void losses_acquired(struct fleet *, unsigned shard, const struct process *, uint64_t fence);
void losses_emptied(struct fleet *, unsigned shard);
void losses_gives_way(struct fleet *, const struct process *);

/* losses_must_stay: the process at work has no reason to give its ownership up. The server was set
 * back, but its lease holds, and nobody was given a later fence. */
bool losses_must_stay(const struct fleet *);

/* losses_owner_told: the engine learns that it lost the ownership. */
void losses_owner_told(struct process *);

/* losses_keeper_ends: the process at work ends or lost the ownership. in_time: its lease was not
 * over, so it must have rebuilt everything. */
void losses_keeper_ends(struct fleet *, bool in_time);

/* losses_shard_given_up: the process at work learns that it lost this shard. The shard's data is
 * the truth. */
void losses_shard_given_up(struct fleet *, unsigned shard);

/* losses_in_time: the lease of the process at work is not over, and no other process owns a shard
 * that was set back. */
bool losses_in_time(const struct fleet *);

/* ---- rebuild.c: an owner writes or deletes again what the server lost ------------------------ */

/* rebuild_written: a timer was rebuilt. caller NULL: its connection is gone. fenced: the caller
 * hands over all timers that it has not seen end. rebuild_deleted: versions up to that one were. */
void rebuild_written(struct fleet *, const char *id, const dw_head *, const struct process *caller,
		     bool fenced);
void rebuild_deleted(struct sim *, const char *id, uint64_t version);

/* rebuild_repaired: an entry without a value was deleted. */
void rebuild_repaired(struct sim *, const char *id);

/* rebuild_done: the engine has rebuilt all that it knew of the lost shards. */
void rebuild_done(struct process *, dw_store *real);

#endif
