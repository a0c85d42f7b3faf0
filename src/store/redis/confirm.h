/* Changes of this client that are done and not certain: the owner may start timers while it is cut
 * off, and has not acknowledged them. */
#ifndef DW_STORE_REDIS_CONFIRM_H
#define DW_STORE_REDIS_CONFIRM_H

#include <stdbool.h>

#include "base/usec.h"
#include "port/op.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

/* The operations of a shard that wait. */
struct confirm {
	struct op_queue ops;
	bool is_asked; /* a call is under way */
	dw_usec at;    /* steady: of the next call */
	dw_usec pause; /* before it; 0: nothing waits */
};

/* confirm_takes takes an operation over that waits for the owner, as the script says of it. False:
 * it does not wait. */
bool confirm_takes(struct redis_store *, struct shard *, dw_op *, const struct reply *item);

/* confirm_work asks again. An operation is answered when the owner has acknowledged it, or cannot
 * any more, and after PATIENCE at the latest. */
void confirm_work(struct redis_store *);
dw_usec confirm_due(const struct redis_store *);

/* confirm_end answers what waits with DW_EUNKNOWN. */
void confirm_end(struct redis_store *, struct shard *);

#endif
