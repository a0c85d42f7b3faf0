#include "model/peers/worlds.h"

#include "model/peers/steps.h"

#define WORLD_LIMIT 20000000u /* of states; no world has as many */

enum world {
	JOIN,
	KILL,
	PAUSE,
	LOSS,
	REFUSAL,
	SHORT_WORLDS,
	JOIN_PAUSE = SHORT_WORLDS,
	WORLD_COUNT
};

/* The limits: joins, leaves, kills, pauses, losses of data, refusals. */
static const struct {
	const char *words;
	uint8_t shards;
	struct spent limits;
} worlds[WORLD_COUNT] = {
    [JOIN] = {"3 shards, one joins, one leaves", 3, {1, 1, 0, 0, 0, 0}},
    [KILL] = {"3 shards, one joins, one is killed", 3, {1, 0, 1, 0, 0, 0}},
    [PAUSE] = {"3 shards, two pauses", 3, {0, 0, 0, 2, 0, 0}},
    [LOSS] = {"3 shards, data lost, one is killed", 3, {0, 0, 1, 0, 1, 0}},
    [REFUSAL] = {"3 shards, one joins, leaves, is refused", 3, {1, 1, 0, 0, 0, 1}},
    [JOIN_PAUSE] = {"4 shards, one joins, one is killed, a pause", 4, {1, 0, 1, 1, 0, 0}},
};

static const char *const names[RULE_COUNT] = {
    [RULE_LEASE] = "lease",         [RULE_OVER] = "over",   [RULE_WAKE] = "wake",
    [RULE_FORGOTTEN] = "forgotten", [RULE_ENDS] = "ends",   [RULE_ORDER] = "order",
    [RULE_ROOM] = "room",           [RULE_YOUNG] = "young",
};

static const struct need needs[RULE_COUNT] = {
    [RULE_LEASE] = {PAUSE, PROMISE_ONE},    [RULE_OVER] = {PAUSE, PROMISE_ONE},
    [RULE_WAKE] = {PAUSE, PROMISE_ONE},     [RULE_FORGOTTEN] = {LOSS, PROMISE_ONE},
    [RULE_ENDS] = {KILL, PROMISE_OWNED},    [RULE_ORDER] = {PAUSE, PROMISE_OWNED},
    [RULE_ROOM] = {REFUSAL, PROMISE_OWNED}, [RULE_YOUNG] = {JOIN, PROMISE_CALM},
};

static struct found run(unsigned world, uint32_t without, struct search *search)
{
	struct model model = {.rules = RULES_ALL & ~without,
			      .shards = worlds[world].shards,
			      .limits = worlds[world].limits};
	struct model quiet = model;

	quiet.quiet = true;
	search->limit = WORLD_LIMIT;
	search->subject = &model_subject;
	search->model = &model;
	search->quiet = &quiet;
	return search_run(search);
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
