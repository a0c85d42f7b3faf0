/* Finds timers in a shard to which their id does not belong. */
#ifndef DW_STORE_REDIS_MISPLACED_H
#define DW_STORE_REDIS_MISPLACED_H

#include <stdbool.h>

#include "durawheel/store.h"

struct redis_store;
struct shard;

bool misplaced_is(const struct redis_store *, const struct shard *, const char *id);

/* misplaced_row looks at a timer that was read in the shard. If the timer is misplaced, its row is
 * marked as damaged, and an owner makes the timer a dead letter. misplaced_news does the same for a
 * timer in the inbox, and also acknowledges it. */
void misplaced_row(struct redis_store *, struct shard *, dw_row *);
void misplaced_news(struct redis_store *, struct shard *, dw_row *, int64_t score);

#endif
