#include "model/peers/worlds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/peers/steps.h"
#include "model/search/search.h"

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

/* Which search shows that a rule is missing, and what is broken then. */
static const struct {
	enum world world;
	enum promise broken;
} each_rule[RULE_COUNT] = {
    [RULE_LEASE] = {PAUSE, PROMISE_ONE},    [RULE_OVER] = {PAUSE, PROMISE_ONE},
    [RULE_WAKE] = {PAUSE, PROMISE_ONE},     [RULE_FORGOTTEN] = {LOSS, PROMISE_ONE},
    [RULE_ENDS] = {KILL, PROMISE_OWNED},    [RULE_ORDER] = {PAUSE, PROMISE_OWNED},
    [RULE_ROOM] = {REFUSAL, PROMISE_OWNED}, [RULE_YOUNG] = {JOIN, PROMISE_CALM},
};

static struct found search_in(enum world world, uint32_t rules, struct search *search)
{
	struct model model = {
	    .rules = rules, .shards = worlds[world].shards, .limits = worlds[world].limits};
	struct model quiet = model;

	quiet.quiet = true;
	search->limit = WORLD_LIMIT;
	search->subject = &model_subject;
	search->model = &model;
	search->quiet = &quiet;
	return search_run(search);
}

bool worlds_all_rules(bool long_too)
{
	bool kept = true;

	for (unsigned world = 0; world < (long_too ? WORLD_COUNT : SHORT_WORLDS); world++) {
		struct search search = {.trace = true};
		struct found found = search_in((enum world)world, RULES_ALL, &search);

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
		struct search search = {.until = promise};
		struct found found =
		    search_in(each_rule[rule].world, RULES_ALL & ~(1u << rule), &search);

		printf("without %-10s %-48s %8" PRIu32 " states: %s: %s\n", names[rule],
		       worlds[each_rule[rule].world].words, found.states, promise_name(promise),
		       found.broken[promise] ? promise_words(promise) : "NOT BROKEN");
		all_break = all_break && found.broken[promise];
	}
	return all_break;
}

bool worlds_show(const char *name)
{
	for (unsigned rule = 0; rule < RULE_COUNT; rule++) {
		struct search search = {.trace = true, .until = each_rule[rule].broken};

		if (strcmp(names[rule], name) != 0)
			continue;
		(void)search_in(each_rule[rule].world, RULES_ALL & ~(1u << rule), &search);
		return true;
	}
	return false;
}
