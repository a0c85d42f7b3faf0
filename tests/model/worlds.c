#include "model/worlds.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/steps.h"

enum world {
	HOLD_PUTS,
	HOLD_FAULTS,
	HOLD_CLIENT,
	FIRE_CLIENT,
	SHORT_WORLDS,
	HOLD_UNKNOWN = SHORT_WORLDS,
	HOLD_LARGE,
	FIRE_FAULTS,
	FIRE_PUTS,
	FIRE_LARGE,
	WORLD_COUNT
};

/* The limits: faults, puts, cancels, the client's puts, its cancels. unknown: a put in doubt is
 * answered DW_EUNKNOWN, and not journaled. */
static const struct {
	const char *words;
	bool fire;
	bool unknown;
	struct spent limits;
} worlds[WORLD_COUNT] = {
    [HOLD_PUTS] = {"hold, 1 fault, 2 puts", false, false, {1, 2, 1, 0, 1}},
    [HOLD_FAULTS] = {"hold, 2 faults, 1 put", false, false, {2, 1, 1, 0, 1}},
    [HOLD_CLIENT] = {"hold, 1 fault, 1 put and a client's", false, false, {1, 1, 1, 1, 0}},
    [FIRE_CLIENT] = {"fire, 1 fault, 1 put and a client's", true, false, {1, 1, 1, 1, 1}},
    [HOLD_UNKNOWN] = {"hold, 2 faults, 1 put, DW_EUNKNOWN", false, true, {2, 1, 1, 0, 1}},
    [HOLD_LARGE] = {"hold, 2 faults, 2 puts", false, false, {2, 2, 1, 0, 1}},
    [FIRE_FAULTS] = {"fire, 2 faults, 1 put", true, false, {2, 1, 1, 0, 1}},
    [FIRE_PUTS] = {"fire, 1 fault, 2 puts", true, false, {1, 2, 1, 0, 1}},
    [FIRE_LARGE] = {"fire, 2 faults, 1 put and a client's", true, false, {2, 1, 0, 1, 0}},
};

/* Which search shows that a rule is missing, and what is broken then. Most break more than this. */
static const struct {
	enum world world;
	enum promise broken;
} each_rule[RULE_COUNT] = {
    [RULE_LEASE] = {FIRE_CLIENT, PROMISE_I4},
    [RULE_ORDER] = {FIRE_CLIENT, PROMISE_J6},
    [RULE_BASE] = {FIRE_CLIENT, PROMISE_J3},
    [RULE_FENCE] = {FIRE_FAULTS, PROMISE_J4},
    [RULE_NUMBERED] = {HOLD_FAULTS, PROMISE_I3},
    [RULE_DOUBT_RESOLVED] = {HOLD_FAULTS, PROMISE_I4},
    [RULE_DOUBT_ENDED] = {HOLD_FAULTS, PROMISE_J1},
    [RULE_DOUBT_MARK] = {HOLD_FAULTS, PROMISE_J1},
    [RULE_REPLAY_FIRST] = {FIRE_FAULTS, PROMISE_J5},
    [RULE_ROW_FIRST] = {FIRE_LARGE, PROMISE_J4},
    [RULE_JUMP] = {FIRE_FAULTS, PROMISE_J5},
    [RULE_DOUBT_ALONE] = {HOLD_FAULTS, PROMISE_J2},
    [RULE_START] = {FIRE_FAULTS, PROMISE_J5},
    [RULE_START_RAISE] = {FIRE_FAULTS, PROMISE_J5},
    [RULE_CANCEL_WAITS] = {FIRE_CLIENT, PROMISE_I3},
    [RULE_UNRELEASED] = {FIRE_CLIENT, PROMISE_I3},
    [RULE_LATE] = {FIRE_CLIENT, PROMISE_I3},
    [RULE_ABSENT] = {HOLD_CLIENT, PROMISE_J3},
};

static struct model model_in(enum world world)
{
	return (struct model){.rules = RULES_ALL,
			      .fire = worlds[world].fire,
			      .unknown = worlds[world].unknown,
			      .limits = worlds[world].limits};
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

		printf("%-37s %7" PRIu32 " states, %7" PRIu64 " transitions: %s\n",
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
		printf("without %-15s %-37s %7" PRIu32 " states: %s: %s\n",
		       rule_name((enum rule)rule), worlds[each_rule[rule].world].words,
		       found.states, promise_name(promise),
		       found.broken[promise] ? promise_words(promise) : "NOT BROKEN");
		all_break = all_break && found.broken[promise];
	}
	return all_break;
}
