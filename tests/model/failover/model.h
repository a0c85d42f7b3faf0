/* model: which rules hold, and how much may happen.
 *
 * This is the protocol of an owner and its clients over a failover: which server is in effect, if
 * a majority of voters decides? A rule is changed here first. */
#ifndef MODEL_FAILOVER_MODEL_H
#define MODEL_FAILOVER_MODEL_H

#include "model/failover/state.h"

/* Each rule can be left out; worlds.c says which promise is then broken. */
enum rule {
	RULE_BOUND,    /* N1: a lease ends K after the last majority that named its server */
	RULE_SENT,     /* N1: K counts from the sending of the questions */
	RULE_OVER,     /* N1: a lease that is over stays over if the server is named again */
	RULE_HALF,     /* N1, N2: half of the voters are no majority */
	RULE_ALL,      /* N1, N2: of all voters, and not of those that answer */
	RULE_WAIT,     /* N2: nobody acquires at a server before it was named for K */
	RULE_CALLS,    /* N2: a client cancels and replaces only at such a server */
	RULE_REPLY,    /* N3: and believes the reply only while its server is named */
	RULE_LAPSED,   /* N3: without a gap since the sending */
	RULE_EVERYONE, /* N4: the owner with the shard in memory waits, too */
	RULE_RENEW,    /* a lease is renewed only at the server that gave it */
	RULE_UP,       /* S4: nobody acquires before the server is up for a lease */
	RULE_COUNT
};

#define RULES_ALL ((1u << RULE_COUNT) - 1u)

/* k: the ticks of K. lease: its ticks. is_ageless: voters do not tell since when they name a
 * server. has_timer: there is a timer, and a client. has_third: Q may be promoted, too. settles: a
 * settle waits for nothing. strict: a put that found nothing ends every earlier timer of the id.
 * absent: so does a cancel. */
struct model {
	uint32_t rules; /* a bit each */
	uint8_t k, voters, lease, is_ageless, has_timer, has_third, settles, strict, absent;
	struct spent limits;
	uint8_t is_live; /* look for the end of each state, too */
	bool quiet;      /* no fault, call or delay any more */
};

static inline bool holds(const struct model *model, enum rule rule)
{
	return model->rules >> rule & 1u;
}

/* age_max: a higher age makes no difference. */
static inline uint8_t age_max(const struct model *model)
{
	return (uint8_t)(2 * model->k - 1);
}

#endif
