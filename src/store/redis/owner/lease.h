/* The leases of the owner. It has one on every shard. */
#ifndef DW_STORE_REDIS_LEASE_H
#define DW_STORE_REDIS_LEASE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define LEASE_DEFAULT DW_SECONDS(5)

/* The acquisition of all shards, if one is under way. */
struct acquisition {
	bool active;
	unsigned left; /* number of shards that have not replied yet */
	dw_op *op;     /* the OWN operation to answer; NULL if the store is being opened */
	int status;
	bool passes; /* the reason for the failure will pass by itself */
	char words[DW_MESSAGE_SIZE];
};

struct redis_ownership {
	dw_role role;
	bool was_owner; /* this store is the owner, or has been */
	dw_usec lease;
	dw_usec renew_at; /* when the leases are renewed next (steady clock) */
	struct acquisition acquisition;
};

/* The entries and values that the last renewals of a shard have counted. */
struct entry_counts {
	uint64_t entries; /* entries of the sorted set */
	/* How many renewals in a row counted more entries than values, or fewer. */
	unsigned differs;
};

/* lease_acquire acquires every shard, either for the opening (op is NULL), or for the OWN operation
 * op, which it answers. */
void lease_acquire(struct redis_store *, dw_op *);
void lease_renew(struct redis_store *, struct shard *);
void lease_work(struct redis_store *);

/* lease_mended is called when the keys of a shard that is cut off have their types again. An owner
 * renews its lease; for a client the shard is in use again. */
void lease_mended(struct redis_store *, struct shard *);

/* lease_lose answers an owner's operations with DW_EFENCED, and gives the leases back.
 * lease_give_back only gives the leases back. */
void lease_lose(struct redis_store *);
void lease_give_back(struct redis_store *);

#endif
