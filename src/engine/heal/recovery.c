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
/* A timer that is overdue by less may still be on its way to memory. */
#define AUDIT_AGE DW_SECONDS(1)

/* ---- The scan ------------------------------------------------------------------------------ */

/* Timers that are due within LOAD_AHEAD are read in the order of their deadlines. So when a timer
 * can be claimed, all timers that are due before it are known, too. If the store loads by
 * generation, it then returns the other timers in the order of generations. This also finds timers
 * that its index of deadlines lacks. */

/* has_loaded returns true if all timers that are due within `by` are loaded. */
static bool has_loaded(const struct engine *engine, const struct scan_state *scan, dw_usec by)
{
	const dw_cursor *soon = &scan->soon;

	return soon->ended || (soon->started && soon->due >= usec_add(engine_now(engine), by));
}

/* is_rest_next returns true if the next page must be read in the order of the generations. */
static bool is_rest_next(const struct engine *engine, const struct scan_state *scan)
{
	return driven_loads_by_generation(engine->store) && has_loaded(engine, scan, LOAD_AHEAD);
}

static bool may_ask(const struct engine *engine)
{
	return engine->ownership.role == DW_OWNER && !engine->drive.closing;
}

/* A set of shards, as the body of an operation. */
struct shard_bits {
	unsigned char bytes[DW_SHARDS_MAX / 8];
	unsigned count;
};

static void add_bit(struct shard_bits *set, unsigned shard)
{
	set->bytes[shard / 8] |= (unsigned char)(1u << shard % 8);
	set->count++;
}

/* op_of_shards makes an operation about a set of shards. It names the set only if it is not the
 * whole store. */
static dw_op *op_of_shards(const struct engine *engine, dw_op_kind kind,
			   const struct shard_bits *set)
{
	bool is_whole = set->count == engine->shards.count;
	size_t size = (engine->shards.count + 7) / 8;
	dw_op *op =
	    op_new(&engine->alloc, kind, NULL, is_whole ? NULL : set->bytes, is_whole ? 0 : size);

	if (op && !is_whole)
		op->flags |= DW_OP_SHARDS;
	return op;
}

static struct shard_bits shards_of(const struct engine *engine, const struct scan_state *scan)
{
	unsigned name = (unsigned)(scan - engine->recovery.scans) + 1;
	struct shard_bits set = {.count = 0};

	for (unsigned i = 0; i < engine->shards.count; i++)
		if (engine->recovery.scan_of[i] == name)
			add_bit(&set, i);
	return set;
}

static void ask_page(struct engine *engine, struct scan_state *scan)
{
	struct shard_bits set = shards_of(engine, scan);
	dw_op *op = op_of_shards(engine, DW_OP_SCAN, &set);
	bool rest = is_rest_next(engine, scan);

	if (!op)
		return; /* asked in the next turn */
	op->flags |= rest ? DW_OP_BY_GENERATION : 0;
	op->after = rest ? scan->rest : scan->soon;
	op->limit = SCAN_LIMIT;
	scan->state = RECOVERY_ASKED;
	scan->page = op;
	submit_push(&engine->submit, op, false);
}

/* ask_ahead lets the store read the next page while the engine learns this one. It does nothing if
 * the next page comes in the other order. That page may repeat a damaged row of this one, and must
 * be read after that row is buried. */
static void ask_ahead(struct engine *engine, struct scan_state *scan, bool rest)
{
	if (!may_ask(engine) || is_rest_next(engine, scan) != rest)
		return;
	ask_page(engine, scan);
	submit_round(engine);
}

/* ---- Which shards -------------------------------------------------------------------------- */

void recovery_begin(struct engine *engine)
{
	recovery_stop(&engine->recovery);
	for (unsigned i = 0; i < engine->shards.count; i++)
		if (engine->shards.all[i].owned)
			recovery_need(&engine->recovery, i);
	engine->recovery.hurries = true;
}

static bool may_read(const struct engine *engine, unsigned shard)
{
	return engine->recovery.wanted[shard] && engine->recovery.scan_of[shard] == 0 &&
	       !engine->shards.all[shard].refused;
}

/* begin_scan starts a scan of all shards that are wanted and not being read. */
static void begin_scan(struct engine *engine, struct scan_state *scan, dw_usec now)
{
	struct recovery *recovery = &engine->recovery;
	unsigned name = (unsigned)(scan - recovery->scans) + 1;

	for (unsigned i = 0; i < engine->shards.count; i++) {
		if (!may_read(engine, i))
			continue;
		recovery->wanted[i] = false;
		recovery->wanted_count--;
		recovery->scan_of[i] = (uint8_t)name;
		scan->shards++;
	}
	if (scan->shards == 0)
		return; /* all wanted shards are refused, or are being read */
	scan->state = RECOVERY_NEXT;
	scan->at = recovery->hurries ? 0 : usec_add(now, RETRY_STORE);
	recovery->hurries = false;
}

static void begin_wanted(struct engine *engine, dw_usec now)
{
	for (unsigned i = 0; i < SCANS_MAX; i++) {
		struct scan_state *scan = &engine->recovery.scans[i];

		if (scan->state != RECOVERY_IDLE)
			continue;
		begin_scan(engine, scan, now);
		return;
	}
}

static void postpone(const struct engine *engine, struct scan_state *scan)
{
	scan->state = RECOVERY_NEXT;
	scan->at = usec_add(engine_now(engine), RETRY_STORE);
}

static void finish(struct engine *engine, struct scan_state *scan)
{
	dw_event event = {.kind = DW_EVENT_RECOVERED, .count = scan->learnt};
	unsigned name = (unsigned)(scan - engine->recovery.scans) + 1;

	for (unsigned i = 0; i < engine->shards.count; i++)
		if (engine->recovery.scan_of[i] == name)
			recovery_end_reading(&engine->recovery, i);
	report_soon(&engine->report); /* the last report says that the engine is loading */
	event_raise(engine, &event, "%llu timers loaded", (unsigned long long)event.count);
	if (index_count(&engine->timers.index) > engine->env.timers_max) {
		event.kind = DW_EVENT_LIMIT;
		event.status = DW_ELIMIT;
		event_raise(engine, &event,
			    "the store has more timers than options.timers_max: raise it");
	}
}

/* ---- A page -------------------------------------------------------------------------------- */

/* fetch_ahead loads the index entries of the next rows into the cache. Without this, each of a
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
static void report_unreadable(struct engine *engine, struct scan_state *scan)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT};

	event_raise(engine, &event,
		    "a part of the store is damaged and cannot be read: some timers are missing;"
		    " trying to load them again");
	scan->state = RECOVERY_NEXT;
	scan->at = usec_add(engine_now(engine), RETRY_STORE_MAX);
}

/* learns returns false if there is no memory. It returns true for a timer of a newer durawheel, so
 * that the scan continues. The owner may have to restore lost timers before it gives the ownership
 * back. */
static bool learns(struct engine *engine, const dw_row *row)
{
	int status = learn_row(engine, row);

	return status == DW_OK || status == DW_ENEWER;
}

static bool learn_page(struct engine *engine, const dw_op *op)
{
	const dw_row *row = op->rows;

	for (int i = 0; row; row = row->next, i++) {
		if (i % FETCHED_AHEAD == 0)
			fetch_ahead(&engine->timers, row);
		if (shards_row_is_current(engine, op, row) && !learns(engine, row))
			return false;
	}
	return true;
}

/* take_page handles a page that could be read. */
static void take_page(struct engine *engine, struct scan_state *scan, const dw_op *op)
{
	bool rest = op->flags & DW_OP_BY_GENERATION;
	dw_cursor *cursor = rest ? &scan->rest : &scan->soon;
	dw_cursor before = *cursor;
	uint64_t learnt = engine->recovery.learnt;
	bool last;

	scan->state = RECOVERY_NEXT;
	if (rest && !has_loaded(engine, scan, LOAD_AHEAD_MIN))
		return; /* too late: timers that are due soon must be loaded first */
	*cursor = op->after;
	cursor->ended = op->row_count < op->limit;
	last = cursor->ended && (rest || !driven_loads_by_generation(engine->store));
	if (!last)
		ask_ahead(engine, scan, rest);
	if (!learn_page(engine, op)) {
		*cursor = before; /* if there is no memory, the page is read again */
		scan->page = NULL;
		postpone(engine, scan);
		last = false;
	}
	scan->learnt += engine->recovery.learnt - learnt;
	if (last)
		finish(engine, scan);
}

static struct scan_state *scan_of(struct recovery *recovery, const dw_op *page)
{
	for (unsigned i = 0; i < SCANS_MAX; i++)
		if (recovery->scans[i].state == RECOVERY_ASKED && recovery->scans[i].page == page)
			return &recovery->scans[i];
	return NULL;
}

void recovery_scanned(struct engine *engine, dw_op *op)
{
	struct scan_state *scan = scan_of(&engine->recovery, op);

	if (!scan || !ownership_is_current(&engine->ownership, op))
		return;
	if (op->status == DW_ECORRUPT)
		report_unreadable(engine, scan);
	else if (op->status != DW_OK)
		postpone(engine, scan);
	else
		take_page(engine, scan, op);
}

/* ---- The audit ----------------------------------------------------------------------------- */

/* When a store loses the inbox entry of a client's put, the owner never learns of the timer.
 * Therefore a store that may lose data is asked for timers that are long overdue. */
static bool may_audit(const struct engine *engine)
{
	return !engine->recovery.audit_asked && engine->recovery.unread < engine->shards.owned &&
	       driven_may_lose(engine->store);
}

static void ask_audit(struct engine *engine)
{
	struct shard_bits set = {.count = 0};
	dw_op *op;

	for (unsigned i = 0; i < engine->shards.count; i++)
		if (engine->shards.all[i].owned && recovery_is_over(&engine->recovery, i))
			add_bit(&set, i);
	op = op_of_shards(engine, DW_OP_AUDIT, &set);
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
		if (shards_row_is_current(engine, op, row) && !learns(engine, row))
			return; /* without memory for the row, the next audit returns it again */
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
		if (!learnt) /* without memory the scan reads the row */
			shards_read_again(engine, driven_shard_of(engine->store, row->id));
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
	if (engine->recovery.wanted_count > 0)
		begin_wanted(engine, now);
	for (unsigned i = 0; engine->recovery.unread > 0 && i < SCANS_MAX; i++) {
		struct scan_state *scan = &engine->recovery.scans[i];

		if (scan->state == RECOVERY_NEXT && now >= scan->at)
			ask_page(engine, scan);
	}
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
	for (unsigned i = 0; engine->recovery.unread > 0 && i < SCANS_MAX; i++)
		if (engine->recovery.scans[i].state == RECOVERY_NEXT)
			at = usec_min(at, engine->recovery.scans[i].at);
	if (!engine->recovery.inbox_asked)
		at = usec_min(at, engine->recovery.inbox_at);
	if (may_audit(engine))
		at = usec_min(at, engine->recovery.audit_at);
	return at;
}
