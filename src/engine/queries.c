/* Looking: what the store holds (get, list, status), and the engine's own counters. */
#include "engine/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "engine/arguments.h"
#include "timer/record.h"

/* One page as the callback sees it; topics are copied, as a body does not end them with NUL. */
struct page {
	struct engine *engine;
	dw_info *infos;
	char (*topics)[DW_TOPIC_MAX + 1];
	size_t count;
};

static int page_new(struct page *page, size_t count)
{
	if (count == 0)
		return DW_OK;
	page->infos = alloc_new(&page->engine->alloc, count * sizeof *page->infos);
	page->topics = alloc_new(&page->engine->alloc, count * sizeof *page->topics);
	return page->infos && page->topics ? DW_OK : DW_ENOMEM;
}

static void page_free(struct page *page)
{
	alloc_free(&page->engine->alloc, page->infos);
	alloc_free(&page->engine->alloc, page->topics);
}

static void page_add(struct engine *engine, struct page *page, const dw_row *row)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT, .id = row->id};
	dw_info *info = &page->infos[page->count];
	char words[RECORD_WORDS_SIZE];
	struct record record;
	int status = record_of_row(row, &record);

	if (status == DW_ECORRUPT) {
		engine->stats.corrupt++;
		tell_event(engine, &event, "%s %s: it is not listed", row->id,
			   recover_flaw(row, words));
		return;
	}
	memcpy(page->topics[page->count], record.topic, record.topic_size);
	*info = (dw_info){.size = sizeof *info,
			  .id = row->id,
			  .topic = page->topics[page->count],
			  .state = status == DW_ENEWER ? DW_NEWER : (dw_state)row->head.state,
			  .due = row->head.due,
			  .generation = row->head.generation,
			  .attempt = row->head.attempt,
			  .retries = row->head.retries,
			  .late_after_us = record.late_after,
			  .data = record.data,
			  .data_size = record.data_size};
	page->count++;
}

/* look_tell_page shows a page. Its cursor is the store's: a damaged row may say anything. */
void look_tell_page(struct engine *engine, const struct call *call)
{
	struct page page AT_END(page_free) = {.engine = engine};
	const dw_op *op = call->op;
	int status = call->status;
	dw_cursor next;

	if (status == DW_OK)
		status = page_new(&page, op->row_count);
	if (status != DW_OK) {
		call->lister.fn(engine->env.handle, status, NULL, 0, NULL, call->lister.user);
		return;
	}
	next = op->after;
	for (const dw_row *row = op->rows; row; row = row->next)
		page_add(engine, &page, row);
	next.ended = op->kind == DW_OP_GET || op->row_count < op->limit;
	call->lister.fn(engine->env.handle, DW_OK, page.infos, page.count, &next,
			call->lister.user);
}

void look_tell_status(struct engine *engine, const struct call *call)
{
	const dw_store_status *status = call->status == DW_OK ? call->op->store_status : NULL;

	call->on_status(engine->env.handle, call->status, status, call->on_status_user);
}

/* ---- Asking -------------------------------------------------------------------------------- */

int engine_get(struct engine *engine, const char *id, struct lister lister)
{
	struct call *call;
	int status = arguments_id(id, engine->error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_LIST, id, &call);
	if (status != DW_OK)
		return status;
	call->lister = lister;
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_GET, id, NULL, 0));
}

int look_limit(struct engine *engine, size_t limit, const char *what)
{
	if (limit > 0 && limit <= DW_LIST_MAX)
		return DW_OK;
	return engine_fail(engine, DW_EINVAL, "a page has 1 to %d %s, not %zu", DW_LIST_MAX, what,
			   limit);
}

dw_op *look_page(struct engine *engine, dw_op_kind kind, const char *topic, const dw_cursor *after,
		 size_t limit)
{
	/* The operation owns its strings: the topic takes the room of an id. */
	dw_op *op = op_new(&engine->alloc, kind, topic, NULL, 0);

	if (!op)
		return NULL;
	op->topic = op->id;
	op->id = NULL;
	op->limit = limit;
	if (after)
		op->after = *after;
	return op;
}

int engine_list(struct engine *engine, const char *topic, const dw_cursor *after, size_t limit,
		struct lister lister)
{
	struct call *call;
	int status = look_limit(engine, limit, "timers");

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_LIST, "", &call);
	if (status != DW_OK)
		return status;
	call->lister = lister;
	return call_ask(engine, call, look_page(engine, DW_OP_SCAN, topic, after, limit));
}

int engine_status(struct engine *engine, dw_status_fn fn, void *user)
{
	struct call *call;
	int status = call_new(engine, CALL_STATUS, "", &call);

	if (status != DW_OK)
		return status;
	call->on_status = fn;
	call->on_status_user = user;
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_STATUS, NULL, NULL, 0));
}

/* ---- Counters ------------------------------------------------------------------------------ */

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

	stats.inflight = engine->urgent_inflight + engine->ordinary_inflight +
			 engine->urgent.count + engine->ordinary.count + engine->answers.count;
	stats.store_p99_us = lead_p99(&engine->lead);
	stats.lead_us = engine_lead(engine);
	stats.next_due = usec_min(schedule_next(&engine->claim), schedule_next(&engine->fire));
	if (work_is_made(engine))
		stats.next_due = usec_min(stats.next_due, schedule_next(&engine->work));
	stats.recovering = engine->recovery != RECOVERY_IDLE || engine->recover_again;
	stats.size = size;
	memcpy(ret_stats, &stats, size < sizeof stats ? size : sizeof stats);
}

/* last_error_text: the words that a call is refused with are not always those of an event. */
static const char *last_error_text(const struct engine *engine)
{
	if (engine->last_error == DW_OK)
		return "";
	if (engine->last_event == DW_EVENT_HOLD_EXPIRED)
		return "a hold was not settled in time: its timer was delivered again";
	if (engine->last_event == DW_EVENT_DEAD && engine->last_error == DW_ELATE)
		return "a timer came later than its late_after allows and was set aside as a dead "
		       "letter";
	if (engine->last_event == DW_EVENT_DEAD && engine->last_error == DW_ELIMIT)
		return "a timer was retried, or crashed, too often and was set aside as a dead "
		       "letter";
	return dw_strerror(engine->last_error);
}

/* report_text: the owner's counters as JSON, for those who ask the store, and the last failure
 * that somebody would want to know of (0: none). */
static void report_text(const struct engine *engine, char *text, size_t size)
{
	dw_stats stats = {.size = sizeof stats};

	engine_stats(engine, &stats);
	(void)snprintf(text, size,
		       "{\"timers\":%" PRIu64 ",\"unhandled\":%" PRIu64 ",\"held\":%" PRIu64
		       ",\"fired\":%" PRIu64 ",\"settled\":%" PRIu64 ",\"retried\":%" PRIu64
		       ",\"dead\":%" PRIu64 ",\"late\":%" PRIu64 ",\"corrupt\":%" PRIu64
		       ",\"store_failures\":%" PRIu64 ",\"store_p99_us\":%" PRId64
		       ",\"lead_us\":%" PRId64 ",\"lag_us\":%" PRId64 ",\"lag_max_us\":%" PRId64
		       ",\"recovering\":%s,\"last_error\":%d,\"last_error_text\":\"%s\""
		       ",\"last_error_at\":%" PRId64 "}",
		       stats.timers, stats.unhandled, stats.held, stats.fired, stats.settled,
		       stats.retried, stats.dead, stats.late, stats.corrupt, stats.store_failures,
		       stats.store_p99_us, stats.lead_us, stats.lag_us, stats.lag_max_us,
		       stats.recovering ? "true" : "false", engine->last_error,
		       last_error_text(engine), engine->last_error_at);
}

void look_report(struct engine *engine, dw_usec now)
{
	char text[1024];
	dw_op *op;

	/* At work, or just begun: the next report comes sooner than an idle one would. */
	if (!engine->report_early && engine->report_at != 0 &&
	    engine->stats.store_operations > engine->report_operations + REPORT_NOISE) {
		engine->report_early = true;
		engine->report_at = usec_sub(engine->report_at, REPORT_IDLE_EVERY - REPORT_EVERY);
	}
	if (engine->env.role != DW_OWNER || engine->closing || now < engine->report_at)
		return;
	report_text(engine, text, sizeof text);
	op = op_new(&engine->alloc, DW_OP_REPORT, NULL, text, strlen(text));
	if (op)
		engine_submit(engine, op, false);
	/* The report and its like are operations too: an idle engine counts only them. */
	engine->report_operations = engine->stats.store_operations + 1;
	engine->report_at = usec_add(now, REPORT_IDLE_EVERY);
	engine->report_early = false;
}
