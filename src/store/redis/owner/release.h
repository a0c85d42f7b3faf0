/* Gives leases back. */
#ifndef DW_STORE_REDIS_RELEASE_H
#define DW_STORE_REDIS_RELEASE_H

#include <stdbool.h>

#include "base/usec.h"

struct redis_store;
struct shard;

/* How long an owner that stops without a connection waits for one, so that it can give its leases
 * back. */
#define GIVE_BACK DW_SECONDS(1)

/* release_lease gives the lease of a shard back. If the command fails, the lease runs out by
 * itself. */
void release_lease(struct redis_store *, struct shard *);

/* release_all is called when the store stops, and again whenever something has arrived. It gives
 * back the leases of all shards whose node is connected. It returns true while leases remain to be
 * given back. */
bool release_all(struct redis_store *);

#endif
