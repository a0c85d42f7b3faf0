#include "engine/heal/sharing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "port/driven.h"

#define LOOK_EVERY DW_MILLISECONDS(200)
#define LOADS_LONG DW_SECONDS(10)
#define CLOCK_APART DW_MILLISECONDS(100)
#define CLOCK_RIGHT DW_MILLISECONDS(50)

enum { SHARDS_PER_PEER = 4, TOPICS_TOLD = 3 };

/* ---- Events -------------------------------------------------------------------------------- */

static void watch_clock(struct engine *engine, struct sharing *sharing)
{
	dw_usec clock = sharing->last.clock;
	dw_usec apart = clock < 0 ? -clock : clock;
	dw_event event = {.kind = DW_EVENT_CLOCK_APART, .count = (uint64_t)apart / 1000};

	if (sharing->last.members > 0 && apart < CLOCK_RIGHT)
		sharing->clock_is_told = false;
	if (sharing->clock_is_told || apart <= CLOCK_APART)
		return;
	sharing->clock_is_told = true;
	event_raise(engine, &event,
		    "the clock of this machine is %lld ms %s that of the Redis server: timers of "
		    "its shards start so much too %s; synchronise the clocks",
		    (long long)(apart / 1000), clock < 0 ? "behind" : "ahead of",
		    clock < 0 ? "late" : "early");
}

static void watch_count(struct engine *engine, struct sharing *sharing)
{
	unsigned members = sharing->last.members;
	bool is_few = engine->shards.count < SHARDS_PER_PEER * members;
	dw_event event = {
	    .kind = DW_EVENT_SHARDS, .status = DW_ELIMIT, .count = engine->shards.owned};

	if (members > 0 && !is_few)
		sharing->few_is_told = false;
	if (!is_few || sharing->few_is_told)
		return;
	sharing->few_is_told = true;
	event_raise(engine, &event,
		    "%u processes share %u shards, so some have much more work than others: have "
		    "at least %u shards",
		    members, engine->shards.count, SHARDS_PER_PEER * members);
}

/* ---- The turn ------------------------------------------------------------------------------ */

static void watch_loading(struct engine *engine, struct sharing *sharing)
{
	if (!recovery_loads(engine)) {
		sharing->loads_since = 0;
		sharing->was_loaded = sharing->was_loaded || engine->shards.owned > 0;
	} else if (sharing->loads_since == 0) {
		sharing->loads_since = engine_steady(engine);
	}
}

void sharing_round(struct engine *engine, dw_usec now)
{
	struct sharing *sharing = &engine->ownership.sharing;
	dw_sharing before = sharing->last;

	if (!engine->env.is_peer ||
	    (now >= sharing->looked && now < usec_add(sharing->looked, LOOK_EVERY)))
		return;
	sharing->looked = now;
	driven_sharing(engine->store, &sharing->last);
	watch_loading(engine, sharing);
	watch_clock(engine, sharing);
	watch_count(engine, sharing);
	if (before.share != sharing->last.share || before.unowned != sharing->last.unowned ||
	    engine->ownership.giving.failing != 0 || engine->ownership.giving.is_leaving)
		engine->report.outdated = true;
}

bool sharing_loads(const struct engine *engine)
{
	const struct sharing *sharing = &engine->ownership.sharing;

	if (!recovery_loads(engine))
		return false;
	return !sharing->was_loaded ||
	       (sharing->loads_since != 0 &&
		engine_steady(engine) >= usec_add(sharing->loads_since, LOADS_LONG));
}

unsigned sharing_unowned(const struct engine *engine)
{
	return engine->ownership.sharing.last.unowned;
}

/* ---- What is in the way -------------------------------------------------------------------- */

struct longest {
	struct engine *engine;
	const struct topic *topics[TOPICS_TOLD];
	dw_usec ages[TOPICS_TOLD]; /* the longest first */
};

/* note_age keeps the topics with the longest deliveries. */
static void note_age(struct longest *longest, const struct topic *topic, dw_usec age)
{
	unsigned at = 0, end = 0;

	while (at < TOPICS_TOLD && longest->topics[at] && longest->ages[at] >= age) {
		if (longest->topics[at++] == topic)
			return;
	}
	if (at == TOPICS_TOLD)
		return;
	for (end = at; end < TOPICS_TOLD - 1 && longest->topics[end] != topic; end++)
		;
	for (; end > at; end--) {
		longest->topics[end] = longest->topics[end - 1];
		longest->ages[end] = longest->ages[end - 1];
	}
	longest->topics[at] = topic;
	longest->ages[at] = age;
}

static void visit_running(struct timer *timer, void *user)
{
	struct longest *longest = user;

	if (timer_is_running(timer) && timer->topic && timer->started != 0 &&
	    longest->engine->shards.all[timer->shard].owned)
		note_age(longest, timer->topic,
			 usec_sub(engine_now(longest->engine), timer->started));
}

static void write_topics(const struct longest *longest, char ret_words[SHARING_WORDS])
{
	size_t used = 0;

	ret_words[0] = '\0';
	for (unsigned i = 0; i < TOPICS_TOLD && longest->topics[i]; i++) {
		long long seconds = (long long)(longest->ages[i] / DW_SECONDS(1));
		bool is_long = seconds >= 120;

		if (used + strlen(longest->topics[i]->name) + 40 > SHARING_WORDS)
			return;
		used += (size_t)snprintf(ret_words + used, SHARING_WORDS - used, "%s%s (%lld %s)",
					 i > 0 ? ", " : "", longest->topics[i]->name,
					 is_long ? seconds / 60 : seconds,
					 is_long ? "min" : "s"); /* fits */
	}
}

unsigned sharing_busy(struct engine *engine, char ret_words[SHARING_WORDS])
{
	const struct sharing *sharing = &engine->ownership.sharing;
	struct longest longest = {.engine = engine};
	unsigned busy = 0;

	ret_words[0] = '\0';
	if (sharing->last.members == 0 || engine->shards.owned <= sharing->last.share)
		return 0;
	for (unsigned i = 0; i < engine->shards.count; i++)
		busy += engine->shards.all[i].owned && engine->shards.all[i].running > 0;
	if (busy == 0)
		return 0;
	index_each(&engine->timers.index, visit_running, &longest);
	write_topics(&longest, ret_words);
	return busy;
}

/* ---- Handlers ------------------------------------------------------------------------------ */

struct lacking {
	const struct engine *engine;
	uint64_t timers;
	unsigned topics;
	size_t used;
	char *words;
};

static void visit_waiting(struct topic *topic, void *user)
{
	struct lacking *lacking = user;

	if (topic->waiting_count == 0 || topic->is_full ||
	    topic_handler(&lacking->engine->topics, topic))
		return;
	lacking->timers += topic->waiting_count;
	if (lacking->topics == TOPICS_TOLD ||
	    lacking->used + strlen(topic->name) + 40 > SHARING_WORDS)
		return;
	lacking->used += (size_t)snprintf(
	    lacking->words + lacking->used, SHARING_WORDS - lacking->used, "%s%s (%" PRIu64 ")",
	    lacking->topics > 0 ? ", " : "", topic->name, topic->waiting_count); /* fits */
	lacking->topics++;
}

uint64_t sharing_lacks(struct engine *engine, char ret_words[SHARING_WORDS])
{
	struct lacking lacking = {.engine = engine, .words = ret_words};

	ret_words[0] = '\0';
	if (engine->stats.unhandled > 0 && !engine->ownership.giving.is_leaving)
		topics_each(&engine->topics, visit_waiting, &lacking);
	return lacking.timers;
}
