/* Changes of this client that the server has stored but whose effect is not certain yet. While the
 * owner is cut off from the server, it may start timers, and it has not acknowledged these
 * changes. */
#ifndef DW_STORE_REDIS_CONFIRM_H
#define DW_STORE_REDIS_CONFIRM_H

#include <stdbool.h>

#include "base/usec.h"
#include "port/op.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

/* The operations of a shard that wait for the owner. */
struct confirm {
	struct op_queue ops;
	bool is_asked; /* a call of the script is under way */
	dw_usec at;    /* when the next call is sent (steady clock) */
	dw_usec pause; /* the pause before the next call; 0 if no operation waits */
};

/* confirm_takes takes an operation over if the script's reply item says that the change must wait
 * for the owner. Otherwise it returns false. */
bool confirm_takes(struct redis_store *, struct shard *, dw_op *, const struct reply *item);

/* confirm_work asks the server again about the operations that wait. An operation is answered when
 * the owner has acknowledged it, when the owner cannot acknowledge it any more, or after
 * PATIENCE. */
void confirm_work(struct redis_store *);
dw_usec confirm_due(const struct redis_store *);

/* confirm_end answers the operations that wait with DW_EUNKNOWN. */
void confirm_end(struct redis_store *, struct shard *);

#endif
