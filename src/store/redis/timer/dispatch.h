/* Sends the operations that wait in the shards' queues. dispatch_shard does this for one shard. */
#ifndef DW_STORE_REDIS_DISPATCH_H
#define DW_STORE_REDIS_DISPATCH_H

struct redis_store;
struct shard;

void dispatch_all(struct redis_store *);
void dispatch_shard(struct redis_store *, struct shard *);

/* dispatch_end_pauses forgets pauses that are over. */
void dispatch_end_pauses(struct redis_store *);

#endif
