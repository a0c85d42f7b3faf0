/* Ownership: a lease on every shard. */
#ifndef DW_STORE_REDIS_LEASE_H
#define DW_STORE_REDIS_LEASE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define LEASE_DEFAULT DW_SECONDS(5)

/* An acquisition of all shards under way. */
struct acquisition {
	bool active;
	unsigned left; /* shards not answered */
	dw_op *op;     /* the OWN that asked; NULL: the opening */
	int status;
	bool passes; /* it failed of what will pass */
	char words[DW_MESSAGE_SIZE];
};

struct redis_ownership {
	dw_role role;
	bool was_owner; /* it is the owner, or was */
	dw_usec lease;
	dw_usec renew_at; /* steady */
	struct acquisition acquisition;
};

/* lease_acquire acquires every shard for the opening (op NULL), or for an OWN, which it answers. */
void lease_acquire(struct redis_store *, dw_op *);
void lease_renew(struct redis_store *, struct shard *);
void lease_work(struct redis_store *);
void lease_lose(struct redis_store *);

/* lease_give_way gives every lease back for a DISOWN, and marks the shard of the timer that only a
 * newer durawheel understands. */
void lease_give_way(struct redis_store *, dw_op *);
void lease_give_back(struct redis_store *);

#endif
