/* Drops the timers of lost shards from memory, some of them in each turn. Meanwhile the timers of
 * all other shards go on. A part that meets a timer of a lost shard earlier drops it at once with
 * loss_meets(). */
#ifndef DW_ENGINE_LOSS_H
#define DW_ENGINE_LOSS_H

#include <stdbool.h>

struct engine;
struct timer;

/* loss_meets returns true if the timer is of a lost shard. Then it has dropped the timer, and may
 * have freed it. timer may be NULL. loss_meets_id does the same for the timer of an id. */
bool loss_meets(struct engine *, struct timer *);
void loss_meets_id(struct engine *, const char *id);

/* loss_drop drops what memory knows of a timer. */
void loss_drop(struct engine *, struct timer *);

/* loss_round drops some timers. After the last one, shards that are ours again are read. */
void loss_round(struct engine *);

#endif
