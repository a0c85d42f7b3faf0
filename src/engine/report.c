#include "engine/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "engine/queue/topic_numbers.h"
#include "engine/report_shards.h"
#include "engine/call/numbers.h"
#include "port/driven.h"

#define REPORT_EVERY DW_SECONDS(2)
#define REPORT_IDLE_EVERY DW_SECONDS(10)

static bool loads(const struct engine *engine)
{
	return engine->env.is_peer ? sharing_loads(engine) : engine->recovery.unread > 0;
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
	if (engine->timers.overdue.first)
		stats.next_due = usec_min(stats.next_due, engine->timers.overdue.first->head.due);
	stats.recovering = loads(engine) || engine->shards.refused > 0;
	driven_journal(engine->store, &stats.journal);
	stats.is_owner = engine->ownership.role == DW_OWNER;
	stats.size = size;
	memcpy(ret_stats, &stats, size < sizeof stats ? size : sizeof stats);
}

void report_took(struct report *report, struct topic *topic, dw_usec took)
{
	histogram_add(&report->took, took);
	topic_took(topic, took);
}

void report_held(struct engine *engine, const struct timer *timer)
{
	if (timer->started != 0)
		report_took(&engine->report, timer->topic,
			    usec_max(usec_sub(engine_now(engine), timer->started), 0));
}

bool engine_may_fire(const struct engine *engine)
{
	return engine->ownership.role == DW_OWNER && lease_find_over(engine) < 0;
}

/* away_health returns the health while the journal takes new operations. */
static enum health away_health(const struct engine *engine)
{
	if (engine->ownership.role != DW_OWNER)
		return HEALTH_JOURNALS;
	return engine->env.fires_away && lease_find_over(engine) < 0 ? HEALTH_FIRES : HEALTH_HOLDS;
}

static enum health standby_health(const struct ownership *ownership)
{
	switch (ownership->refused_by) {
	case DW_EOWNED:
		return HEALTH_STANDBY;
	case DW_ENEWER:
		return HEALTH_NEWER;
	case DW_ELIMIT:
		return HEALTH_FULL;
	default:
		return HEALTH_ASKS;
	}
}

/* first_refused returns the first shard that is refused, so that its timers wait. It returns the
 * number of shards if there is none. If every shard has an owner, a peer looks only at its own
 * shards, because other peers can use the others. */
static unsigned first_refused(const struct engine *engine)
{
	const struct shards *shards = &engine->shards;
	const dw_sharing *sharing = &engine->ownership.sharing.last;
	bool only_ours = sharing->members > 0 && sharing->unowned == 0;
	unsigned shard = shards->refused > 0 ? 0 : shards->count;

	while (shard < shards->count &&
	       !(shards->all[shard].refused && (shards->all[shard].owned || !only_ours)))
		shard++;
	return shard;
}

enum health engine_health(const struct engine *engine)
{
	dw_journal_stats journal;

	driven_journal(engine->store, &journal);
	if (engine->trouble.failing && (engine->trouble.declared || engine->shards.refused == 0))
		return HEALTH_FAILS;
	if (journal.state == DW_JOURNAL_TAKES)
		return away_health(engine);
	if (engine->ownership.standby)
		return standby_health(&engine->ownership);
	if (first_refused(engine) < engine->shards.count)
		return HEALTH_REFUSED;
	if (sharing_unowned(engine) > 0)
		return HEALTH_UNOWNED;
	if (engine->ownership.role == DW_OWNER &&
	    (engine->env.is_peer ? sharing_loads : recovery_loads)(engine))
		return HEALTH_LOADS;
	return lease_find_over(engine) < 0 ? HEALTH_OK : HEALTH_LEASE;
}

unsigned engine_health_shard(const struct engine *engine)
{
	unsigned shard = first_refused(engine);
	int over;

	if (shard < engine->shards.count)
		return shard;
	if (sharing_unowned(engine) > 0)
		return engine->ownership.sharing.last.first_unowned;
	over = lease_find_over(engine);
	return over > 0 ? (unsigned)over : 0;
}

unsigned engine_refused(const struct engine *engine)
{
	return engine->shards.refused;
}

uint64_t engine_outage(const struct engine *engine)
{
	dw_journal_stats journal;

	driven_journal(engine->store, &journal);
	if (engine->trouble.failing)
		return engine->trouble.outages;
	return journal.state == DW_JOURNAL_TAKES ? UINT64_MAX : 0;
}

/* ---- The report ---------------------------------------------------------------------------- */

/* last_error_text explains the last error. The status of an event may mean something else than the
 * status of a call. */
static const char *last_error_text(const struct events *events)
{
	if (events->last_error == DW_OK)
		return "";
	if (events->last_event == DW_EVENT_HOLD_EXPIRED)
		return "a hold was not settled in time: its timer was delivered again";
	if (events->last_event == DW_EVENT_DEAD && events->last_error == DW_ELATE)
		return "a timer came later than its late_after allows and became a dead letter";
	if (events->last_event == DW_EVENT_DEAD && events->last_error == DW_ELIMIT)
		return "a timer was retried, or crashed, too often and became a dead letter";
	return dw_strerror(events->last_error);
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

/* replicas_text adds how many answers have waited for replicas, if any. */
static size_t replicas_text(const dw_store *store, char *text, size_t used)
{
	dw_replica_stats stats;

	driven_replicas(store, &stats);
	if (stats.replicas == 0)
		return used;
	return used + (size_t)snprintf(text + used, REPORT_SIZE - used,
				       ",\"replicas\":%u,\"replicas_behind\":%s"
				       ",\"replicas_waited\":%" PRIu64 ",\"replicas_late\":%" PRIu64
				       ",\"replicas_wait_us\":%" PRId64,
				       stats.replicas, stats.is_late ? "true" : "false",
				       stats.waited, stats.late, stats.waited_us);
}

/* nodes_text adds how many servers there are, if the store may have several. */
static size_t nodes_text(const dw_store *store, char *text, size_t used)
{
	uint64_t arrived = 0;
	unsigned count = 0, away = 0;
	dw_node node;

	for (; driven_node(store, count, &node); count++) {
		away += !node.is_connected;
		arrived += node.arrived;
	}
	if (count == 0)
		return used;
	return used + (size_t)snprintf(text + used, REPORT_SIZE - used,
				       ",\"nodes\":%u,\"nodes_away\":%u,\"moved_shards\":%" PRIu64,
				       count, away, arrived);
}

/* counts_text adds `,"name":[1,2]`. It returns the size of the whole text. */
static size_t counts_text(char *text, size_t used, const char *name, const uint64_t *counts,
			  size_t count)
{
	used += (size_t)snprintf(text + used, REPORT_SIZE - used, ",\"%s\":", name);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, REPORT_SIZE - used, "%c%" PRIu64,
					 i == 0 ? '[' : ',', counts[i]);
	return used + (size_t)snprintf(text + used, REPORT_SIZE - used, "]");
}

/* histogram_text adds the histogram of a name: its quantiles, its sum and its counts. */
static size_t histogram_text(char *text, size_t used, const char *name,
			     const struct histogram *histogram)
{
	const struct spread *recent = &histogram->recent;
	char key[32];

	used +=
	    (size_t)snprintf(text + used, REPORT_SIZE - used,
			     ",\"%s_p50_us\":%" PRId64 ",\"%s_p99_us\":%" PRId64
			     ",\"%s_max_us\":%" PRId64 ",\"%s_sum_us\":%" PRIu64,
			     name, spread_quantile(recent, 50), name, spread_quantile(recent, 99),
			     name, recent->max, name, histogram->sum_us);
	(void)snprintf(key, sizeof key, "%s_buckets", name); /* fits */
	return counts_text(text, used, key, histogram->counts, HISTOGRAM_BOUNDS + 1);
}

/* more_text adds the fields that were added after the first version of the report. */
static void more_text(struct engine *engine, const dw_stats *stats, char *text)
{
	uint64_t waits[WAITS_COUNT];
	size_t used = strlen(text);

	used += (size_t)snprintf(text + used, REPORT_SIZE - used,
				 ",\"put\":%" PRIu64 ",\"cancelled\":%" PRIu64 ",\"moved\":%" PRIu64
				 ",\"duplicates\":%" PRIu64 ",\"running\":%" PRIu64
				 ",\"store_operations\":%" PRIu64 ",\"waited_us\":%" PRIu64,
				 stats->put, stats->cancelled, stats->moved, stats->duplicates,
				 stats->running, stats->store_operations, engine->report.waited);
	used = replicas_text(engine->store, text, used);
	used = nodes_text(engine->store, text, used);
	used = histogram_text(text, used, "lateness", &engine->report.late);
	used = histogram_text(text, used, "handler", &engine->report.took);
	used = counts_text(text, used, "rest", engine->topics.rest, TOPIC_COUNTS);
	engine->report.outdated |= topic_numbers_waits(engine, waits);
	used = counts_text(text, used, "waits", waits, WAITS_COUNT);
	used = report_shards(engine, text, used);
	(void)snprintf(text + used, REPORT_SIZE - used, "}"); /* the whole text always fits */
}

void engine_report(struct engine *engine, char ret_text[REPORT_SIZE])
{
	dw_stats stats = {.size = sizeof stats};
	char journal[96];

	engine_stats(engine, &stats);
	journal_text(&stats.journal, journal, sizeof journal);
	(void)snprintf(ret_text, REPORT_SIZE,
		       "{\"timers\":%" PRIu64 ",\"unhandled\":%" PRIu64 ",\"held\":%" PRIu64
		       ",\"fired\":%" PRIu64 ",\"settled\":%" PRIu64 ",\"retried\":%" PRIu64
		       ",\"dead\":%" PRIu64 ",\"late\":%" PRIu64 ",\"corrupt\":%" PRIu64
		       ",\"store_failures\":%" PRIu64 ",\"store_p99_us\":%" PRId64
		       ",\"lead_us\":%" PRId64 ",\"lag_us\":%" PRId64 ",\"lag_max_us\":%" PRId64
		       ",\"recovering\":%s,\"last_error\":%d,\"last_error_text\":\"%s\""
		       ",\"last_error_at\":%" PRId64 "%s",
		       stats.timers, stats.unhandled, stats.held, stats.fired, stats.settled,
		       stats.retried, stats.dead, stats.late, stats.corrupt, stats.store_failures,
		       stats.store_p99_us, stats.lead_us, stats.lag_us, stats.lag_max_us,
		       stats.recovering ? "true" : "false", engine->events.last_error,
		       last_error_text(&engine->events), engine->events.last_error_at, journal);
	more_text(engine, &stats, ret_text);
}

/* report_is_wanted returns false for a client, which has no report, for a handle that closes, and
 * for a store that no other process sees. */
static bool report_is_wanted(const struct engine *engine)
{
	return engine->ownership.role == DW_OWNER && !engine->drive.closing && !engine->env.unseen;
}

dw_usec report_wake(const struct engine *engine)
{
	return report_is_wanted(engine) ? engine->report.at : DW_NEVER;
}

static struct report_state state_of(const struct engine *engine)
{
	const dw_stats *stats = &engine->stats;

	return (struct report_state){.changes = stats->put + stats->cancelled + stats->moved +
						stats->fired + stats->settled + stats->retried +
						stats->dead + stats->late,
				     .timers = stats->timers,
				     .unhandled = stats->unhandled,
				     .held = stats->held,
				     .running = stats->running,
				     .refusals = engine->shards.refusals};
}

static bool is_told(const struct engine *engine)
{
	struct report_state state = state_of(engine);

	return !engine->report.outdated && memcmp(&state, &engine->report.told, sizeof state) == 0;
}

void report_round(struct engine *engine, dw_usec now)
{
	char text[REPORT_SIZE];
	dw_op *op;

	/* A changed state is reported sooner than an unchanged one. */
	if (!engine->report.early && engine->report.at != 0 && !is_told(engine)) {
		engine->report.early = true;
		engine->report.at = usec_sub(engine->report.at, REPORT_IDLE_EVERY - REPORT_EVERY);
	}
	if (!report_is_wanted(engine) || now < engine->report.at)
		return;
	engine->report.outdated = false;
	topic_numbers_tell(engine);
	engine_report(engine, text);
	op = op_new(&engine->alloc, DW_OP_REPORT, NULL, text, strlen(text));
	if (op)
		submit_push(&engine->submit, op, false);
	engine->report.told = state_of(engine);
	engine->report.at = usec_add(now, REPORT_IDLE_EVERY);
	engine->report.early = false;
}
