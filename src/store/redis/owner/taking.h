/* Which shards a peer takes. */
#ifndef DW_STORE_REDIS_TAKING_H
#define DW_STORE_REDIS_TAKING_H

#include "durawheel/durawheel.h"

struct members;
struct redis_store;
struct member_list;

/* After a refusal, this store tries one shard at this interval. */
#define TAKING_TRIES DW_SECONDS(30)
#define TAKING_LIST_AGE DW_SECONDS(10) /* an older list is not used */
/* A shard that nobody has had for this long may be taken by any peer. */
#define TAKING_FREE_FOR DW_SECONDS(3)

/* taking_held returns how many shards this store has. taking_room returns how many it can have. */
unsigned taking_held(const struct redis_store *);
unsigned taking_room(const struct members *);

/* taking_choose computes the share of this store from a list, and chooses the shards to take. `now`
 * is the server's time in the list. */
void taking_choose(struct redis_store *, const struct member_list *, dw_usec now);

/* taking_want_all is called when no list has come for a long time. Then this store wants all shards
 * that it does not have, on all connected servers; the leases decide what it gets. */
void taking_want_all(struct redis_store *);

/* taking_work acquires the chosen shards. */
void taking_work(struct redis_store *);

#endif
