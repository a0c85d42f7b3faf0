/* Owning the store: asking for it, firing only while the lease says so, and losing it.
 *
 * A reign is the time between two losses. What was submitted in an earlier one may still be
 * answered in this one; such an answer says what was done, and nothing of how things are now:
 * another owner was at work in between. So it is told to whoever called, and changes no timer. */
#include "engine/internal.h"

#include "port/driven.h"

/* ---- The lease ----------------------------------------------------------------------------- */

bool own_lease_holds(const struct engine *engine)
{
	dw_usec lease;

	if (engine->env.role != DW_OWNER)
		return true; /* a client starts nothing, and has none */
	lease = driven_lease(engine->store);
	return lease == DW_NEVER || engine_steady(engine) < lease;
}

static bool is_due(struct engine *engine, dw_usec now)
{
	return schedule_is_due(&engine->fire, now) ||
	       (work_is_made(engine) && schedule_is_due(&engine->work, now));
}

void own_watch_lease(struct engine *engine, dw_usec now)
{
	dw_event event = {.kind = DW_EVENT_LEASE};

	if (own_lease_holds(engine)) {
		engine->lease_told = false;
		return;
	}
	if (engine->lease_told || engine->closing || engine->paused || !is_due(engine, now))
		return;
	engine->lease_told = true;
	engine_event(engine, &event, "the lease is over: what is due waits until it is renewed");
}

dw_usec own_firing_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = schedule_wake(&engine->fire);

	if (work_is_made(engine) && work_has_room(engine))
		at = usec_min(at, schedule_wake(&engine->work));
	if (at > now || own_lease_holds(engine))
		return at;
	/* The store wakes us when it is renewed; until it was told we look whether one is due. */
	return engine->lease_told ? DW_NEVER : usec_add(now, LEASE_LOOK);
}

dw_usec own_store_wake(const struct engine *engine, dw_usec now)
{
	dw_usec due = driven_due(engine->store);

	if (due == DW_NEVER)
		return DW_NEVER;
	return usec_add(now, usec_max(usec_sub(due, engine_steady(engine)), 0));
}

/* ---- Losing -------------------------------------------------------------------------------- */

struct dropping {
	struct engine *engine;
	uint64_t dropped;
};

static void drop(struct timer *timer, void *user)
{
	struct dropping *dropping = user;

	if (timer->state == TIMER_ABSENT)
		return;
	dropping->dropped += timer->state != TIMER_FIRING;
	timer_forget(dropping->engine, timer);
	engine_resume(dropping->engine, timer);
}

static bool is_owners(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_DISOWN:
	case DW_OP_INBOX:
	case DW_OP_ACK:
	case DW_OP_REPORT:
	case DW_OP_PURGE:
	case DW_OP_LOSS:
	case DW_OP_REPUSH:
	case DW_OP_AUDIT:
		return true;
	case DW_OP_SCAN:
		return !op->call;
	default:
		return false;
	}
}

/* refuse_queued: what was not submitted yet and only an owner may ask for is answered here; the
 * rest goes to the store as a client's. */
static void refuse_queued(struct engine *engine, struct op_queue *queue, uint32_t *inflight)
{
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		op->flags &= ~(DW_OP_CLAIMED | DW_OP_WITHDRAWN);
		if (is_owners(op)) {
			op->status = DW_EFENCED;
			op->reign = engine->reign - 1;
			*inflight += !op_is_parked(op); /* as if submitted: see account() */
			op_queue_push(&engine->answers, op);
		} else {
			op_queue_push(queue, op);
		}
		op = next;
	}
}

void own_lose(struct engine *engine, int status)
{
	dw_event event = {.kind = DW_EVENT_OWNER_LOST, .status = status};
	struct dropping dropping = {.engine = engine};

	engine->reign++;
	engine->env.role = DW_CLIENT;
	engine->env.standby = true;
	engine->recovery = RECOVERY_IDLE;
	engine->recover_again = false;
	engine->own_at = engine_now(engine);
	loss_forget(engine);
	refuse_queued(engine, &engine->urgent, &engine->urgent_inflight);
	refuse_queued(engine, &engine->ordinary, &engine->ordinary_inflight);
	index_each(&engine->index, drop, &dropping);
	event.count = dropping.dropped;
	engine_event(engine, &event,
		     status == DW_ENEWER
			 ? "this process gave up the ownership of the store: %llu timers dropped "
			   "from memory, they wait for a newer durawheel"
			 : "the ownership is lost, to another process or with what the store has "
			   "lost: what is stored of %llu timers counts, and no verdict of before",
		     (unsigned long long)dropping.dropped);
}

/* ---- Giving way to a newer durawheel ------------------------------------------------------- */

void own_note_newer(struct engine *engine, const dw_row *row)
{
	if (!engine->newer)
		engine->newer =
		    op_new(&engine->alloc, DW_OP_DISOWN, row->id, row->body, row->body_size);
	if (!engine->newer)
		engine->recover_again = true; /* no memory now: the scan meets it again */
}

static void tell_newer(struct engine *engine, const char *id)
{
	dw_event event = {.kind = DW_EVENT_NEWER, .status = DW_ENEWER, .id = id};

	if (engine->newer_told)
		return;
	engine->newer_told = true;
	engine_event(engine, &event,
		     "%s%sa newer durawheel: this version leaves it alone and does not own the "
		     "store; run the newer version",
		     id ? id : "the store has timers of", id ? " was written by " : " ");
}

void own_give_way(struct engine *engine)
{
	dw_op *op = engine->newer;

	if (!op)
		return;
	engine->newer = NULL;
	if (engine->env.role != DW_OWNER || engine->closing) {
		op_free(&engine->alloc, op);
		return;
	}
	tell_newer(engine, op->id);
	own_lose(engine, DW_ENEWER);
	engine->own_asked = true; /* no OWN overtakes the DISOWN */
	engine_submit(engine, op, false);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void ask(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_OWN, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	engine->own_asked = true;
	engine_submit(engine, op, false);
}

void own_ask(struct engine *engine, dw_usec now)
{
	if (engine->env.standby && !engine->closing && !engine->own_asked && now >= engine->own_at)
		ask(engine);
}

dw_usec own_wake(const struct engine *engine)
{
	bool asks = engine->env.standby && !engine->closing && !engine->own_asked;

	return asks ? engine->own_at : DW_NEVER;
}

/* own_answered: what was asked before as a client is answered before, and what is answered from now
 * on was done as the owner; so the scan that begins now finds everything. */
void own_answered(struct engine *engine, const dw_op *op)
{
	dw_event event = {.kind = DW_EVENT_OWNER};

	engine->own_asked = false;
	engine->own_at = usec_add(engine_now(engine), STANDBY_EVERY);
	if (op->kind == DW_OP_OWN && op->status == DW_ENEWER)
		tell_newer(engine, NULL);
	if (op->kind != DW_OP_OWN || op->status != DW_OK)
		return;
	engine->newer_told = false;
	engine->env.standby = false;
	engine->env.role = DW_OWNER;
	engine->lease_told = false;
	recover_begin(engine);
	engine_event(engine, &event, "this %s owns the store now",
		     engine->reign > 0 ? "process" : "standby");
}
