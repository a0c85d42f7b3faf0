/* Drops of dead letters that may be in a wrong shard. A letter is in the shard of its id, unless
 * another program had put its timer elsewhere (misplaced.h). So a drop that finds none in its own
 * shard asks all others, one after the other. It leaves out shards that are cut off: a fault in one
 * shard fails no operation on an id of another one. */
#ifndef DW_STORE_REDIS_STRAY_H
#define DW_STORE_REDIS_STRAY_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

/* stray_ask_next sends a drop to the shard behind this one. Returns false if all were asked. */
bool stray_ask_next(struct redis_store *, const struct shard *, dw_op *);

/* stray_leave lets drops that other shards have sent to this one go on, because it is cut off or
 * lost. */
void stray_leave(struct redis_store *, struct shard *);

#endif
