/* Drops of dead letters that may be in a wrong shard. A letter is in the shard of its id, unless
 * another program had put its timer elsewhere (misplaced.h). So if a drop finds no letter in the
 * shard of its id, it asks all other shards, one after the other. It leaves out shards that are cut
 * off: a fault in one shard must not fail operations on ids of other shards. */
#ifndef DW_STORE_REDIS_STRAY_H
#define DW_STORE_REDIS_STRAY_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

/* stray_ask_next sends a drop to the next shard after this one. Returns false if all were asked. */
bool stray_ask_next(struct redis_store *, const struct shard *, dw_op *);

/* stray_leave sends drops that came from other shards on to the next shard, because this one is cut
 * off or lost. */
void stray_leave(struct redis_store *, struct shard *);

#endif
