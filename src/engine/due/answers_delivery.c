/* Applies the answers to claims and verdicts. */
#include <string.h>

#include "engine/answers.h"
#include "engine/core.h"
#include "engine/heal/damaged.h"
#include "engine/heal/learn.h"
#include "engine/call/lifecycle.h"
#include "engine/queue/messages.h"

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
	} else if (answers_failed(op->status)) {
		timer_retry_later(engine, timer);
	} else {
		if (op->status == DW_ECORRUPT)
			damaged_timer(engine, timer);
		timer_drop(engine, timer);
	}
}

/* status_of returns the status that DW_EVENT_DEAD has for this reason. */
static int status_of(dw_reason reason)
{
	if (reason == DW_REASON_GAVE_UP)
		return DW_OK;
	return reason == DW_REASON_LATE ? DW_ELATE : DW_ELIMIT;
}

/* ends_well returns true if the operation ends a delivery whose handler has done its work. */
static bool ends_well(const struct timer *timer, const dw_op *op)
{
	return op->kind == DW_OP_SETTLE || (op->kind == DW_OP_NEXT && !op->reason &&
					    !timer->skips && timer->state == TIMER_VERDICT);
}

static void count_verdict(struct engine *engine, const struct timer *timer, const dw_op *op)
{
	engine->stats.settled += ends_well(timer, op);
	if (ends_well(timer, op))
		topic_counted(&engine->topics, timer->topic, TOPIC_DONE);
	if (op->kind == DW_OP_RETRY && (op->flags & DW_OP_VERDICT) != 0) {
		engine->stats.retried++;
		topic_counted(&engine->topics, timer->topic, TOPIC_RETRIED);
	}
	if (op->reason) {
		dw_event event = {.kind = DW_EVENT_DEAD,
				  .status = status_of(op->reason),
				  .id = timer->id,
				  .topic = timer->topic->name,
				  .why = timer->why ? timer->why->bytes : NULL};

		engine->stats.dead++;
		topic_counted(&engine->topics, timer->topic, TOPIC_DEAD);
		event_raise(engine, &event, "%s is dead: %s%s%s", timer->id,
			    dw_reason_name(op->reason), timer->why ? ": " : "",
			    timer->why ? timer->why->bytes : "");
		damaged_dropped(engine, op);
	}
}

/* asked_generation returns the generation of the timer that the operation was about. */
static uint64_t asked_generation(const dw_op *op)
{
	return op->kind == DW_OP_NEXT ? op->after.generation : op->head.generation;
}

/* is_done_before returns true if an earlier attempt of this NEXT was applied. */
static bool is_done_before(const dw_op *op)
{
	const dw_row *row = op->rows;

	return op->kind == DW_OP_NEXT && op->status == DW_ESTALE && row && row->status == DW_OK &&
	       row->head.state == DW_PENDING && row->head.due == op->head.due &&
	       row->body_size == op->body_size && memcmp(row->body, op->body, op->body_size) == 0;
}

/* renew updates the timer in memory, which now waits for its next occurrence. */
static void renew(struct timer *timer, const dw_op *op)
{
	timer_renew(timer, op->body);
	timer->head = op->head;
	timer->provisional = op->level == DW_JOURNALED;
	timer->reason = 0;
	timer->skips = timer->no_retry = false;
	timer->started = 0;
}

/* wait_again updates the timer in memory, which is pending once more. */
static void wait_again(struct engine *engine, struct timer *timer)
{
	bool is_refused = timer->refused;

	timer->refused = false;
	timer->retry_at = 0;
	timer_forget_said(timer, &engine->alloc);
	timer->uncounted = false;
	timer->pushes = false;
	timer->failures = 0;
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_PENDING);
	if (is_refused)
		timer_await_limit(engine, timer, usec_add(engine_now(engine), timer->retry_in));
}

static void verdict_answered(struct engine *engine, struct timer *timer, const dw_op *op)
{
	if (answers_failed(op->status)) {
		/* The store may have taken the claim back, so the claim does not count any more. */
		if (op->status == DW_EUNKNOWN && timer->state == TIMER_CLAIMED)
			timer_set_state(engine, timer, TIMER_PENDING);
		timer_retry_later(engine, timer);
		return;
	}
	if (op->message && op->message->status != DW_OK) {
		messages_refused(engine, timer, op->message);
		return;
	}
	if (op->status == DW_ECORRUPT)
		damaged_timer(engine, timer);
	if (op->status == DW_OK && op->message)
		messages_entered(engine, timer);
	if (op->status == DW_OK)
		count_verdict(engine, timer, op);
	if (op->status == DW_OK && op->kind == DW_OP_RETRY) {
		timer->head.due = op->head.due;
		timer->head.retries += (op->flags & DW_OP_VERDICT) != 0;
		wait_again(engine, timer);
	} else if (op->status == DW_OK && op->kind == DW_OP_NEXT) {
		renew(timer, op);
		wait_again(engine, timer);
	} else {
		timer_drop(engine, timer);
	}
}

/* past_answered handles the answer to a claim or a verdict of an earlier term. Memory has dropped
 * that timer. Only a dw_settle may still wait for the answer. */
static void past_answered(struct engine *engine, struct timer *timer, const dw_op *op)
{
	struct call *settling = op->kind == DW_OP_CLAIM ? NULL : timer->settling;
	bool known = op->status == DW_OK || op->status == DW_EUNKNOWN || op->status == DW_ECLOSED;

	if (settling)
		timer->settling = NULL;
	lifecycle_resume(engine, timer);
	if (settling && known)
		call_answer_stored(engine, settling, op);
	else
		call_answer_stale(engine, settling);
}

void answers_delivery(struct engine *engine, struct timer *timer, dw_op *op)
{
	struct call *settling = NULL;

	if (!shards_is_current(&engine->shards, timer->shard, op)) {
		past_answered(engine, timer, op);
		return;
	}
	if (is_done_before(op)) {
		op->status = DW_OK;
		op->head = op->rows->head;
	}
	if (timer->head.generation == asked_generation(op) && timer->state != TIMER_ABSENT) {
		if (op->kind == DW_OP_CLAIM)
			claim_answered(engine, timer, op);
		else
			verdict_answered(engine, timer, op);
		if (op->kind != DW_OP_CLAIM && !answers_failed(op->status)) {
			settling = timer->settling;
			timer->settling = NULL;
		}
	}
	if (op->status == DW_ESTALE) {
		/* The stored row decides, even if it is the same generation in another state. */
		if (timer->state == TIMER_ABSENT)
			timer->head.generation = 0;
		learn_rows(engine, op->rows);
	}
	timer = index_find(&engine->timers.index, op->id);
	if (timer) /* NULL: a newer durawheel has replaced the timer, so memory has dropped it */
		lifecycle_resume(engine, timer);
	if (settling && op->status == DW_ENOENT)
		call_answer_stale(engine, settling);
	else if (settling)
		call_answer_stored(engine, settling, op);
}
