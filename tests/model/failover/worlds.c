#include "model/failover/worlds.h"

#include "model/failover/promises.h"
#include "model/failover/steps.h"

/* Those behind SHORT_WORLDS are too large for a whole search. They show that a rule is missing. */
enum world {
	TAKEOVER,
	FOUR_VOTERS,
	CALL,
	RESET,
	LETTER,
	SHORT_WORLDS,
	RENEWAL = SHORT_WORLDS,
	BACK,
	BACK_CALL,
	CANCEL,
	WORLD_COUNT
};

/* The limits: failovers, ticks, answers of voters, acquisitions, delays, resets, restarts of
 * voters, kills, puts, cancels. */
static const struct {
	const char *words;
	struct model model;
} worlds[WORLD_COUNT] = {
    [TAKEOVER] = {"1 failover, 3 voters",
		  {.k = 1, .voters = 3, .lease = 2, .limits = {1, 2, 4, 2, 0, 0, 0, 0, 0, 0}}},
    [FOUR_VOTERS] = {"1 failover, 4 voters",
		     {.k = 1, .voters = 4, .lease = 1, .limits = {1, 1, 4, 2, 0, 0, 0, 0, 0, 0}}},
    [CALL] = {"1 failover, a cancel, a delay",
	      {.k = 1,
	       .voters = 3,
	       .lease = 1,
	       .has_timer = true,
	       .limits = {1, 1, 2, 1, 1, 0, 0, 0, 0, 1}}},
    [RESET] = {"old data, no failover",
	       {.k = 2, .voters = 3, .lease = 2, .limits = {0, 3, 4, 2, 0, 1, 0, 0, 0, 0}}},
    [RENEWAL] = {"1 failover, a long K",
		 {.k = 2, .voters = 3, .lease = 2, .limits = {1, 2, 6, 1, 0, 0, 0, 0, 0, 0}}},
    [BACK] = {"2 failovers",
	      {.k = 1, .voters = 3, .lease = 2, .limits = {2, 2, 6, 1, 0, 0, 0, 0, 0, 0}}},
    [BACK_CALL] = {"2 failovers, a cancel, 2 delays",
		   {.k = 1,
		    .voters = 3,
		    .lease = 1,
		    .has_timer = true,
		    .limits = {2, 2, 2, 1, 2, 0, 0, 0, 0, 1}}},
    [LETTER] = {"1 failover, an answer that travels",
		{.k = 1, .voters = 3, .lease = 1, .limits = {1, 1, 4, 2, 1, 0, 0, 0, 0, 0}}},
    [CANCEL] = {"1 failover, a cancel",
		{.k = 1,
		 .voters = 3,
		 .lease = 1,
		 .has_timer = true,
		 .limits = {1, 1, 4, 1, 0, 0, 0, 0, 0, 1}}},
};

static const char *const names[RULE_COUNT] = {
    [RULE_BOUND] = "bound",       [RULE_SENT] = "sent",   [RULE_OVER] = "over",
    [RULE_HALF] = "half",         [RULE_ALL] = "all",     [RULE_WAIT] = "wait",
    [RULE_CALLS] = "calls",       [RULE_REPLY] = "reply", [RULE_LAPSED] = "lapsed",
    [RULE_EVERYONE] = "everyone", [RULE_RENEW] = "renew", [RULE_UP] = "up",
};

static const struct need needs[RULE_COUNT] = {
    [RULE_BOUND] = {TAKEOVER, PROMISE_ONE},  [RULE_SENT] = {LETTER, PROMISE_ONE},
    [RULE_OVER] = {BACK, PROMISE_ONE},       [RULE_HALF] = {FOUR_VOTERS, PROMISE_ONE},
    [RULE_ALL] = {TAKEOVER, PROMISE_ONE},    [RULE_WAIT] = {TAKEOVER, PROMISE_ONE},
    [RULE_CALLS] = {CANCEL, PROMISE_I3},     [RULE_REPLY] = {CALL, PROMISE_FALSE},
    [RULE_LAPSED] = {BACK_CALL, PROMISE_I3}, [RULE_EVERYONE] = {TAKEOVER, PROMISE_ONE},
    [RULE_RENEW] = {RENEWAL, PROMISE_ONE},   [RULE_UP] = {RESET, PROMISE_ONE},
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
	search->quiet = model->is_live ? &quiet : NULL;
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
    .worlds = SHORT_WORLDS,
    .rules = RULE_COUNT,
    .rule_names = names,
    .needs = needs,
    .words = words_of,
    .promise_name = promise_name,
    .promise_words = promise_words,
    .run = run,
};
