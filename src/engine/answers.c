/* What the store answered. An answer finds its timer by id, because the timer it was about may
 * have been replaced meanwhile; it changes one only if the generation is still the one asked about.
 */
#include "engine/internal.h"

#include <assert.h>
#include <string.h>

/* failed: the store could not do it, as opposed to: it had a reason not to. */
static bool failed(int status)
{
	return status != DW_OK && status != DW_ENOENT && status != DW_ESTALE &&
	       status != DW_EEXIST && status != DW_ELATE && status != DW_ECORRUPT &&
	       status != DW_EOWNED && status != DW_EFENCED && status != DW_ENEWER;
}

static void corrupt(struct engine *engine, const struct timer *timer)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT,
			  .status = DW_ECORRUPT,
			  .id = timer->id,
			  .topic = timer->topic ? timer->topic->name : NULL};

	engine->stats.corrupt++;
	engine_event(engine, &event, "%s does not match its checksum: it is not fired", timer->id);
	dead_bury_damaged(engine, timer->id, timer->head.generation);
}

/* ---- Puts, cancels, moves ------------------------------------------------------------------ */

/* is_ahead: that generation of the timer, or a later one, is known from the inbox, which does not
 * wait for the answers before it. */
static bool is_ahead(const struct timer *head, uint64_t generation)
{
	return head->state != TIMER_ABSENT && head->head.generation >= generation;
}

/* install makes the timer that a put has stored the current one of its id. A claim of an earlier
 * reign is none. */
static struct timer *install(struct engine *engine, struct timer *head, struct call *call,
			     const dw_op *op)
{
	struct timer *fresh = call->fresh;
	bool claimed = op->head.state == DW_CLAIMED && own_is_current(engine, op);

	if (fresh != head && is_ahead(head, op->head.generation))
		return head;
	call->fresh = NULL;
	fresh->storing = false;
	fresh->head = op->head;
	fresh->purged = false;
	if (fresh != head)
		timer_replace(engine, head, fresh);
	if (engine->env.role == DW_OWNER)
		timer_set_state(engine, fresh, claimed ? TIMER_CLAIMED : TIMER_PENDING);
	else
		fresh->head.generation = 0; /* a scan, should it become the owner, brings it */
	return fresh;
}

/* leaves_earlier: the owner knows of its own claims; a client is told. */
static bool leaves_earlier(const struct engine *engine, const dw_head *head)
{
	return engine->env.role != DW_OWNER && head->open;
}

/* vacate: what was to be the timer is only a place now, and not the call's. */
static void vacate(struct timer *head, struct call *call)
{
	if (call->fresh != head)
		return;
	head->storing = false;
	call->fresh = NULL;
}

/* is_its: the row is what the put has stored, which may have been delivered since. */
static bool is_its(const dw_op *op, const dw_row *row)
{
	return row->body_size == op->body_size && memcmp(row->body, op->body, op->body_size) == 0 &&
	       (row->head.due == op->head.due || row->head.attempt > 0);
}

/* learn_done: the put had been done before. What it stored may have been fired, changed or
 * cancelled since; so what counts is what is stored now. Returns the timer of the id. */
static struct timer *learn_done(struct engine *engine, struct timer *head, struct call *call,
				const dw_op *op)
{
	const dw_row *its = op->rows && is_its(op, op->rows) ? op->rows : NULL;

	vacate(head, call);
	call->generation = its ? its->head.generation : 0;
	call->earlier = its && leaves_earlier(engine, &its->head);
	if (!own_is_current(engine, op))
		return head;
	/* Also before it is learnt: if that fails, the old one must not start all the same. */
	if (head->state != TIMER_ABSENT &&
	    (!op->rows || head->head.generation < op->rows->head.generation))
		timer_forget(engine, head);
	if (op->rows)
		recover_learn_rows(engine, op->rows);
	return index_find(&engine->index, op->id);
}

/* send_again: the outcome of a put is unknown, so the same put is sent until it is known (I9). Its
 * caller was told DW_EUNKNOWN. A DW_NEW is not: sent again it would refuse itself; a scan tells. */
static void send_again(struct engine *engine, struct timer *head, struct call *call, dw_op *op)
{
	struct call *again;

	if (op->flags & DW_OP_NEW || engine->closing ||
	    call_make(engine, CALL_PUT, call->id, &again) != DW_OK) {
		engine->recover_again = true;
		return;
	}
	again->internal = true;
	engine->again_count++;
	again->fresh = call->fresh;
	call->fresh = NULL;
	again->op = op_new(&engine->alloc, DW_OP_PUT, op->id, op->body,
			   op->body_size + strlen(op->topic) + 1);
	if (!again->op) {
		engine->recover_again = true;
		call_answer(engine, again, DW_ENOMEM);
		return;
	}
	call_charge(engine, again, again->op);
	again->op->flags = DW_OP_AGAIN | (op->flags & DW_OP_DONE);
	again->op->head.due = op->head.due;
	again->op->body_size = op->body_size;
	again->op->topic = (const char *)again->op->body + op->body_size;
	again->next = head->calls;
	head->calls = again;
	timer_retry_later(engine, head);
}

/* doubt: the store may have taken the claim back, as it was told to; so it is claimed again before
 * it may start. */
static void doubt(struct engine *engine, struct timer *timer, const dw_op *op)
{
	if (!(op->flags & DW_OP_WITHDRAWN) || timer->state != TIMER_CLAIMED)
		return;
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_PENDING);
}

static void put_answered(struct engine *engine, struct timer *head, dw_op *op)
{
	struct call *call = op->call;
	bool fenced = op->status == DW_EFENCED && call->internal; /* sent again as a client's */

	call->generation = op->head.generation;
	call->earlier = leaves_earlier(engine, &op->head);
	if (op->status == DW_OK && op->flags & DW_OP_DONE)
		head = learn_done(engine, head, call, op);
	else if (op->status == DW_OK)
		head = install(engine, head, call, op);
	else if (call->internal)
		engine->recover_again = true; /* the first one may be stored: the scan tells */
	if (op->status == DW_EUNKNOWN || fenced) {
		head->unsure = true;
		doubt(engine, head, op);
		send_again(engine, head, call, op);
	}
	vacate(head, call); /* refused */
	engine_resume(engine, head);
	call_answer(engine, call, op->status);
}

/* is_newer: memory has learnt another generation since the operation was submitted: answers of
 * reading may come before those of changing. It may be what came after the operation; if it is what
 * the operation has ended, its claim will be answered so. */
static bool is_newer(const struct timer *head, const dw_op *op)
{
	return head->state != TIMER_ABSENT && head->head.generation > op->head.generation;
}

static void cancel_answered(struct engine *engine, struct timer *head, dw_op *op)
{
	struct call *call = op->call;
	bool gone = op->status == DW_OK || op->status == DW_ENOENT;

	if (gone && head->state != TIMER_ABSENT && !is_newer(head, op) &&
	    own_is_current(engine, op)) {
		timer_disarm(engine, head);
		timer_set_state(engine, head, TIMER_ABSENT);
	}
	engine->stats.cancelled += op->status == DW_OK;
	if (op->status == DW_EUNKNOWN) {
		doubt(engine, head, op);
		engine->recover_again = true;
	}
	engine_resume(engine, head);
	call_answer(engine, call, op->status);
}

/* lose drops a timer that the store says is not there, or not any more as it was. */
static void lose(struct engine *engine, struct timer *timer)
{
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_ABSENT);
}

/* moved takes in what a move or a requeue has made: the same timer under its next generation, or
 * the one in the answer, when memory knew another one or none. The owner's timer; to be found by
 * its id afterwards. */
static void moved(struct engine *engine, struct timer *head, const dw_op *op)
{
	if (is_ahead(head, op->head.generation))
		return;
	if (op->rows || op->kind == DW_OP_REQUEUE || head->state == TIMER_ABSENT) {
		engine->recover_again = engine->recover_again || !op->rows;
		lose(engine, head);
		head->head.generation = 0; /* the row may have been learnt before */
		recover_learn_rows(engine, op->rows);
		return;
	}
	head->head = op->head;
	timer_disarm(engine, head);
	timer_set_state(engine, head, TIMER_PENDING);
}

static void move_answered(struct engine *engine, struct timer *head, dw_op *op)
{
	struct call *call = op->call;

	bool current = own_is_current(engine, op) && !is_newer(head, op);

	call->generation = op->head.generation;
	call->earlier = leaves_earlier(engine, &op->head);
	if (op->status == DW_OK && current)
		moved(engine, head, op);
	else if (op->status == DW_ENOENT && op->kind == DW_OP_MOVE && current)
		lose(engine, head);
	engine->stats.moved += op->status == DW_OK && op->kind == DW_OP_MOVE;
	if (op->status == DW_EUNKNOWN) {
		doubt(engine, head, op);
		engine->recover_again = true;
	}
	engine_resume(engine, index_find(&engine->index, op->id));
	call_answer(engine, call, op->status);
}

/* ---- Claims and verdicts ------------------------------------------------------------------- */

static void claim_answered(struct engine *engine, struct timer *timer, const dw_op *op)
{
	if (op->status == DW_OK) {
		engine->stats.duplicates += op->head.crashes > timer->head.crashes;
		timer->head.attempt = op->head.attempt;
		timer->head.crashes = op->head.crashes;
		timer->failures = 0;
		timer_set_state(engine, timer, TIMER_CLAIMED);
		if (op->head.crashes >= DW_CRASHES_MAX) {
			timer_set_state(engine, timer, TIMER_VERDICT);
			timer->reason = DW_REASON_CRASHED;
		}
	} else if (failed(op->status)) {
		timer_retry_later(engine, timer);
	} else {
		if (op->status == DW_ECORRUPT)
			corrupt(engine, timer);
		lose(engine, timer);
	}
}

static void count_verdict(struct engine *engine, const struct timer *timer, const dw_op *op)
{
	engine->stats.settled += op->kind == DW_OP_SETTLE;
	engine->stats.retried += op->kind == DW_OP_RETRY && (op->flags & DW_OP_VERDICT) != 0;
	if (op->kind == DW_OP_BURY) {
		dw_event event = {.kind = DW_EVENT_DEAD,
				  .status = op->reason == DW_REASON_LATE ? DW_ELATE : DW_ELIMIT,
				  .id = timer->id,
				  .topic = timer->topic->name};

		engine->stats.dead++;
		engine_event(engine, &event, "%s is dead: %s", timer->id,
			     dw_reason_name(op->reason));
		dead_forgotten(engine, op);
	}
}

static void verdict_answered(struct engine *engine, struct timer *timer, const dw_op *op)
{
	if (failed(op->status)) {
		/* A claim that may have been given back is no claim any more. */
		if (op->status == DW_EUNKNOWN && timer->state == TIMER_CLAIMED)
			timer_set_state(engine, timer, TIMER_PENDING);
		timer_retry_later(engine, timer);
		return;
	}
	if (op->status == DW_ECORRUPT)
		corrupt(engine, timer);
	if (op->status == DW_OK)
		count_verdict(engine, timer, op);
	if (op->status == DW_OK && op->kind == DW_OP_RETRY) {
		timer->head.due = op->head.due;
		timer->head.retries += (op->flags & DW_OP_VERDICT) != 0;
		timer->retry_at = 0;
		timer->failures = 0;
		timer_disarm(engine, timer);
		timer_set_state(engine, timer, TIMER_PENDING);
	} else {
		lose(engine, timer);
	}
}

/* past_answered: a claim or a verdict of an earlier reign, which memory has dropped. Only a
 * dw_settle may still want to know. */
static void past_answered(struct engine *engine, struct timer *timer, const dw_op *op)
{
	struct call *settling = op->kind == DW_OP_CLAIM ? NULL : timer->settling;
	bool known = op->status == DW_OK || op->status == DW_EUNKNOWN || op->status == DW_ECLOSED;

	if (settling)
		timer->settling = NULL;
	engine_resume(engine, timer);
	if (settling)
		call_answer(engine, settling, known ? op->status : DW_ESTALE);
}

/* timer_answered: an answer to what the engine asked for a timer. */
static void timer_answered(struct engine *engine, struct timer *timer, dw_op *op)
{
	struct call *settling = NULL;

	if (!own_is_current(engine, op)) {
		past_answered(engine, timer, op);
		return;
	}
	if (timer->head.generation == op->head.generation && timer->state != TIMER_ABSENT) {
		if (op->kind == DW_OP_CLAIM)
			claim_answered(engine, timer, op);
		else
			verdict_answered(engine, timer, op);
		if (op->kind != DW_OP_CLAIM && !failed(op->status)) {
			settling = timer->settling;
			timer->settling = NULL;
		}
	}
	if (op->status == DW_ESTALE) {
		/* What is stored is the truth, be it the same generation in another state. */
		if (timer->state == TIMER_ABSENT)
			timer->head.generation = 0;
		recover_learn_rows(engine, op->rows);
	}
	timer = index_find(&engine->index, op->id);
	engine_resume(engine, timer);
	if (settling)
		call_answer(engine, settling,
			    op->status == DW_ENOENT ? (int)DW_ESTALE : op->status);
}

/* ---- All answers --------------------------------------------------------------------------- */

/* account keeps the counters and notices that the store fails or is back. */
static void account(struct engine *engine, const dw_op *op)
{
	engine->progress_at = engine_steady(engine);
	if (op->urgent)
		engine->urgent_inflight--;
	else if (!op_is_parked(op))
		engine->ordinary_inflight--;
	if (op->urgent && op->status == DW_OK)
		lead_learn(&engine->lead, engine->progress_at - op->sent, op->batch);
	if (failed(op->status) && op->status != DW_ECLOSED)
		engine_note_error(engine, op->status);
	if (failed(op->status) && op->status != DW_ECLOSED && !op->call)
		engine_store_failed(engine, op->status, op->id);
	else if (op->status == DW_OK || op->status == DW_EOWNED || op->status == DW_EFENCED ||
		 op->status == DW_ENEWER)
		engine_store_back(engine);
}

/* tell_mended: nothing is lost, but whoever keeps the disk should know. */
static void tell_mended(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT};

	engine_event(engine, &event,
		     "the store is damaged: an index did not match its timers, and was rebuilt"
		     " from them");
}

/* store_answered takes an answer that is about the store, or about what no timer waits for. */
static bool store_answered(struct engine *engine, dw_op *op)
{
	switch (op->kind) {
	case DW_OP_SCAN:
		(op->call ? call_answer_ask : recover_scanned)(engine, op);
		return true;
	case DW_OP_AUDIT:
		recover_audited(engine, op);
		return true;
	case DW_OP_INBOX:
		recover_inbox(engine, op);
		return true;
	case DW_OP_GET:
	case DW_OP_STATUS:
	case DW_OP_DEAD_SCAN:
	case DW_OP_DROP:
	case DW_OP_CHECK:
		call_answer_ask(engine, op);
		return true;
	case DW_OP_OWN:
	case DW_OP_DISOWN:
		own_answered(engine, op);
		return true;
	case DW_OP_PURGE:
		whole_purged(engine, op);
		return true;
	case DW_OP_REPORT:
		dead_forgotten(engine, op);
		return true;
	case DW_OP_LOSS:
		loss_answered(engine, op);
		return true;
	case DW_OP_REPUSH:
		loss_push_answered(engine, op);
		return true;
	case DW_OP_ACK:
		return true;
	default:
		return false;
	}
}

static void answered(struct engine *engine, dw_op *op)
{
	struct timer *head;

	account(engine, op);
	if (op->flags & DW_OP_MENDED)
		tell_mended(engine);
	if (op->status == DW_EFENCED && own_is_current(engine, op))
		own_lose(engine, DW_EFENCED);
	if (store_answered(engine, op))
		return;
	if (op->kind == DW_OP_BURY && op->reason == DW_REASON_CORRUPT) {
		dead_damaged_buried(engine, op);
		return;
	}
	head = index_find(&engine->index, op->id);
	assert(head && head->busy);
	head->busy = false;
	if (!failed(op->status))
		engine->served_at = engine->progress_at;
	else if (engine->troubled)
		patience_fail(engine, head); /* the store is away: they would fail, too */
	if (op->kind == DW_OP_PUT)
		put_answered(engine, head, op);
	else if (op->kind == DW_OP_CANCEL)
		cancel_answered(engine, head, op);
	else if (op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE)
		move_answered(engine, head, op);
	else
		timer_answered(engine, head, op);
}

/* fetch_ahead: the places in the index of the timers that the next answers are about. */
static void fetch_ahead(const struct engine *engine)
{
	const dw_op *op = engine->answers.first;

	for (int i = 0; op && i < FETCHED_AHEAD; i++, op = op->next)
		if (op->id)
			index_fetch_bucket(&engine->index, op->id);
	op = engine->answers.first;
	for (int i = 0; op && i < FETCHED_AHEAD; i++, op = op->next)
		if (op->id)
			index_fetch_timer(&engine->index, op->id);
}

void answer_round(struct engine *engine)
{
	op_queue_append(&engine->answers, engine->store->type->collect(engine->store));
	for (uint32_t i = 0; i < TURN_ANSWERS_MAX; i++) {
		dw_op *op;

		if (i % FETCHED_AHEAD == 0)
			fetch_ahead(engine);
		op = op_queue_pop(&engine->answers);
		if (!op)
			return;
		answered(engine, op);
		if (!call_has(op))
			op_free(&engine->alloc, op);
		tell_round(engine);
	}
}
