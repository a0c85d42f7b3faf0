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
	/* The shard that is acquired before the others: the first shard that is not cut off. */
	unsigned arbiter;
	dw_op *op; /* the OWN operation to answer; NULL if the store is being opened */
	int status;
	bool passes; /* the acquisition failed for a reason that will pass by itself */
	/* If the server has just started: when every lease that the server may have forgotten has
	 * ended (steady clock). */
	dw_usec free_at;
	char words[DW_MESSAGE_SIZE];
};

struct redis_ownership {
	/* An owner has, or tries to acquire, all shards. For each shard, shard_is_ours() says
	 * whether it has the shard. */
	dw_role role;
	bool was_owner; /* this store is an owner, or was one */
	dw_usec lease;
	dw_usec renew_at; /* when the leases are renewed next (steady clock) */
	/* When the engine began to ask whether anything is lost (steady clock); 0: it does not
	 * ask. */
	dw_usec doubted_at;
	struct acquisition acquisition;
	struct members members; /* members.h */
};

/* The numbers of entries and values that the last renewals of a shard have counted. */
struct entry_counts {
	uint64_t entries; /* entries of the sorted set */
	/* How many renewals in a row counted more entries than values, or fewer. */
	unsigned differs;
};

/* lease_acquire acquires every shard, either for opening the store (op is NULL), or for the OWN
 * operation op. Then it answers op. */
void lease_acquire(struct redis_store *, dw_op *);
void lease_renew(struct redis_store *, struct shard *);
void lease_work(struct redis_store *);

/* lease_mended is called when the server again takes commands of a shard that is cut off. An owner
 * then renews its lease. For a client the shard is in use again at once. */
void lease_mended(struct redis_store *, struct shard *);

/* lease_lose answers an owner's operations on the shard with DW_EFENCED, and gives the lease back.
 * If the server takes commands of the shard again, the shard is in use again, for a client. */
void lease_lose(struct redis_store *, struct shard *);

#endif
