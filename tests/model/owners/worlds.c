#include "model/owners/worlds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/owners/promises.h"
#include "model/owners/steps.h"

enum world {
	RELEASE,
	RECUR,
	TWICE,
	BEHIND,
	LONG_LEASE,
	GIVE,
	SHORT_WORLDS,
	LEASES = SHORT_WORLDS,
	TWICE_SAVED,
	TWICE_RELEASE,
	ALL_CALLS,
	GIVE_SAVED,
	GIVE_CALLS,
	WORLD_COUNT
};

/* The limits: faults, saves, releases, the client's puts, its cancels, NEXTs, jumps, gives,
 * losses. */
static const struct {
	const char *words;
	struct model model;
} worlds[WORLD_COUNT] = {
    [RELEASE] = {"1 fault, a release, a put",
		 {.permits = 1, .empties = true, .limits = {1, 1, 1, 1, 0, 0, 0}}},
    [RECUR] = {"1 fault, a put, a cancel, NEXT",
	       {.permits = 1, .empties = true, .limits = {1, 1, 0, 1, 1, 1, 0}}},
    [TWICE] = {"2 faults, a put", {.permits = 1, .empties = true, .limits = {2, 0, 0, 1, 0, 0, 0}}},
    [LEASES] = {"2 faults, a release",
		{.permits = 1, .empties = true, .limits = {2, 1, 1, 0, 0, 0, 0}}},
    [BEHIND] = {"2 faults, a put, a clock behind",
		{.permits = 1, .is_behind = true, .limits = {2, 0, 0, 1, 0, 0, 0}}},
    [LONG_LEASE] = {"1 fault, a release, a put, leases that differ",
		    {.permits = 2, .is_long = true, .limits = {1, 1, 1, 1, 0, 0, 0}}},
    [GIVE] = {"1 fault, a give, a put, data lost or set back",
	      {.permits = 1, .limits = {1, 0, 0, 1, 0, 0, 0, 1, 1}}},
    [GIVE_SAVED] = {"1 fault, a give, a put, data of any moment",
		    {.permits = 1, .empties = true, .limits = {1, 1, 0, 1, 0, 0, 0, 1, 1}}},
    [GIVE_CALLS] = {"1 fault, 2 gives, a put, a cancel, NEXT",
		    {.permits = 1, .empties = true, .limits = {1, 0, 0, 1, 1, 1, 0, 2, 1}}},
    [TWICE_SAVED] = {"2 faults, a put, data of any moment",
		     {.permits = 1, .empties = true, .limits = {2, 1, 0, 1, 0, 0, 0}}},
    [TWICE_RELEASE] = {"2 faults, a release, a put, no data saved",
		       {.permits = 1, .empties = true, .limits = {2, 0, 1, 1, 0, 0, 0}}},
    [ALL_CALLS] = {"1 fault, a release, all calls",
		   {.permits = 1, .empties = true, .limits = {1, 1, 1, 1, 1, 1, 0}}},
};

static const char *const names[RULE_COUNT] = {
    [RULE_LOWER] = "lower",
    [RULE_PROOF] = "proof",
    [RULE_NAMES] = "names",
    [RULE_RENEW] = "renew",
    [RULE_NONCE] = "nonce",
    [RULE_NONCE_END] = "nonce_end",
    [RULE_NONCE_LAST] = "nonce_last",
    [RULE_RELEASE] = "release",
    [RULE_WAIT] = "wait",
    [RULE_WAIT_DEAD] = "wait_dead",
    [RULE_LONGEST] = "longest",
    [RULE_AWAY] = "away",
    [RULE_AWAY_OWN] = "away_own",
    [RULE_STOP] = "stop",
    [RULE_WRITTEN] = "written",
    [RULE_MARK] = "mark",
    [RULE_QUIET] = "quiet",
    [RULE_GIVE] = "give",
    [RULE_NUMBER] = "number",
    [RULE_KEEP] = "keep",
    [RULE_FATE] = "fate",
    [RULE_TIMELY] = "timely",
};

/* Which search shows that a rule is missing, and what is broken then. */
static const struct {
	enum world world;
	enum promise broken;
} each_rule[RULE_COUNT] = {
    [RULE_LOWER] = {RELEASE, PROMISE_I2},       [RULE_PROOF] = {LEASES, PROMISE_ONE},
    [RULE_NAMES] = {RELEASE, PROMISE_ONE},      [RULE_RENEW] = {TWICE, PROMISE_ONE},
    [RULE_NONCE] = {RELEASE, PROMISE_ONE},      [RULE_NONCE_END] = {LEASES, PROMISE_ONE},
    [RULE_NONCE_LAST] = {LEASES, PROMISE_ONE},  [RULE_RELEASE] = {RELEASE, PROMISE_ONE},
    [RULE_WAIT] = {RELEASE, PROMISE_ONE},       [RULE_WAIT_DEAD] = {LEASES, PROMISE_ONE},
    [RULE_LONGEST] = {LONG_LEASE, PROMISE_ONE}, [RULE_AWAY] = {RELEASE, PROMISE_I2},
    [RULE_AWAY_OWN] = {RELEASE, PROMISE_ONE},   [RULE_STOP] = {RECUR, PROMISE_I3},
    [RULE_WRITTEN] = {RECUR, PROMISE_I3},       [RULE_MARK] = {RECUR, PROMISE_I4},
    [RULE_QUIET] = {GIVE, PROMISE_I5},          [RULE_GIVE] = {GIVE, PROMISE_ONE},
    [RULE_NUMBER] = {GIVE, PROMISE_I2},         [RULE_KEEP] = {GIVE, PROMISE_I2},
    [RULE_FATE] = {GIVE, PROMISE_ONE},          [RULE_TIMELY] = {RELEASE, PROMISE_ONE},
};

const char *rule_name(enum rule rule)
{
	return names[rule];
}

enum rule rule_find(const char *name)
{
	unsigned rule = 0;

	while (rule < RULE_COUNT && strcmp(names[rule], name) != 0)
		rule++;
	return (enum rule)rule;
}

static struct model model_in(enum world world)
{
	struct model model = worlds[world].model;

	model.rules = RULES_ALL;
	return model;
}

bool worlds_model(unsigned world, struct model *ret_model)
{
	if (world >= WORLD_COUNT)
		return false;
	*ret_model = model_in((enum world)world);
	return true;
}

struct found worlds_search(const struct model *model, struct search *search)
{
	struct model quiet = *model;

	quiet.quiet = true;
	search->subject = &model_subject;
	search->model = model;
	search->quiet = &quiet;
	return search_run(search);
}

bool worlds_all_rules(bool long_too)
{
	bool kept = true;

	for (unsigned world = 0; world < (long_too ? WORLD_COUNT : SHORT_WORLDS); world++) {
		struct model model = model_in((enum world)world);
		struct search search = {.limit = WORLD_LIMIT, .trace = true};
		struct found found = worlds_search(&model, &search);

		printf("%-48s %8" PRIu32 " states, %8" PRIu64 " transitions: %s\n",
		       worlds[world].words, found.states, found.transitions,
		       found.violations ? "BROKEN"
		       : found.complete ? "all promises are kept"
					: "NOT COMPLETE");
		kept = kept && found.complete && !found.violations;
	}
	return kept;
}

bool worlds_each_rule(void)
{
	bool all_break = true;

	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		enum promise promise = each_rule[rule].broken;
		struct model model = model_in(each_rule[rule].world);
		struct search search = {.limit = WORLD_LIMIT, .until = promise};
		struct found found = {.states = 0};

		model.rules &= ~(1u << rule);
		found = worlds_search(&model, &search);
		printf("without %-10s %-48s %8" PRIu32 " states: %s: %s\n",
		       rule_name((enum rule)rule), worlds[each_rule[rule].world].words,
		       found.states, promise_name(promise),
		       found.broken[promise] ? promise_words(promise) : "NOT BROKEN");
		all_break = all_break && found.broken[promise];
	}
	return all_break;
}
