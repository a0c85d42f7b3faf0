/* Which shards a peer takes. */
#ifndef DW_STORE_REDIS_TAKING_H
#define DW_STORE_REDIS_TAKING_H

#include "durawheel/durawheel.h"

struct redis_store;
struct member_list;

/* After a refusal, one shard is tried so often. */
#define TAKING_TRIES DW_SECONDS(30)
#define TAKING_LIST_AGE DW_SECONDS(10) /* an older list says nothing */
#define TAKING_FREE_FOR DW_SECONDS(3)  /* a shard that is free for so long is anybody's */

/* taking_held returns how many shards this store has; taking_room, how many it can have. */
unsigned taking_held(const struct redis_store *);
unsigned taking_room(const struct redis_store *);

/* taking_choose computes the share of this store from a list, which the server has given `now`, and
 * chooses the shards to take. */
void taking_choose(struct redis_store *, const struct member_list *, dw_usec now);

/* taking_want_all is called when the server has given no list for long: then this store takes what
 * nobody has on the servers that are there. */
void taking_want_all(struct redis_store *);

/* taking_work takes what was chosen. */
void taking_work(struct redis_store *);

#endif
