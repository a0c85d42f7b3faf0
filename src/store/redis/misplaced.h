/* Timers in a shard to which they do not belong. */
#ifndef DW_STORE_REDIS_MISPLACED_H
#define DW_STORE_REDIS_MISPLACED_H

#include <stdbool.h>

#include "durawheel/store.h"

struct redis_store;
struct shard;

bool misplaced_is(const struct redis_store *, const struct shard *, const char *id);

/* misplaced_row: a timer that was read in that shard. If it is misplaced, it is damaged from now
 * on, and an owner moves it to the dead letters. misplaced_news: the same of one in the inbox,
 * which is acknowledged. */
void misplaced_row(struct redis_store *, struct shard *, dw_row *);
void misplaced_news(struct redis_store *, struct shard *, dw_row *, int64_t score);

#endif
