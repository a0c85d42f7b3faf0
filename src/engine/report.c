#include "engine/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "port/driven.h"

#define REPORT_EVERY DW_SECONDS(2)
#define REPORT_IDLE_EVERY DW_SECONDS(10)
#define REPORT_NOISE 2u /* operations of an idle engine between two reports */

int engine_count(const struct engine *engine, const char *topic, uint64_t *ret_count)
{
	const struct topic *found;

	if (!topic) {
		*ret_count = engine->stats.timers;
		return DW_OK;
	}
	found = topics_find(&engine->topics, topic, strlen(topic));
	*ret_count = found ? found->timer_count : 0;
	return DW_OK;
}

void engine_stats(const struct engine *engine, dw_stats *ret_stats)
{
	size_t size = ret_stats->size;
	dw_stats stats = engine->stats;

	stats.inflight = engine->submit.urgent_inflight + engine->submit.ordinary_inflight +
			 engine->submit.urgent.count + engine->submit.ordinary.count +
			 engine->submit.answers.count;
	stats.store_p99_us = lead_p99(&engine->lead);
	stats.lead_us = submit_lead(engine);
	stats.next_due =
	    usec_min(schedule_next(&engine->timers.claim), schedule_next(&engine->timers.fire));
	if (timers_have_work(&engine->timers))
		stats.next_due = usec_min(stats.next_due, schedule_next(&engine->timers.work));
	stats.recovering = !recovery_is_over(&engine->recovery) || engine->cut_off.parts > 0;
	driven_journal(engine->store, &stats.journal);
	stats.size = size;
	memcpy(ret_stats, &stats, size < sizeof stats ? size : sizeof stats);
}

/* ---- The report ---------------------------------------------------------------------------- */

/* last_error_text explains the last error. The status of an event may mean something else than that
 * of a call. */
static const char *last_error_text(const struct engine *engine)
{
	if (engine->events.last_error == DW_OK)
		return "";
	if (engine->events.last_event == DW_EVENT_HOLD_EXPIRED)
		return "a hold was not settled in time: its timer was delivered again";
	if (engine->events.last_event == DW_EVENT_DEAD && engine->events.last_error == DW_ELATE)
		return "a timer came later than its late_after allows and became a dead letter";
	if (engine->events.last_event == DW_EVENT_DEAD && engine->events.last_error == DW_ELIMIT)
		return "a timer was retried, or crashed, too often and became a dead letter";
	return dw_strerror(engine->events.last_error);
}

/* journal_text writes the counters of the journal as JSON; "" if there is no journal. */
static void journal_text(const dw_journal_stats *stats, char *text, size_t size)
{
	text[0] = '\0';
	if (stats->state != DW_JOURNAL_NONE)
		(void)snprintf(text, size,
			       ",\"journal_rows\":%" PRIu64 ",\"journal_bytes\":%" PRIu64,
			       stats->rows, stats->bytes); /* always fits */
}

/* report_text writes the owner's counters and the last error (0: none) as JSON, for programs that
 * ask the store. */
static void report_text(const struct engine *engine, char *text, size_t size)
{
	dw_stats stats = {.size = sizeof stats};
	char journal[96];

	engine_stats(engine, &stats);
	journal_text(&stats.journal, journal, sizeof journal);
	(void)snprintf(text, size,
		       "{\"timers\":%" PRIu64 ",\"unhandled\":%" PRIu64 ",\"held\":%" PRIu64
		       ",\"fired\":%" PRIu64 ",\"settled\":%" PRIu64 ",\"retried\":%" PRIu64
		       ",\"dead\":%" PRIu64 ",\"late\":%" PRIu64 ",\"corrupt\":%" PRIu64
		       ",\"store_failures\":%" PRIu64 ",\"store_p99_us\":%" PRId64
		       ",\"lead_us\":%" PRId64 ",\"lag_us\":%" PRId64 ",\"lag_max_us\":%" PRId64
		       ",\"recovering\":%s,\"last_error\":%d,\"last_error_text\":\"%s\""
		       ",\"last_error_at\":%" PRId64 "%s}",
		       stats.timers, stats.unhandled, stats.held, stats.fired, stats.settled,
		       stats.retried, stats.dead, stats.late, stats.corrupt, stats.store_failures,
		       stats.store_p99_us, stats.lead_us, stats.lag_us, stats.lag_max_us,
		       stats.recovering ? "true" : "false", engine->events.last_error,
		       last_error_text(engine), engine->events.last_error_at, journal);
}

/* report_is_wanted: a client has no report, and a store that nobody else sees needs none. */
static bool report_is_wanted(const struct engine *engine)
{
	return engine->ownership.role == DW_OWNER && !engine->drive.closing && !engine->env.unseen;
}

dw_usec report_wake(const struct engine *engine)
{
	return report_is_wanted(engine) ? engine->report.at : DW_NEVER;
}

void report_round(struct engine *engine, dw_usec now)
{
	char text[1024];
	dw_op *op;

	/* If the engine has work, the next report comes sooner than in an idle engine. */
	if (!engine->report.early && engine->report.at != 0 &&
	    engine->stats.store_operations > engine->report.operations + REPORT_NOISE) {
		engine->report.early = true;
		engine->report.at = usec_sub(engine->report.at, REPORT_IDLE_EVERY - REPORT_EVERY);
	}
	if (!report_is_wanted(engine) || now < engine->report.at)
		return;
	registry_tell(engine);
	report_text(engine, text, sizeof text);
	op = op_new(&engine->alloc, DW_OP_REPORT, NULL, text, strlen(text));
	if (op)
		submit_push(engine, op, false);
	/* The report is also an operation, so it is counted here. An idle engine has only such
	 * operations. */
	engine->report.operations = engine->stats.store_operations + 1;
	engine->report.at = usec_add(now, REPORT_IDLE_EVERY);
	engine->report.early = false;
}
