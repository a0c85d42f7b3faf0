/* model: which rules hold, and how much may happen.
 *
 * This is the protocol of the ownership of a shard: whose lease is it, when the server may have
 * lost what it knew of leases? src/store/redis/owner follows this model; a rule is changed here
 * first. */
#ifndef MODEL_OWNERS_MODEL_H
#define MODEL_OWNERS_MODEL_H

#include "model/owners/state.h"

/* Each rule can be left out; worlds.c says which promise is then broken. */
enum rule {
	RULE_LOWER,     /* S1: a lower fence is no successor */
	RULE_PROOF,     /* S1: what has a lower fence is replaced only by who has a proof */
	RULE_NAMES,     /* S1: an acquisition names the token that it replaces */
	RULE_RENEW,     /* S2: who has no proof does not renew at a server that has started since */
	RULE_NONCE,     /* S3: one's own nonce counts only with the fence held, or asked for */
	RULE_NONCE_END, /* S3: and only as long as the lease that was asked for would hold */
	RULE_NONCE_LAST, /* S3: not one that was asked for before the last answer */
	RULE_RELEASE,    /* S3: from the sending of a release on, its fence proves nothing */
	RULE_WAIT, /* S4: who has no proof waits until the server is up for the longest lease */
	RULE_WAIT_DEAD, /* S4: also before it replaces a dead holder of its machine */
	RULE_LONGEST,   /* S4: the longest lease of the namespace, and not its own */
	RULE_AWAY,      /* S4: a proof does not end while the server is away */
	RULE_AWAY_OWN,  /* S4: but for nobody else that counts as waiting */
	RULE_STOP,    /* S5: from the sending of an acquisition that restores on, nothing starts */
	RULE_WRITTEN, /* S5: until the restored shard is confirmed */
	RULE_MARK,    /* a lower number of the owner's last command shows that the data is old */
	RULE_QUIET,   /* A3: a peer gives a shard only if its timer is neither claimed nor runs */
	RULE_GIVE,    /* A3: from the sending of the release on, nothing starts */
	RULE_NUMBER,  /* A3: the release names the owner's last command, and the version it read */
	RULE_KEEP,    /* A3: a refusal that shows no successor is a loss: the shard is restored */
	RULE_FATE,    /* A3: if the answer is lost, the handshake says whose the shard is */
	RULE_TIMELY,  /* a lease counts from the sending of what it was asked for with */
	RULE_COUNT
};

#define RULES_ALL ((1u << RULE_COUNT) - 1u)

/* limits.jumps: how often the server's clock may jump ahead by a lease while it runs. losses: how
 * often its data may be lost or set back while it runs. gives: how often a peer may give the shard
 * to the other one. is_behind:
 * its clock may be behind after a restart. empties: it may restart without data. is_long: the
 * lease of A is long. permits: the longest lease that the namespace has permitted. */
struct model {
	uint32_t rules; /* a bit each */
	bool is_behind, empties, is_long;
	uint8_t permits;
	struct spent limits;
	bool quiet; /* no fault, call or lost lease any more */
};

static inline bool holds(const struct model *model, enum rule rule)
{
	return model->rules >> rule & 1u;
}

/* length_of returns the length of the party's lease: 1 or 2. */
static inline uint8_t length_of(const struct model *model, unsigned party)
{
	return model->is_long && party == 0 ? 2 : 1;
}

#endif
