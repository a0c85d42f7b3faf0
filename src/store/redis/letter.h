/* A dead letter as the scripts give it. */
#ifndef DW_STORE_REDIS_LETTER_H
#define DW_STORE_REDIS_LETTER_H

#include "durawheel/store.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

/* letter_row: the row of a dead letter, of three items of dead_page.lua: a member, its score, a
 * letter. Its status says whether it can be trusted; number and generation are sound. */
dw_row *letter_row(struct redis_store *, const struct shard *, const struct reply *items);

#endif
