/* How many shards each peer should have. Every peer computes this by itself, from the same list. If
 * two peers have different lists for a second, only the balance suffers, because the lease decides
 * who owns a shard. */
#ifndef DW_STORE_REDIS_QUOTA_H
#define DW_STORE_REDIS_QUOTA_H

#include "base/usec.h"

#define QUOTA_YOUNG DW_SECONDS(3)

enum { QUOTA_MEMBERS_MAX = 50 }; /* as in member.lua */

/* A peer, as the list shows it. */
struct quota_member {
	dw_usec since; /* when the peer joined (the server's clock) */
	const char *name;
	unsigned held;  /* shards that the peer has */
	unsigned room;  /* the most shards that the peer can have */
	unsigned share; /* result: how many shards the peer should have */
};

/* quota_share sets the shares. It divides the shards equally among the members that joined at least
 * QUOTA_YOUNG ago or have a shard. If there are none, it divides them among all members. A member
 * gets at most its `room`, and the others get the rest. If the number cannot be divided equally,
 * older members get one shard more. quota_share sorts the members by age. */
void quota_share(struct quota_member *, unsigned count, unsigned shards, dw_usec now);

/* quota_first returns the first of the free shards, counted from 0, that this member may take. The
 * free shards before that one are for older members. */
unsigned quota_first(const struct quota_member *, unsigned count, const char *name);

#endif
