/* The leases of the owner: one on every shard. */
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
	unsigned left; /* shards not answered */
	dw_op *op;     /* the OWN that asked; NULL: the opening */
	int status;
	bool passes; /* the reason for the failure will pass by itself */
	char words[DW_MESSAGE_SIZE];
};

struct redis_ownership {
	dw_role role;
	bool was_owner; /* this store is the owner, or has been */
	dw_usec lease;
	dw_usec renew_at; /* steady */
	struct acquisition acquisition;
};

/* The counts that the last renewals of a shard have told. */
struct entry_counts {
	uint64_t entries; /* entries of the sorted set */
	unsigned differs; /* renewals in a row that counted different numbers */
};

/* lease_acquire acquires every shard for the opening (op NULL), or for an OWN, which it answers. */
void lease_acquire(struct redis_store *, dw_op *);
void lease_renew(struct redis_store *, struct shard *);
void lease_work(struct redis_store *);

/* lease_mended is called when the keys of a shard that is cut off have their types again. An owner
 * renews its lease; for a client the shard is in use again. */
void lease_mended(struct redis_store *, struct shard *);

/* lease_lose answers the operations of an owner with DW_EFENCED, and gives the leases back.
 * lease_give_back only does the latter. */
void lease_lose(struct redis_store *);
void lease_give_back(struct redis_store *);

#endif
