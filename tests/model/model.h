/* model: which rules hold, and how much may happen.
 *
 * This is the protocol of the local journal: what an owner keeps on its own disk while Redis is
 * away, and how it hands this to Redis later. src/store/fallback follows this model; a rule is
 * changed here first. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "model/state.h"

/* Each rule can be left out; worlds.c says which promise is then broken. */
enum rule {
	RULE_LEASE,          /* nothing that Redis may know of starts outside the lease */
	RULE_ORDER,          /* a replayed put does not replace what Redis took later */
	RULE_BASE,           /* J7: a row keeps the version in Redis that it supersedes */
	RULE_FENCE,          /* J8: a claim by a fence that is no later than the row's has ended */
	RULE_NUMBERED,       /* J9: Redis skips a row that it has applied */
	RULE_DOUBT_RESOLVED, /* J10: a put in doubt is put again only if it was not run */
	RULE_DOUBT_ENDED,    /* J10: its row waits until Redis has ended the connection */
	RULE_DOUBT_MARK,     /* J10: Redis keeps the last request of an earlier owner */
	RULE_REPLAY_FIRST,   /* J11: rows are replayed before the inbox and claims */
	RULE_ROW_FIRST,      /* J11a: until then, the row is the truth in memory */
	RULE_JUMP,           /* J13: a takeover raises the attempt by 16 */
	RULE_DOUBT_ALONE,    /* J14: an id in doubt neither starts nor takes another row */
	RULE_START,          /* J15: a start is replayed, too */
	RULE_START_RAISE,    /* J15: a replayed start raises the attempt in Redis */
	RULE_CANCEL_WAITS,   /* J16: a client's cancel waits for the owner */
	RULE_UNRELEASED,     /* J16: also when its lease is over, as long as it has not released */
	RULE_LATE,           /* J16: a local claim that Redis cannot take tells it: too late */
	RULE_ABSENT,         /* J17: what ends a timer that Redis never had stays a row */
	RULE_OWN_FIRST,      /* J18: an owner that can have the lease acquires before it replays */
	RULE_SENT,           /* J19: what a former process may have replayed is not here only */
	RULE_COUNT
};

#define RULES_ALL ((1u << RULE_COUNT) - 1u)

struct model {
	uint32_t rules; /* a bit each */
	bool fire;      /* the policy; false: hold */
	bool unknown;   /* a put in doubt is answered DW_EUNKNOWN, and not journaled */
	bool stranger;  /* a process that is started again cannot have its former lease at once */
	struct spent limits;
	/* quiet: no fault, call or lost lease any more. What was promised must happen then. */
	bool quiet;
};

static inline bool holds(const struct model *model, enum rule rule)
{
	return model->rules >> rule & 1u;
}

extern const char *const rule_names[RULE_COUNT];

#endif
