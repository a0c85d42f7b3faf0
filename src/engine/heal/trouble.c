#include <stdio.h>

#include "engine/core.h"
#include "port/driven.h"

/* report_failed tells the program that the store fails, but only once until the store is back. */
static void report_failed(struct engine *engine, dw_event event, const char *words)
{
	engine->stats.store_failures++;
	if (engine->trouble.failing || engine->drive.closing)
		return;
	engine->trouble.failing = true;
	engine->trouble.outages++;
	event_raise(engine, &event, "%s", words);
}

static void report_refused(struct engine *engine, dw_event event, const char *words)
{
	char line[DW_MESSAGE_SIZE + 48];

	if (!words[0])
		words = event.status == DW_ESTORE ? "refused, or not answered in time"
						  : dw_strerror(event.status);
	(void)snprintf(line, sizeof line, "the store failed (%s): trying again", words);
	report_failed(engine, event, line);
}

void trouble_failed(struct engine *engine, int status, const char *id)
{
	dw_event event = {.kind = DW_EVENT_STORE_FAILED, .status = status, .id = id};
	char words[DW_MESSAGE_SIZE] = "";

	engine->trouble.succeeds = false;
	engine->trouble.failed_at = engine_steady(engine);
	/* If the trouble lasts, trouble_begin() reports the reason. If the shard of the id is
	 * refused, the program knows it already. */
	if (shards_refuse(engine, id) || (!id && engine->shards.refused > 0) ||
	    driven_trouble(engine->store, words, sizeof words) == DW_EUNKNOWN)
		engine->stats.store_failures++;
	else
		report_refused(engine, event, words);
}

static void tell_back(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_STORE_BACK};

	if (!engine->trouble.failing || engine->trouble.declared || engine->shards.refused > 0)
		return;
	engine->trouble.failing = engine->trouble.succeeds = false;
	event_raise(engine, &event, "the store answers again");
}

/* A store may do one operation and fail the next one. The store counts as back when no operation
 * has failed for a while. */
void trouble_over(struct trouble *trouble)
{
	trouble->succeeds = trouble->failing && !trouble->declared;
}

/* look_whether_over reports that the store is back, if operations have succeeded since the last
 * failure, and that failure is long enough ago. */
static void look_whether_over(struct engine *engine)
{
	struct trouble *trouble = &engine->trouble;

	if (trouble->succeeds && engine_steady(engine) >= usec_add(trouble->failed_at, BACK_AFTER))
		tell_back(engine);
}

void trouble_begin(struct engine *engine)
{
	char words[DW_MESSAGE_SIZE];
	char line[DW_MESSAGE_SIZE + 32];
	dw_event event = {.kind = DW_EVENT_STORE_FAILED};

	words[0] = '\0';
	event.status = driven_trouble(engine->store, words, sizeof words);
	engine->trouble.status = event.status;
	if (event.status == DW_OK || event.status == DW_EUNKNOWN || engine->trouble.declared)
		return;
	engine->trouble.declared = true;
	engine->trouble.succeeds = false;
	(void)snprintf(line, sizeof line, "the store is in trouble: %s", words); /* cut if long */
	report_failed(engine, event, line);
}

/* is_away returns true if the store cannot be asked for anything. */
static bool is_away(const struct engine *engine)
{
	dw_journal_stats journal;

	if (engine->trouble.status != DW_EUNKNOWN)
		return engine->trouble.status != DW_OK;
	driven_journal(engine->store, &journal);
	return journal.state == DW_JOURNAL_TAKES;
}

/* note_return notices that the store is back. Operations that were sent while it was away have been
 * answered before. */
static void note_return(struct engine *engine)
{
	bool was_away = engine->trouble.is_away;

	engine->trouble.is_away = is_away(engine);
	if (was_away && !engine->trouble.is_away)
		claim_store_came_back(engine);
}

void trouble_end(struct engine *engine)
{
	char words[DW_MESSAGE_SIZE];

	if (engine->submit.answers.count == 0)
		note_return(engine);
	look_whether_over(engine);
	if (!engine->trouble.declared || engine->submit.answers.count > 0 ||
	    driven_trouble(engine->store, words, sizeof words) != DW_OK)
		return;
	engine->trouble.declared = false;
	tell_back(engine);
}

void trouble_tell(struct engine *engine)
{
	dw_store_event told;

	while (driven_take_event(engine->store, &told)) {
		dw_event event = {.kind = told.kind,
				  .status = told.status,
				  .id = told.id[0] ? told.id : NULL,
				  .count = told.count};

		engine->report.outdated = true;
		event_raise(engine, &event, "%s%s%s", told.id, told.id[0] ? ": " : "", told.words);
	}
}

/* slow_after returns how long the store may owe answers before it counts as slow. Operations that a
 * firing waits for are answered sooner than a mass of puts. */
static dw_usec slow_after(const struct submit *submit)
{
	return submit->urgent_inflight > 0 ? SLOW_AFTER : SLOW_PUTS_AFTER;
}

void trouble_watch_slow(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_STORE_SLOW};
	char words[DW_MESSAGE_SIZE];
	dw_usec steady;
	dw_usec waited;

	if (!submit_owes_answers(&engine->submit))
		return;
	steady = engine_steady(engine);
	waited = usec_sub(steady, engine->submit.progress_at);
	if (waited < slow_after(&engine->submit) || steady < engine->trouble.slow_until)
		return;
	engine->trouble.slow_until = usec_add(steady, SLOW_AGAIN);
	event.count = engine->submit.urgent_inflight;
	driven_delay(engine->store, words, sizeof words);
	event_raise(engine, &event, "the store has not answered for %lld ms%s%s",
		    (long long)(waited / 1000), words[0] ? ": " : "", words);
}

/* back_wake returns when the store may be reported as back; wall time. */
static dw_usec back_wake(const struct engine *engine, dw_usec now)
{
	const struct trouble *trouble = &engine->trouble;
	dw_usec at = usec_add(trouble->failed_at, BACK_AFTER);

	if (!trouble->succeeds || engine->shards.refused > 0)
		return DW_NEVER;
	return usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}

dw_usec trouble_wake(const struct engine *engine, dw_usec now)
{
	dw_usec back = back_wake(engine, now);

	if (!submit_owes_answers(&engine->submit) ||
	    engine_steady(engine) < engine->trouble.slow_until)
		return back;
	return usec_min(back, usec_add(now, SLOW_AFTER));
}
