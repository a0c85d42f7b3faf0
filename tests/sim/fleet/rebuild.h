/* An owner puts right what the server has lost: it writes timers again, or deletes them again. */
#ifndef SIM_FLEET_REBUILD_H
#define SIM_FLEET_REBUILD_H

#include <stdbool.h>

#include "durawheel/store.h"

struct fleet;
struct process;
struct sim;

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
