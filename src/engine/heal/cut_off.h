/* Timers in a shard that is refused. If such a timer comes due, it waits outside of the schedules
 * until the shard is in use again. */
#ifndef DW_ENGINE_CUT_OFF_H
#define DW_ENGINE_CUT_OFF_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"

struct engine;
struct timer;

struct cut_off {
	unsigned count; /* how many shards are refused */
	bool refused[DW_SHARDS_MAX];
	/* How many suspended timers must still be looked at, counted from the first. */
	uint64_t recheck;
};

/* cut_off_holds looks at a timer that has come out of its schedule. If the shard of the timer is
 * refused, it suspends the timer and returns true. */
bool cut_off_holds(struct engine *, struct timer *);

/* cut_off_covers returns true if operations on the id fail because its shard is refused. */
bool cut_off_covers(const struct engine *, const char *id);

/* cut_off_watch tells the program which shards are refused or in use again. */
void cut_off_watch(struct engine *);

#endif
