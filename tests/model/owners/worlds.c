#include "model/owners/worlds.h"

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

static const struct need needs[RULE_COUNT] = {
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

static struct found run(unsigned world, uint32_t without, struct search *search)
{
	struct model model = model_in((enum world)world);

	model.rules &= ~without;
	search->limit = WORLD_LIMIT;
	return worlds_search(&model, search);
}

static const char *words_of(unsigned world)
{
	return worlds[world].words;
}

const struct series worlds_series = {
    .short_worlds = SHORT_WORLDS,
    .worlds = WORLD_COUNT,
    .rules = RULE_COUNT,
    .rule_names = names,
    .needs = needs,
    .words = words_of,
    .promise_name = promise_name,
    .promise_words = promise_words,
    .run = run,
};
