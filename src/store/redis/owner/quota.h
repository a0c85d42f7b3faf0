/* How many shards each peer should have. Every peer computes this alone, from the same list. If two
 * lists differ for a second, only the balance suffers: a shard is owned by its lease. */
#ifndef DW_STORE_REDIS_QUOTA_H
#define DW_STORE_REDIS_QUOTA_H

#include "base/usec.h"

#define QUOTA_YOUNG DW_SECONDS(3)

enum { QUOTA_MEMBERS_MAX = 50 }; /* as in member.lua */

/* A peer, as the list tells it. */
struct quota_member {
	dw_usec since; /* when it joined (the server's clock) */
	const char *name;
	unsigned held;  /* shards that it has */
	unsigned room;  /* shards that it can have */
	unsigned share; /* out: how many it should have */
};

/* quota_share sets the shares. The shards are divided equally among the members that joined at
 * least QUOTA_YOUNG ago or have a shard; if there is none, among all. What one member has no room
 * for is divided among the others. The older members get the rest of a division. The members are
 * sorted by age. */
void quota_share(struct quota_member *, unsigned count, unsigned shards, dw_usec now);

/* quota_first returns which of the free shards, counted from 0, is the first one that this member
 * may take. Those before are for older members. */
unsigned quota_first(const struct quota_member *, unsigned count, const char *name);

#endif
