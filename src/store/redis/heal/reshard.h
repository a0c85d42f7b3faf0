/* Makes, frees and replaces the shards of a store. redis_shards() is in store.h. */
#ifndef DW_STORE_REDIS_RESHARD_H
#define DW_STORE_REDIS_RESHARD_H

struct alloc;
struct redis_store;
struct shard;

/* reshard replaces the shards if the namespace has another number of them. No command may be under
 * way. */
void reshard(struct redis_store *);

void shards_free(struct alloc *, struct shard *, unsigned count);

#endif
