/* Timers in each of the 16 shards of a namespace in Redis, for tests in which one shard fails. */
#ifndef DW_TESTS_SHARDED_H
#define DW_TESTS_SHARDED_H

#include "support/redis_server.h"
#include "support/viewer.h"

enum { SHARDS = 16, EACH = 4, TIMERS = SHARDS * EACH };

/* sharded_open opens an owner with a lease of 4 s and a handler of the topic "t". */
void sharded_open(struct viewer *, const struct redis_server *, const char *name);

/* sharded_id returns the id with this number in the shard. The next call overwrites it. */
const char *sharded_id(unsigned shard, unsigned number);

/* sharded_put_all puts EACH timers into each shard, due after the delay. sharded_put puts a timer
 * that is due now, and returns the status of the answer. */
void sharded_put_all(const struct viewer *, dw_usec delay);
int sharded_put(struct viewer *, unsigned shard, unsigned number);

/* sharded_outlast_lease fires timers of the shard, one after the other, for longer than the lease.
 * It returns the number of these timers. */
enum { OUTLAST_TIMERS = 50 }; /* every 100 ms */
int sharded_outlast_lease(const struct viewer *, unsigned shard);

#endif
