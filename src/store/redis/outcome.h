/* What became of the operations on one timer. */
#ifndef DW_STORE_REDIS_OUTCOME_H
#define DW_STORE_REDIS_OUTCOME_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/pipeline.h"

/* The reply and the loss of a call that changes timers. */
void write_answered(struct redis_store *, struct redis_request *, const struct reply *);
void write_lost(struct redis_store *, struct redis_request *);

/* send_look asks for what is stored under the ids of the first count operations of the queue.
 * resolves: not NULL when they were applied, and only the answer was lost. */
int send_look(struct redis_store *, struct shard *, struct op_queue *, size_t count,
	      void *resolves);

/* outcome_resolve: a request of a lost connection was applied, or was not. */
void outcome_resolve(struct redis_store *, struct shard *, struct redis_request *, bool applied);

#endif
