#include "model/worlds.h"

#include "model/steps.h"

enum world {
	HOLD_PUTS,
	HOLD_FAULTS,
	HOLD_CLIENT,
	FIRE_CLIENT,
	SHORT_WORLDS,
	HOLD_UNKNOWN = SHORT_WORLDS,
	HOLD_LARGE,
	HOLD_THREE,
	FIRE_FAULTS,
	FIRE_PUTS,
	FIRE_LARGE,
	WORLD_COUNT
};

/* The limits: faults, puts, cancels, the client's puts, its cancels. unknown: a put in doubt is
 * answered DW_EUNKNOWN, and not journaled. stranger: model.h. */
static const struct {
	const char *words;
	bool fire;
	bool unknown;
	bool stranger;
	struct spent limits;
} worlds[WORLD_COUNT] = {
    [HOLD_PUTS] = {"hold, 1 fault, 2 puts", false, false, false, {1, 2, 1, 0, 1}},
    [HOLD_FAULTS] = {"hold, 2 faults, 1 put, stranger", false, false, true, {2, 1, 1, 0, 1}},
    [HOLD_CLIENT] = {"hold, 1 fault, 1 put and a client's", false, false, false, {1, 1, 1, 1, 0}},
    [FIRE_CLIENT] = {"fire, 1 fault, 1 put and a client's", true, false, false, {1, 1, 1, 1, 1}},
    [HOLD_UNKNOWN] = {"hold, 2 faults, 1 put, DW_EUNKNOWN", false, true, false, {2, 1, 1, 0, 1}},
    [HOLD_LARGE] = {"hold, 2 faults, 2 puts", false, false, false, {2, 2, 1, 0, 1}},
    [HOLD_THREE] = {"hold, 3 faults, 1 put", false, false, false, {3, 1, 1, 0, 1}},
    [FIRE_FAULTS] = {"fire, 2 faults, 1 put", true, false, false, {2, 1, 1, 0, 1}},
    [FIRE_PUTS] = {"fire, 1 fault, 2 puts", true, false, false, {1, 2, 1, 0, 1}},
    [FIRE_LARGE] = {"fire, 2 faults, 1 put and a client's", true, false, false, {2, 1, 0, 1, 0}},
};

/* Most break more than this. */
static const struct need needs[RULE_COUNT] = {
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
    [RULE_OWN_FIRST] = {HOLD_LARGE, PROMISE_J3},
    [RULE_SENT] = {HOLD_THREE, PROMISE_J2},
};

static struct model model_in(enum world world)
{
	return (struct model){.rules = RULES_ALL,
			      .fire = worlds[world].fire,
			      .unknown = worlds[world].unknown,
			      .stranger = worlds[world].stranger,
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
    .rule_names = rule_names,
    .needs = needs,
    .words = words_of,
    .promise_name = promise_name,
    .promise_words = promise_words,
    .run = run,
};
