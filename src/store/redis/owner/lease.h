/* The leases of the owner: one for each shard. */
#ifndef DW_STORE_REDIS_LEASE_H
#define DW_STORE_REDIS_LEASE_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/owner/members.h"

struct redis_store;
struct shard;

#define LEASE_DEFAULT DW_SECONDS(5)

/* The acquisition of all shards, if one is under way. */
struct acquisition {
	bool active;
	unsigned left; /* number of shards that have not replied yet */
	/* The shard that is acquired before the others: the first one that is not cut off. */
	unsigned arbiter;
	dw_op *op; /* the OWN operation to answer; NULL if the store is being opened */
	int status;
	bool passes; /* the reason for the failure will pass by itself */
	/* If the server is young: when no lease can hold that it has forgotten (steady clock). */
	dw_usec free_at;
	char words[DW_MESSAGE_SIZE];
};

struct redis_ownership {
	dw_role role;   /* an owner has, or tries to have, all shards: see shard_is_ours() */
	bool was_owner; /* this store is the owner, or has been */
	dw_usec lease;
	dw_usec renew_at; /* when the leases are renewed next (steady clock) */
	/* Since then the engine wants to know whether anything is lost (steady clock); 0: it does
	 * not. */
	dw_usec doubted_at;
	struct acquisition acquisition;
	struct members members; /* members.h */
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

/* lease_mended is called when the server takes commands of a shard again that is cut off. An owner
 * renews its lease; for a client the shard is in use again. */
void lease_mended(struct redis_store *, struct shard *);

/* lease_lose answers an owner's operations on the shard with DW_EFENCED, and gives the lease
 * back. */
void lease_lose(struct redis_store *, struct shard *);

#endif
