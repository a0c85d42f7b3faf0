/* What others wrote. At the start, all that is stored, page by page; then whatever a client writes,
 * from the inbox. A row is newer than what memory knows only if its generation says so. */
#include "engine/internal.h"

#include "port/driven.h"
#include "timer/record.h"

const char *recover_flaw(const dw_row *row, char *room)
{
	if (record_breaks_limit(row->body, row->body_size, room))
		return room;
	return row->deleted ? "was deleted by another program, and its entry was not"
			    : "does not match its checksum, or is in another's place";
}

/* corrupt: the row is not to be trusted; it is set aside, for a human to look at. */
static void corrupt(struct engine *engine, const dw_row *row)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT, .id = row->id};
	char words[RECORD_WORDS_SIZE];

	engine->stats.corrupt++;
	engine_event(engine, &event, "%s %s: it is not fired", row->id, recover_flaw(row, words));
	if (!row->deleted)
		dead_bury_damaged(engine, row->id, row->head.generation);
}

/* learn_gone: a client has cancelled it. A busy timer's own answer will say so. */
static void learn_gone(struct engine *engine, struct timer *timer, const dw_row *row)
{
	if (!timer || timer->busy || timer->head.generation >= row->head.generation ||
	    (timer->state != TIMER_PENDING && timer->state != TIMER_CLAIMED))
		return;
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_ABSENT);
	engine_resume(engine, timer);
}

int recover_learn(struct engine *engine, const dw_row *row)
{
	struct timer *old = index_find(&engine->index, row->id);
	struct timer *timer = NULL;
	struct record record;
	int status;

	if (row->gone) {
		learn_gone(engine, old, row);
		return DW_OK;
	}
	status = record_of_row(row, &record);
	if (status == DW_ENEWER) {
		own_note_newer(engine, row);
		return status;
	}
	if (row->deleted && old && old->state != TIMER_ABSENT)
		return DW_OK; /* the store has it written again */
	if (status != DW_OK) {
		corrupt(engine, row);
		return DW_OK;
	}
	if (old && !old->storing && old->head.generation >= row->head.generation) {
		if (row->head.attempt != old->head.attempt || row->head.open != old->head.open)
			old->unsure = true; /* written again by an owner that was fenced */
		return DW_OK;
	}
	status = timer_adopt(engine, row->id, row->body, row->body_size, &timer);
	if (status == DW_OK && !old)
		status = index_add(&engine->index, timer);
	if (status != DW_OK) {
		if (timer)
			timer_release(engine, timer);
		return status;
	}
	if (old)
		timer_replace(engine, old, timer);
	/* Claimed or not: this owner has not claimed it. */
	timer->head = row->head;
	timer->unsure = engine->recovery == RECOVERY_IDLE; /* not by the scan: a client's */
	engine->recovered++;
	timer_set_state(engine, timer, TIMER_PENDING);
	engine_resume(engine, timer);
	return DW_OK;
}

void recover_learn_rows(struct engine *engine, const dw_row *row)
{
	for (; row; row = row->next)
		if (recover_learn(engine, row) != DW_OK)
			engine->recover_again = true; /* no memory now: the scan brings it */
}

/* ---- The scan ------------------------------------------------------------------------------ */

/* Timers due within LOAD_AHEAD are read in the order of their deadlines. So a timer that can be
 * claimed is known together with all that are due before it. A store that loads by generation gives
 * the rest in that order, which also finds timers that its order of deadlines lacks. */

/* is_ahead: all that is due so soon is loaded. */
static bool is_ahead(const struct engine *engine, dw_usec by)
{
	const dw_cursor *soon = &engine->recover_soon;

	return soon->ended || (soon->started && soon->due >= usec_add(engine_now(engine), by));
}

static void ask_page(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_SCAN, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	if (driven_loads_by_generation(engine->store) && is_ahead(engine, LOAD_AHEAD))
		op->flags = DW_OP_BY_GENERATION;
	op->after = op->flags ? engine->recover_rest : engine->recover_soon;
	op->limit = SCAN_LIMIT;
	engine->recovery = RECOVERY_ASKED;
	engine_submit(engine, op, false);
}

void recover_begin(struct engine *engine)
{
	engine->recovery = RECOVERY_NEXT;
	engine->recover_again = false;
	engine->recover_soon = engine->recover_rest = (dw_cursor){0};
	engine->recovered = 0;
}

static void postpone(struct engine *engine)
{
	engine->recovery = RECOVERY_NEXT;
	engine->recover_at = usec_add(engine_now(engine), RETRY_STORE);
}

static void finish(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_RECOVERED, .count = engine->recovered};

	engine->recovery = RECOVERY_IDLE;
	engine->report_at = 0; /* the last report says that it is loading */
	engine_event(engine, &event, "%llu timers loaded", (unsigned long long)engine->recovered);
	if (index_count(&engine->index) > engine->env.timers_max) {
		event.kind = DW_EVENT_LIMIT;
		event.status = DW_ELIMIT;
		engine_event(engine, &event, "more timers are stored than options.timers_max");
	}
}

/* fetch_ahead: the places of these rows in the index. A million ids in no order are as many cache
 * misses. */
static void fetch_ahead(const struct engine *engine, const dw_row *rows)
{
	const dw_row *row = rows;

	for (int i = 0; row && i < FETCHED_AHEAD; i++, row = row->next)
		index_fetch_bucket(&engine->index, row->id);
	row = rows;
	for (int i = 0; row && i < FETCHED_AHEAD; i++, row = row->next)
		index_fetch_timer(&engine->index, row->id);
}

/* unreadable: the owner of the program must hear of it; the store may be mended meanwhile. */
static void unreadable(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT};

	engine_event(engine, &event,
		     "a part of the store is damaged and cannot be read: timers are missing, and"
		     " loading them is tried again");
	engine->recovery = RECOVERY_NEXT;
	engine->recover_at = usec_add(engine_now(engine), RETRY_STORE_MAX);
}

static bool learn_page(struct engine *engine, const dw_row *row)
{
	for (int i = 0; row; row = row->next, i++) {
		if (i % FETCHED_AHEAD == 0)
			fetch_ahead(engine, row);
		if (recover_learn(engine, row) != DW_OK)
			return false;
	}
	return true;
}

void recover_scanned(struct engine *engine, dw_op *op)
{
	bool rest = op->flags & DW_OP_BY_GENERATION;
	dw_cursor *cursor = rest ? &engine->recover_rest : &engine->recover_soon;

	if (!own_is_current(engine, op))
		return;
	if (op->status == DW_ECORRUPT) {
		unreadable(engine);
		return;
	}
	if (op->status != DW_OK) {
		postpone(engine);
		return;
	}
	engine->recovery = RECOVERY_NEXT;
	if (rest && !is_ahead(engine, LOAD_AHEAD_MIN))
		return; /* it was long on its way: its timers must wait for those due before */
	if (!learn_page(engine, op->rows)) {
		postpone(engine); /* no memory now: the page is asked for again */
		return;
	}
	*cursor = op->after;
	cursor->ended = op->row_count < op->limit;
	if (cursor->ended && (rest || !driven_loads_by_generation(engine->store)))
		finish(engine);
}

/* ---- The audit ----------------------------------------------------------------------------- */

/* A store that may lose what was written to it is asked for what is long overdue: a client's put
 * whose entry in the inbox was lost would never be heard of. */
static bool may_audit(const struct engine *engine)
{
	return !engine->audit_asked && engine->recovery == RECOVERY_IDLE &&
	       driven_may_lose(engine->store);
}

static void ask_audit(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_AUDIT, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	op->head.due = usec_sub(engine_now(engine), AUDIT_AGE);
	op->limit = AUDIT_LIMIT;
	engine->audit_asked = true;
	engine_submit(engine, op, false);
}

void recover_audited(struct engine *engine, dw_op *op)
{
	bool goes_on = op->status == DW_OK && op->count > 0;

	engine->audit_asked = false;
	engine->audit_at = usec_add(engine_now(engine), goes_on ? AUDIT_ON : AUDIT_EVERY);
	if (op->status != DW_OK || !own_is_current(engine, op))
		return;
	for (const dw_row *row = op->rows; row; row = row->next)
		if (recover_learn(engine, row) != DW_OK)
			return; /* no memory now: in another audit */
}

/* ---- The inbox ----------------------------------------------------------------------------- */

static void ask_inbox(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_INBOX, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	op->limit = INBOX_LIMIT;
	engine->inbox_asked = true;
	engine_submit(engine, op, false);
}

void recover_inbox(struct engine *engine, dw_op *op)
{
	engine->inbox_asked = false;
	if (op->status != DW_OK)
		engine->inbox_at = usec_add(engine_now(engine), RETRY_STORE);
	if (!own_is_current(engine, op))
		return; /* neither learnt nor acknowledged: the next owner scans */
	for (const dw_row *row = op->rows; row; row = row->next) {
		/* What is acknowledged counts as known: the store may overwrite it unread. */
		bool learnt = recover_learn(engine, row) == DW_OK;
		dw_op *ack = learnt ? op_new(&engine->alloc, DW_OP_ACK, row->id, NULL, 0) : NULL;

		if (!learnt)
			engine->recover_again = true; /* no memory now: the scan brings it */
		if (!ack) { /* read once more, learnt as nothing new, acknowledged then */
			engine->inbox_at = usec_add(engine_now(engine), RETRY_STORE);
			continue;
		}
		ack->head.generation = row->head.generation;
		engine_submit(engine, ack, false);
	}
}

/* ---- When ---------------------------------------------------------------------------------- */

void recover_ask(struct engine *engine, dw_usec now)
{
	if (engine->env.role != DW_OWNER || engine->closing)
		return;
	if (engine->recover_again && engine->recovery == RECOVERY_IDLE) {
		recover_begin(engine);
		postpone(engine);
	}
	if (engine->recovery == RECOVERY_NEXT && now >= engine->recover_at)
		ask_page(engine);
	if (!engine->inbox_asked && now >= engine->inbox_at)
		ask_inbox(engine);
	if (may_audit(engine) && now >= engine->audit_at)
		ask_audit(engine);
}

dw_usec recover_wake(const struct engine *engine)
{
	dw_usec at = DW_NEVER;

	if (engine->env.role != DW_OWNER || engine->closing)
		return at;
	if (engine->recovery == RECOVERY_NEXT)
		at = engine->recover_at;
	if (!engine->inbox_asked)
		at = usec_min(at, engine->inbox_at);
	if (may_audit(engine))
		at = usec_min(at, engine->audit_at);
	return at;
}
