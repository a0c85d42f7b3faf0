/* Reads a dead letter that a script has sent. */
#ifndef DW_STORE_REDIS_LETTER_H
#define DW_STORE_REDIS_LETTER_H

#include "durawheel/store.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

/* letter_row makes the row of a dead letter from three items of a reply of dead_page.lua: a member,
 * its score, and a letter. The row's status says whether its body is undamaged. The row's number
 * and generation are always right. */
dw_row *letter_row(struct redis_store *, const struct shard *, const struct reply *items);

#endif
