#include "engine/call/lifecycle.h"

#include "engine/core.h"
#include "engine/rule/put_off.h"
#include "engine/due/urgent.h"
#include "port/driven.h"
#include "topic/returns.h"

#define RESCHEDULED_A_TURN 512u

/* ---- Beginning a call ---------------------------------------------------------------------- */

static void send_call(struct engine *engine, struct timer *timer, struct call *call)
{
	dw_op *op = call->op;

	call->op = NULL;
	ticket_of(op)->call = call;
	op->asked = call->internal ? 0 : call->asked;
	timer_set_busy(&engine->shards, timer, true);
	submit_push(&engine->submit, op, false);
}

static void begin_put(struct engine *engine, struct timer *timer, struct call *call)
{
	dw_op *op = call->op;
	dw_usec soon = usec_add(engine_now(engine), submit_lead(engine));
	bool owned = engine->shards.all[timer->shard].owned;

	if (timer->state == TIMER_CLAIMED && !(op->flags & DW_OP_NEW))
		op->flags |= DW_OP_WITHDRAWN;
	call->due = op->head.due;
	if (op->flags & DW_OP_EXACT)
		; /* the operation names a generation already */
	else if (timer->state != TIMER_ABSENT)
		op->head.generation = timer->head.generation;
	else if (owned && recovery_is_over(&engine->recovery, timer->shard))
		op->flags |= DW_OP_ABSENT;
	/* A timer that is due sooner than it could be claimed is stored as claimed. */
	if (owned && !engine->drive.closing && !engine->delivery.paused && op->head.due <= soon &&
	    engine->shards.all[timer->shard].giving == GIVING_NOT && !call->fresh->topic->is_full &&
	    topic_handler(&engine->topics, call->fresh->topic))
		op->flags |= DW_OP_CLAIMED;
	send_call(engine, timer, call);
}

static bool is_being_delivered(const struct timer *timer)
{
	return timer->state == TIMER_FIRING || timer->state == TIMER_HELD ||
	       timer->state == TIMER_VERDICT;
}

/* begin_change begins a cancel or a move. Either comes too late for a delivery that is under way.
 * Otherwise the store compares, if it names a generation that memory has not learnt yet. */
static void begin_change(struct engine *engine, struct timer *timer, struct call *call)
{
	uint64_t generation = call->op->head.generation;
	bool is_exact = call->op->flags & DW_OP_EXACT;

	if (is_exact && timer->state != TIMER_ABSENT && timer->head.generation > generation) {
		call_answer(engine, call, DW_ENOENT);
		return;
	}
	if (is_being_delivered(timer)) {
		if (call->kind == CALL_CANCEL &&
		    (!is_exact || timer->head.generation == generation))
			timer->no_retry = true;
		call_answer(engine, call, DW_ELATE);
		return;
	}
	if (timer->state != TIMER_ABSENT && !is_exact)
		call->op->head.generation = timer->head.generation;
	/* The timer has not started, so its claim is taken back. This also covers a claim whose
	 * answer was lost. */
	if (engine->shards.all[timer->shard].owned)
		call->op->flags |= DW_OP_WITHDRAWN;
	send_call(engine, timer, call);
}

static bool holds(const struct timer *timer, uint64_t generation, uint32_t attempt)
{
	return timer && timer->state == TIMER_HELD && timer->head.generation == generation &&
	       timer->head.attempt == attempt;
}

/* may_hold returns true if a worker runs this delivery and may still return DW_HOLD. Its handler
 * may have handed the token over to another thread, which settles before the handler returns. */
static bool may_hold(const struct timer *timer, uint64_t generation, uint32_t attempt)
{
	return timer && timer->state == TIMER_FIRING && timer->on_worker && !timer->settling &&
	       timer->head.generation == generation && timer->head.attempt == attempt;
}

bool lifecycle_is_open(const struct timer *timer, uint64_t generation, uint32_t attempt)
{
	return holds(timer, generation, attempt) || may_hold(timer, generation, attempt);
}

static void begin_settle(struct engine *engine, struct timer *timer, struct call *call)
{
	if (may_hold(timer, call->generation, call->attempt)) {
		call->early = true;
		timer->settling = call;
		return;
	}
	if (!holds(timer, call->generation, call->attempt)) {
		call_answer(engine, call, DW_ESTALE);
		return;
	}
	report_held(engine, timer);
	timer_disarm(engine, timer);
	timer->uncounted = timer->unstarted; /* the handler has not begun, so this is no retry */
	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->verdict = (uint8_t)call->verdict;
	timer->retry_in = call->retry_in;
	timer->settling = call;
	patience_begin(&engine->patience, call);
	urgent_verdict(engine, timer);
}

static void begin(struct engine *engine, struct timer *timer, struct call *call)
{
	switch (call->kind) {
	case CALL_PUT:
		begin_put(engine, timer, call);
		break;
	case CALL_CANCEL:
	case CALL_MOVE:
		begin_change(engine, timer, call);
		break;
	case CALL_REQUEUE:
		send_call(engine, timer, call);
		break;
	case CALL_SETTLE:
	default:
		begin_settle(engine, timer, call);
		break;
	}
}

/* ---- What is next -------------------------------------------------------------------------- */

/* back_off_again gives back the claim of a timer whose retry had to wait for too long, because a
 * clock was far ahead (put_off.h). The timer then waits for a new delay. */
static void back_off_again(struct engine *engine, struct timer *timer)
{
	dw_usec delay =
	    settings_retry_delay(&timer->topic->settings, timer->head.retries - 1, &engine->rng);

	timer->verdict = DW_RETRY;
	timer->uncounted = true;
	timer->retry_at = returns_due(usec_add(engine_now(engine), delay), true);
	timer_set_state(engine, timer, TIMER_VERDICT);
}

/* await_claim lets a pending timer wait until it is claimed. If the timer is due and its queue is
 * full, the timer waits in the order of its topic (topic/order.h). */
static void await_claim(struct engine *engine, struct timer *timer)
{
	if (timer->topic->is_full && timer->head.due <= engine_now(engine))
		timer_await_handler(engine, timer);
	else
		timer_arm_claim(engine, timer);
}

/* await_start lets a claimed timer wait for its deadline. If its queue is full, and the timer is
 * one of the timers that are tried, the timer waits until the other tried timers are claimed,
 * too. */
static void await_start(struct engine *engine, struct timer *timer)
{
	if (timer->topic->is_full && timer->trying)
		timer_await_handler(engine, timer);
	else
		timer_arm_fire(&engine->timers, timer, timer->head.due);
}

/* go_on does what the timer's state asks for, because no call waits. */
static void go_on(struct engine *engine, struct timer *timer)
{
	switch ((enum timer_state)timer->state) {
	case TIMER_ABSENT:
		index_remove(&engine->timers.index, timer);
		timer_release(engine, timer);
		break;
	case TIMER_PENDING:
		if (timer->place == PLACE_NONE)
			await_claim(engine, timer);
		break;
	case TIMER_CLAIMED:
		if (engine->drive.closing) {
			urgent_give_back(engine, timer);
		} else if (put_off_is(engine, timer)) {
			back_off_again(engine, timer);
			urgent_verdict(engine, timer);
		} else if (timer->place == PLACE_NONE) {
			await_start(engine, timer);
		}
		break;
	case TIMER_VERDICT:
		urgent_verdict(engine, timer);
		break;
	case TIMER_HELD:
		/* An operation was backing off, and the schedule slot of the hold's time-out was
		 * used for that. Now the time-out is armed. */
		if (timer->place == PLACE_NONE && !engine->drive.closing)
			timer_arm_fire(&engine->timers, timer,
				       usec_add(engine_now(engine), engine->env.hold));
		break;
	case TIMER_FIRING:
		break;
	}
}

/* rests returns true if no operation of the timer is under way or waits to be tried again. */
static bool rests(const struct timer *timer)
{
	return !timer->busy && !timer->backing_off;
}

void lifecycle_resume(struct engine *engine, struct timer *timer)
{
	while (timer->calls && rests(timer)) {
		struct call *call = timer->calls;

		if (shards_suspend_call(engine, timer))
			return;
		timer->calls = call->next;
		patience_end(&engine->patience, call);
		begin(engine, timer, call);
	}
	if (rests(timer))
		go_on(engine, timer);
}

/* withdraw takes a timer that has not started out of the schedules, before a call changes it. */
static void withdraw(struct engine *engine, struct timer *timer)
{
	if (timer->state == TIMER_PENDING || timer->state == TIMER_CLAIMED || timer->backing_off ||
	    timer->place == PLACE_SUSPENDED)
		timer_disarm(engine, timer);
}

void lifecycle_start(struct engine *engine, struct timer *timer, struct call *call)
{
	bool is_new = call->op && call->op->flags & DW_OP_NEW;

	if (call->op)
		call_charge(&engine->calls, call, call->op);
	if (call->kind != CALL_SETTLE && !is_new)
		withdraw(engine, timer);
	if (!timer->calls && rests(timer) && !shards_suspend_call(engine, timer)) {
		begin(engine, timer, call);
	} else {
		call_queue(timer, call);
		patience_begin(&engine->patience, call);
	}
	lifecycle_resume(engine, timer);
	engine_touch(engine);
}

void lifecycle_reschedule(struct engine *engine)
{
	struct timer *timer = engine->timers.unscheduled.first;

	for (uint32_t i = 0; timer && i < RESCHEDULED_A_TURN; i++) {
		struct timer *next = timer->next;
		bool backing_off = timer->backing_off;

		timer_disarm(engine, timer);
		if (backing_off || timer->state == TIMER_HELD) {
			timer_arm_fire(&engine->timers, timer,
				       usec_add(engine_now(engine), engine->env.hold));
			timer->backing_off = backing_off;
		} else {
			lifecycle_resume(engine, timer);
		}
		timer = next;
	}
}
