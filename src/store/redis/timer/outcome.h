/* Finds out whether operations on one timer were applied, and with which result. */
#ifndef DW_STORE_REDIS_OUTCOME_H
#define DW_STORE_REDIS_OUTCOME_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/wire/node.h"

/* write_answered takes the reply to a call that changes timers. write_lost takes such a call whose
 * connection was lost. */
void write_answered(struct redis_store *, struct redis_request *, const struct reply *);
void write_lost(struct redis_store *, struct redis_request *);

/* send_look reads what is stored under the ids of the first `count` operations of the queue.
 * resolves is not NULL if these operations were applied but their reply was lost. */
int send_look(struct redis_store *, struct shard *, struct op_queue *, size_t count,
	      void *resolves);

/* outcome_resolve is called when the handshake has told whether a request of a lost connection was
 * applied. */
void outcome_resolve(struct redis_store *, struct shard *, struct redis_request *, bool applied);

#endif
