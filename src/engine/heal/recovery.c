#include "engine/heal/recovery.h"

#include "engine/core.h"
#include "engine/heal/learn.h"
#include "port/driven.h"

#define SCAN_LIMIT 256u
#define LOAD_AHEAD DW_SECONDS(5)     /* timers that are due within this time are loaded first */
#define LOAD_AHEAD_MIN DW_SECONDS(2) /* must be more than two leads */
#define INBOX_LIMIT 256u
#define AUDIT_LIMIT 128u
#define AUDIT_EVERY DW_SECONDS(5)
#define AUDIT_ON DW_MILLISECONDS(100) /* time between two pages of an audit */
#define AUDIT_AGE DW_SECONDS(1)       /* a timer that is overdue by less may be on its way */

/* ---- The scan ------------------------------------------------------------------------------ */

/* Timers that are due within LOAD_AHEAD are read in the order of their deadlines. So when a timer
 * can be claimed, all timers that are due before it are known, too. If the store loads by
 * generation, it gives the rest in that order, which also finds timers that its index of deadlines
 * lacks. */

/* has_loaded returns true if all timers that are due within `by` are loaded. */
static bool has_loaded(const struct engine *engine, dw_usec by)
{
	const dw_cursor *soon = &engine->recovery.soon;

	return soon->ended || (soon->started && soon->due >= usec_add(engine_now(engine), by));
}

/* is_rest_next returns true if the next page must be read in the order of the generations. */
static bool is_rest_next(const struct engine *engine)
{
	return driven_loads_by_generation(engine->store) && has_loaded(engine, LOAD_AHEAD);
}

static bool may_ask(const struct engine *engine)
{
	return engine->ownership.role == DW_OWNER && !engine->drive.closing;
}

static void ask_page(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_SCAN, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	if (is_rest_next(engine))
		op->flags = DW_OP_BY_GENERATION;
	op->after = op->flags ? engine->recovery.rest : engine->recovery.soon;
	op->limit = SCAN_LIMIT;
	engine->recovery.state = RECOVERY_ASKED;
	engine->recovery.page = op;
	submit_push(&engine->submit, op, false);
}

/* ask_ahead lets the store read the next page while the engine learns this one. It does not do so
 * if the next page comes in the other order. That page may repeat a damaged row of this one, and
 * must be read after that row is buried. */
static void ask_ahead(struct engine *engine, bool rest)
{
	if (!may_ask(engine) || is_rest_next(engine) != rest)
		return;
	ask_page(engine);
	submit_round(engine);
}

void recovery_begin(struct recovery *recovery)
{
	recovery->state = RECOVERY_NEXT;
	recovery->again = false;
	recovery->soon = recovery->rest = (dw_cursor){0};
	recovery->learnt = 0;
}

void recovery_stop(struct recovery *recovery)
{
	recovery->state = RECOVERY_IDLE;
	recovery->again = false;
}

static void postpone(struct engine *engine)
{
	engine->recovery.state = RECOVERY_NEXT;
	engine->recovery.at = usec_add(engine_now(engine), RETRY_STORE);
}

static void finish(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_RECOVERED, .count = engine->recovery.learnt};

	engine->recovery.state = RECOVERY_IDLE;
	report_soon(&engine->report); /* the last report says that the engine is loading */
	event_raise(engine, &event, "%llu timers loaded",
		    (unsigned long long)engine->recovery.learnt);
	if (index_count(&engine->timers.index) > engine->env.timers_max) {
		event.kind = DW_EVENT_LIMIT;
		event.status = DW_ELIMIT;
		event_raise(engine, &event,
			    "the store has more timers than options.timers_max: raise it");
	}
}

/* fetch_ahead brings the index entries of the next rows into the cache. Without it each of a
 * million ids would be a cache miss. */
static void fetch_ahead(const struct timers *timers, const dw_row *rows)
{
	const char *ids[FETCHED_AHEAD];
	int count = 0;

	for (const dw_row *row = rows; row && count < FETCHED_AHEAD; row = row->next)
		ids[count++] = row->id;
	timers_fetch(timers, ids, count);
}

/* report_unreadable tells the operator, and tries again later, because the store may be repaired
 * meanwhile. */
static void report_unreadable(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT};

	event_raise(engine, &event,
		    "a part of the store is damaged and cannot be read: some timers are missing;"
		    " trying to load them again");
	engine->recovery.state = RECOVERY_NEXT;
	engine->recovery.at = usec_add(engine_now(engine), RETRY_STORE_MAX);
}

static bool learn_page(struct engine *engine, const dw_op *op)
{
	const dw_row *row = op->rows;

	for (int i = 0; row; row = row->next, i++) {
		if (i % FETCHED_AHEAD == 0)
			fetch_ahead(&engine->timers, row);
		if (shards_row_is_current(engine, op, row) && learn_row(engine, row) != DW_OK)
			return false;
	}
	return true;
}

void recovery_scanned(struct engine *engine, dw_op *op)
{
	bool rest = op->flags & DW_OP_BY_GENERATION;
	dw_cursor *cursor = rest ? &engine->recovery.rest : &engine->recovery.soon;
	dw_cursor before = *cursor;
	bool last;

	if (op != engine->recovery.page || !ownership_is_current(&engine->ownership, op))
		return;
	if (op->status == DW_ECORRUPT) {
		report_unreadable(engine);
		return;
	}
	if (op->status != DW_OK) {
		postpone(engine);
		return;
	}
	engine->recovery.state = RECOVERY_NEXT;
	if (rest && !has_loaded(engine, LOAD_AHEAD_MIN))
		return; /* too late: earlier timers must be loaded first */
	*cursor = op->after;
	cursor->ended = op->row_count < op->limit;
	last = cursor->ended && (rest || !driven_loads_by_generation(engine->store));
	if (!last)
		ask_ahead(engine, rest);
	if (!learn_page(engine, op)) {
		*cursor = before; /* if there is no memory, the page is read again */
		engine->recovery.page = NULL;
		postpone(engine);
	} else if (last) {
		finish(engine);
	}
}

/* ---- The audit ----------------------------------------------------------------------------- */

/* When a store loses the inbox entry of a client's put, the owner never learns of the timer.
 * Therefore a store that may lose data is asked for timers that are long overdue. */
static bool may_audit(const struct engine *engine)
{
	return !engine->recovery.audit_asked && engine->recovery.state == RECOVERY_IDLE &&
	       driven_may_lose(engine->store);
}

static void ask_audit(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_AUDIT, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	op->head.due = usec_sub(engine_now(engine), AUDIT_AGE);
	op->limit = AUDIT_LIMIT;
	engine->recovery.audit_asked = true;
	submit_push(&engine->submit, op, false);
}

void recovery_audited(struct engine *engine, dw_op *op)
{
	bool goes_on = op->status == DW_OK && op->count > 0;

	engine->recovery.audit_asked = false;
	engine->recovery.audit_at = usec_add(engine_now(engine), goes_on ? AUDIT_ON : AUDIT_EVERY);
	if (op->status != DW_OK || !ownership_is_current(&engine->ownership, op))
		return;
	for (const dw_row *row = op->rows; row; row = row->next)
		if (shards_row_is_current(engine, op, row) && learn_row(engine, row) != DW_OK)
			return; /* if there is no memory, the next audit brings the row */
}

/* ---- The inbox ----------------------------------------------------------------------------- */

static void ask_inbox(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_INBOX, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	op->limit = INBOX_LIMIT;
	engine->recovery.inbox_asked = true;
	submit_push(&engine->submit, op, false);
}

void recovery_inbox_read(struct engine *engine, dw_op *op)
{
	engine->recovery.inbox_asked = false;
	if (op->status != DW_OK)
		engine->recovery.inbox_at = usec_add(engine_now(engine), RETRY_STORE);
	if (!ownership_is_current(&engine->ownership, op))
		return; /* the rows stay in the inbox; the next owner scans */
	for (const dw_row *row = op->rows; row; row = row->next) {
		/* An empty id says that settings of topics have changed. */
		bool tells = row->id[0] == '\0';
		/* The row of a shard that was lost stays in the inbox. */
		if (!tells && !shards_row_is_current(engine, op, row))
			continue;
		/* After the acknowledgement the store may overwrite the timer without reading it,
		 * so memory must know it first. */
		bool learnt = tells || learn_row(engine, row) == DW_OK;
		dw_op *ack = learnt ? op_new(&engine->alloc, DW_OP_ACK, row->id, NULL, 0) : NULL;

		if (tells)
			registry_old(&engine->recovery.registry);
		if (!learnt)
			recovery_need(&engine->recovery); /* without memory the scan brings it */
		if (!ack) { /* the entry will be read again, and acknowledged then */
			engine->recovery.inbox_at = usec_add(engine_now(engine), RETRY_STORE);
			continue;
		}
		ack->head.generation = row->head.generation;
		submit_push(&engine->submit, ack, false);
	}
}

/* ---- When ---------------------------------------------------------------------------------- */

void recovery_round(struct engine *engine, dw_usec now)
{
	if (!may_ask(engine))
		return;
	if (engine->recovery.again && engine->recovery.state == RECOVERY_IDLE) {
		recovery_begin(&engine->recovery);
		postpone(engine);
	}
	if (engine->recovery.state == RECOVERY_NEXT && now >= engine->recovery.at)
		ask_page(engine);
	if (!engine->recovery.inbox_asked && now >= engine->recovery.inbox_at)
		ask_inbox(engine);
	if (may_audit(engine) && now >= engine->recovery.audit_at)
		ask_audit(engine);
}

dw_usec recovery_wake(const struct engine *engine)
{
	dw_usec at = DW_NEVER;

	if (!may_ask(engine))
		return at;
	if (engine->recovery.state == RECOVERY_NEXT)
		at = engine->recovery.at;
	if (!engine->recovery.inbox_asked)
		at = usec_min(at, engine->recovery.inbox_at);
	if (may_audit(engine))
		at = usec_min(at, engine->recovery.audit_at);
	return at;
}
