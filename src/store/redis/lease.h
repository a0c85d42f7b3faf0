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

/* What the renewals of a shard counted. */
struct entry_counts {
	uint64_t entries; /* of the order */
	unsigned differs; /* renewals in a row that counted other numbers of entries and values */
};

/* lease_acquire acquires every shard for the opening (op NULL), or for an OWN, which it answers. */
void lease_acquire(struct redis_store *, dw_op *);
void lease_renew(struct redis_store *, struct shard *);
void lease_work(struct redis_store *);

/* lease_mended: the keys of a shard that is cut off have their types again. */
void lease_mended(struct redis_store *, struct shard *);

/* lease_lose answers what was asked of an owner, and gives the leases back. */
void lease_lose(struct redis_store *);
void lease_give_back(struct redis_store *);

#endif
