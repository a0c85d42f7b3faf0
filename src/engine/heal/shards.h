/* The shards of the store. A fault in one shard stays in it: its due timers wait outside of the
 * schedules, in a list of the shard, until the shard may start them again. All others go on. */
#ifndef DW_ENGINE_SHARDS_H
#define DW_ENGINE_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"
#include "engine/timers.h"

struct engine;

struct engine_shard {
	bool refused; /* the store refuses what is asked of it */
	/* Due timers that may not start now, in the order in which they came out of their
	 * schedules. timers.c changes it. */
	struct timer_list suspended;
};

struct shards {
	struct engine_shard all[DW_SHARDS_MAX];
	unsigned refused;   /* how many shards are refused */
	uint64_t suspended; /* timers in all lists; timers.c changes it */
	bool more;          /* a shard may start its timers again, and some are still in its list */
};

/* shards_suspend looks at a timer that is about to be claimed. If its shard is refused, it suspends
 * the timer and returns true. */
bool shards_suspend(struct engine *, struct timer *);

/* shards_refuse returns true if operations on the id fail because its shard is refused. */
bool shards_refuse(const struct engine *, const char *id);

/* shards_watch takes the store's news of its shards, and tells them to the program. */
void shards_watch(struct engine *);

#endif
