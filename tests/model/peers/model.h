/* model: which rules hold, and how much may happen.
 *
 * This is how peers share shards: who takes one, and who gives one away.
 * src/store/redis/owner/members.c follows this model; a rule is changed here first. What a give
 * does to a timer is in ../owners. */
#ifndef MODEL_PEERS_MODEL_H
#define MODEL_PEERS_MODEL_H

#include "model/peers/state.h"

/* Each rule can be left out; worlds.c says which promise is then broken. */
enum rule {
	RULE_LEASE,     /* the lease says who has a shard, and not the list */
	RULE_OVER,      /* who is paused beyond its lease starts nothing when it wakes up */
	RULE_WAKE,      /* and has the shard again only if nobody had it since */
	RULE_FORGOTTEN, /* if the list has forgotten a member, that takes nothing for a while */
	RULE_ENDS,      /* an entry of the list ends if nobody renews it */
	RULE_ORDER,     /* every member sorts the members alike */
	RULE_ROOM,      /* who is refused a shard says that it has room for what it has */
	RULE_YOUNG,     /* who has just started, and holds nothing, has no share */
	RULE_COUNT
};

#define RULES_ALL ((1u << RULE_COUNT) - 1u)

struct model {
	uint32_t rules; /* a bit each */
	uint8_t shards;
	struct spent limits;
	bool quiet; /* no fault, nobody joins or leaves */
};

static inline bool holds(const struct model *model, enum rule rule)
{
	return model->rules >> rule & 1u;
}

#endif
