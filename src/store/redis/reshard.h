/* The shards of a store, and another number of them. redis_shards() is in store.h. */
#ifndef DW_STORE_REDIS_RESHARD_H
#define DW_STORE_REDIS_RESHARD_H

struct redis_store;
struct shard;

/* reshard goes on with the number that was found, when nothing is under way any more. */
void reshard(struct redis_store *);

void shards_free(struct redis_store *, struct shard *, unsigned count);

#endif
