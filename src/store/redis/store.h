/* Makes a Redis store. redis_store_open() makes one for a URL. A simulation makes one with a link
 * of its own. */
#ifndef DW_STORE_REDIS_STORE_H
#define DW_STORE_REDIS_STORE_H

#include <stdbool.h>

#include "redis/link.h"
#include "store/store.h"

struct redis_store;

extern const dw_store_class redis_class;

/* redis_new makes a client's store on `link`. The store takes the link over, even if redis_new
 * fails. The name, shards and lease of env mean what durawheel/store.h says. The shards are made
 * later, by redis_shards. Returns DW_OK, DW_ENOMEM or DW_EINVAL (the name is not allowed). */
int redis_new(struct redis_store **ret_store, const dw_store_env *env, struct link *link);

/* redis_shards makes the shards when their number is known. Returns DW_OK or DW_ENOMEM. */
int redis_shards(struct redis_store *, unsigned count);

/* redis_hear hands the store a link that is subscribed to the wake channels. */
void redis_hear(struct redis_store *, struct link *subscriber);

/* redis_wait waits until the descriptor is ready or the store has something to do, but not beyond
 * `until` (steady clock). Returns false when `until` is over. */
bool redis_wait(struct redis_store *, dw_usec until);

/* redis_wire writes commands to the server, takes the replies that have arrived, and acts on the
 * marks that the parts have set. */
void redis_wire(struct redis_store *);

/* redis_work does everything that can be done now without waiting. */
void redis_work(struct redis_store *);

dw_store *redis_base(struct redis_store *);
void redis_free(dw_store *);

/* crc16_of returns the CRC-16 of an id as Redis Cluster computes it. The id's shard is this number
 * modulo the number of shards. */
unsigned crc16_of(const char *id);

#endif
