/* Making a Redis store out of its parts: what redis_store_open() does with a URL, and a simulation
 * with a link of its own. */
#ifndef DW_STORE_REDIS_STORE_H
#define DW_STORE_REDIS_STORE_H

#include <stdbool.h>

#include "redis/link.h"
#include "store/store.h"

struct redis_store;

extern const dw_store_class redis_class;

/* redis_new: a client's store on link, which it takes over whatever it returns; env->name, shards,
 * lease as in dw_store_env. The shards are not known yet. DW_OK, DW_ENOMEM, DW_EINVAL (the
 * name). */
int redis_new(struct redis_store **ret_store, const dw_store_env *env, struct link *link);

/* redis_shards makes the shards, of a known number. DW_OK, DW_ENOMEM. */
int redis_shards(struct redis_store *, unsigned count);

/* redis_hear gives the store the link that is subscribed to the wake channel. */
void redis_hear(struct redis_store *, struct link *subscriber);

/* redis_channel: what that link must listen to. */
const char *redis_channel(const struct redis_store *);

/* redis_wait waits for the descriptor or the next deadline, not beyond until (steady). False: it is
 * over. */
bool redis_wait(struct redis_store *, dw_usec until);

/* redis_wire writes what was sent, takes the replies that have come, and acts on what the parts
 * have noted. */
void redis_wire(struct redis_store *);

/* redis_work does what can be done now: replies in, commands out. */
void redis_work(struct redis_store *);

dw_store *redis_base(struct redis_store *);
void redis_free(dw_store *);

/* crc16_of: of an id as Redis Cluster counts it; its shard is that modulo the number of shards. */
unsigned crc16_of(const char *id);

#endif
