/* What may be expected after the server has lost what it had confirmed.
 *
 * The KEEPER of a shard is its owner at that moment, if its process lives and goes on. What it knew
 * (its engine had heard of it, and that was acknowledged in the inbox) it has to put right: it OWES
 * the timers that are not there, and what is there again although it had ended must not start. What
 * it did not know, what a client had written just now, is LOST: nobody has to bring it back,
 * somebody may. Without a keeper, and when it ends before it has put all right, what the server
 * says is the truth, whatever was confirmed.
 *
 * Until it is put right, what a client is told of the timer promises nothing. */
#ifndef SIM_FLEET_EXPECTED_LOSSES_H
#define SIM_FLEET_EXPECTED_LOSSES_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "sim/fleet/server.h"

struct fleet;
struct process;

/* A timer before something befell the data. */
struct remembered {
	bool stored;
	bool unacked; /* it has an entry in the inbox */
	bool unheard; /* its entry in the inbox says something that its owner has not heard */
	dw_head head;
};

/* What befell the shards of a process. */
struct exposure {
	bool shaken[SHARDS_MAX_SIM]; /* set back to before it was the owner, and it need not know */
	dw_usec grace[SHARDS_MAX_SIM]; /* until then it may think that it is the owner */
	bool is_beaten;                /* another one has a shard of its, which was set back */
};

/* losses_look before something befalls the shard, losses_settle afterwards. keeper NULL: the shard
 * has no owner. */
void losses_look(struct fleet *, unsigned shard, const struct process *keeper);
void losses_settle(struct fleet *, unsigned shard, const struct process *keeper);

/* losses_tear, losses_torn: the same of one value that is taken away. */
void losses_tear(struct fleet *, struct name *, const struct process *keeper);
void losses_torn(struct fleet *, struct name *, const struct process *keeper);

void losses_give_grace(struct fleet *, unsigned shard);
bool losses_in_grace(const struct process *, unsigned shard);

/* losses_renumbered: what clients have written into an emptied shard got new numbers, above those that
 * its owner knows. */
void losses_renumbered(struct fleet *, unsigned shard);
void losses_taken_over(struct fleet *, unsigned shard);

/* losses_owner_told: the engine hears that it has lost the ownership. */
void losses_owner_told(struct process *);

/* losses_keeper_ends: the process at work ends or has lost the ownership; in_time: its lease was not
 * over, so that it has had to put all right before. */
void losses_keeper_ends(struct fleet *, bool in_time);

/* losses_in_time: the lease of the process at work is not over, and no shard that was set back is
 * another's by now. */
bool losses_in_time(const struct fleet *);

/* ---- rebuild.c: an owner writes timers again, or deletes them again ------------------------- */

/* rebuild_written: a timer was written again. caller NULL: its connection is gone; fenced: the
 * caller hands over what it has not itself seen to end. */
void rebuild_written(struct fleet *, const char *id, const dw_head *, const struct process *caller,
		     bool fenced);
void rebuild_deleted(struct sim *, const char *id);

/* rebuild_repaired: an entry without a value is gone. */
void rebuild_repaired(struct sim *, const char *id);

/* rebuild_done: the engine has written again all that it knew of the lost shards. */
void rebuild_done(struct process *, dw_store *real);

#endif
