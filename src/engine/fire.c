/* Delivery: claim a little ahead, fire when due and claimed, bring the verdict to the store. */
#include "engine/internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "timer/record.h"
#include "timer/retry.h"

/* send submits an operation on the timer that firing waits for; without memory, later. */
static void send(struct engine *engine, struct timer *timer, dw_op *op)
{
	if (!op) {
		timer_retry_later(engine, timer);
		return;
	}
	if (op->head.generation == 0)
		op->head = timer->head;
	timer->busy = true;
	engine_submit(engine, op, true);
}

/* ---- Claiming ------------------------------------------------------------------------------ */

/* is_known: what is stored of it is known to the last byte: it was put by us, or scanned, and never
 * claimed. Until the scan is over another owner, or a client, may have been there since. */
static bool is_known(const struct engine *engine, const struct timer *timer)
{
	const dw_head *head = &timer->head;

	return engine->recovery == RECOVERY_IDLE && !engine->recover_again && !timer->unsure &&
	       timer->body_size > 0 && timer->body_size <= KNOWN_BODY_MAX &&
	       head->state == DW_PENDING && head->attempt == 0 && head->retries == 0 &&
	       head->crashes == 0 && head->open == 0;
}

static dw_op *claim_op(struct engine *engine, struct timer *timer)
{
	dw_op *op;

	if (!is_known(engine, timer))
		return op_new(&engine->alloc, DW_OP_CLAIM, timer->id, NULL, 0);
	op = op_new(&engine->alloc, DW_OP_CLAIM, timer->id, timer->body, timer->body_size);
	if (op)
		op->flags |= DW_OP_KNOWN;
	return op;
}

static void claim(struct engine *engine, struct timer *timer)
{
	if (!topic_handled(&engine->topics, timer->topic)) {
		dw_event event = {.kind = DW_EVENT_NO_HANDLER,
				  .id = timer->id,
				  .topic = timer->topic->name,
				  .count = timer->topic->unhandled_count + 1};

		topic_park(&engine->topics, timer);
		timer->place = PLACE_UNHANDLED;
		engine->stats.unhandled++;
		if (event.count == 1)
			engine_event(engine, &event, "no handler for topic %s: its timers wait",
				     timer->topic->name);
		return;
	}
	send(engine, timer, claim_op(engine, timer));
}

/* deliver_claim_round claims what is due within one lead, and with it what is due within two: so a
 * quiet engine claims in few, fuller batches. */
void deliver_claim_round(struct engine *engine, dw_usec now)
{
	dw_usec lead = engine_lead(engine);
	dw_usec until = usec_add(now, 2 * lead);

	if (schedule_wake(&engine->claim) > usec_add(now, lead))
		return;
	for (uint32_t i = 0; i < TURN_CLAIMS_MAX; i++) {
		struct timer *timer;

		if (engine->urgent_inflight + engine->urgent.count >= URGENT_MAX)
			return;
		timer = schedule_pop(&engine->claim, until);
		if (!timer)
			return;
		timer->place = PLACE_NONE;
		/* A busy one comes back when its operation is answered. */
		if (!timer->busy)
			claim(engine, timer);
		tell_round(engine);
	}
}

void deliver_revive(struct engine *engine)
{
	for (uint32_t i = 0; i < TURN_CLAIMS_MAX; i++) {
		struct topic *topic = topics_revivable(&engine->topics);
		struct timer *timer = topic ? topic->unhandled : NULL;

		if (!timer)
			return;
		timer_disarm(engine, timer);
		timer_arm_claim(engine, timer);
	}
}

void deliver_give_back(struct engine *engine, struct timer *timer)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_RETRY, timer->id, NULL, 0);

	timer_disarm(engine, timer);
	send(engine, timer, op);
}

/* bring_forward: a hold or a pause that the step back has made longer than it was ever meant. */
static void bring_forward(struct engine *engine, struct timer *timer, dw_usec now)
{
	bool waiting = timer->waiting;
	dw_usec latest = usec_add(now, waiting ? RETRY_STORE_MAX : engine->env.hold);

	if (timer->slot_time <= latest)
		return;
	timer_disarm(engine, timer);
	timer_arm_fire(engine, timer, latest);
	timer->waiting = waiting;
}

/* recheck_timer looks at the first of a topic's unhandled: if it is not due any more, it is pending
 * as before; else it goes to the end. */
static void recheck_timer(struct engine *engine, struct timer *timer, dw_usec until)
{
	struct topics *topics = &engine->topics;

	if (timer->head.due > until) {
		timer_disarm(engine, timer);
		timer_arm_claim(engine, timer);
	} else if (timer->next) {
		topic_unpark(topics, timer);
		topic_park(topics, timer);
	}
}

/* recheck goes once around the unhandled of each topic, some of them a turn. */
static void recheck(struct engine *engine, dw_usec now)
{
	dw_usec until = usec_add(now, 2 * engine_lead(engine));

	for (uint32_t i = 0; i < TURN_SWEEP_MAX && engine->topics.recheck; i++) {
		struct topic *topic = engine->topics.recheck;

		if (topic->recheck == 0) {
			topics_rechecked(&engine->topics);
			continue;
		}
		topic->recheck--;
		recheck_timer(engine, topic->unhandled, until);
	}
}

void deliver_stepped_back(struct engine *engine)
{
	engine->sweep = schedule_size(&engine->fire);
	engine->sweep_work = schedule_size(&engine->work);
	topics_recheck(&engine->topics);
}

static void sweep(struct engine *engine, struct schedule *schedule, uint32_t *left, dw_usec now)
{
	for (uint32_t i = 0; i<TURN_SWEEP_MAX && * left> 0; i++) {
		struct timer *timer = schedule_at(schedule, --*left);

		if (!timer)
			continue;
		if (timer->waiting || timer->state == TIMER_HELD)
			bring_forward(engine, timer, now);
		else if (timer->state == TIMER_CLAIMED && !timer->busy &&
			 timer->head.due > usec_add(now, 4 * LEAD_MAX))
			deliver_give_back(engine, timer);
	}
}

/* deliver_sweep looks at all that is armed, or parked, when the clock was stepped back. Claims that
 * are far ahead now are given back, so that others can cancel these timers again. */
void deliver_sweep(struct engine *engine, dw_usec now)
{
	recheck(engine, now);
	sweep(engine, &engine->fire, &engine->sweep, now);
	sweep(engine, &engine->work, &engine->sweep_work, now);
}

/* ---- Firing -------------------------------------------------------------------------------- */

static void hold(struct engine *engine, struct timer *timer)
{
	if (engine->stats.held >= DW_HOLDS_MAX) {
		dw_event event = {.kind = DW_EVENT_LIMIT,
				  .status = DW_ELIMIT,
				  .id = timer->id,
				  .topic = timer->topic->name,
				  .count = DW_HOLDS_MAX};

		engine_event(engine, &event, "%d firings are held: %s is delivered again later",
			     DW_HOLDS_MAX, timer->id);
		timer_set_state(engine, timer, TIMER_VERDICT);
		timer->verdict = DW_RETRY;
		timer->retry_in = -1;
		engine_resume(engine, timer);
		return;
	}
	timer_set_state(engine, timer, TIMER_HELD);
	/* A call that waits to be sent again is armed: what follows it arms the time-out. */
	if (timer->place == PLACE_NONE)
		timer_arm_fire(engine, timer, usec_add(engine_now(engine), engine->env.hold));
}

/* deliver_begin: the handler is about to start. */
void deliver_begin(struct engine *engine, struct timer *timer, dw_usec now)
{
	timer_set_state(engine, timer, TIMER_FIRING);
	timer->no_retry = false;
	engine->stats.fired++;
	engine->stats.lag_us = usec_sub(now, timer->head.due);
	engine->stats.lag_max_us = usec_max(engine->stats.lag_max_us, engine->stats.lag_us);
}

/* read_verdict: what is no verdict loses nothing, it is delivered again; but the handler is wrong,
 * and its author is to hear of it. */
static dw_verdict read_verdict(struct engine *engine, const struct timer *timer, dw_verdict verdict)
{
	char line[DW_MESSAGE_SIZE];

	if (verdict == DW_DONE || verdict == DW_RETRY || verdict == DW_HOLD)
		return verdict;
	(void)snprintf(line, sizeof line,
		       "the handler of topic %s returned %d, which is no verdict: it counts as "
		       "DW_RETRY",
		       timer->topic->name, (int)verdict);
	if (engine->env.on_log)
		engine->env.on_log(DW_LOG_ERROR, line, engine->env.on_log_user);
	return DW_RETRY;
}

void deliver_judge(struct engine *engine, struct timer *timer, dw_verdict verdict, dw_usec retry_in)
{
	struct call *settling = timer->settling;

	verdict = read_verdict(engine, timer, verdict);
	if (settling) { /* called before the worker said that it holds, if it does */
		settling->early = false;
		if (verdict == DW_HOLD) {
			verdict = settling->verdict;
			retry_in = settling->retry_in;
			settling->asked = engine_steady(engine);
			patience_begin(engine, settling);
		} else {
			timer->settling = NULL;
			call_answer(engine, settling, DW_ESTALE);
		}
	}
	if (verdict == DW_HOLD) {
		hold(engine, timer);
		return;
	}
	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->verdict = verdict == DW_DONE ? DW_DONE : DW_RETRY;
	timer->retry_in = retry_in;
	engine_resume(engine, timer);
}

/* A delivery whose handler runs on this thread. */
struct delivery {
	struct engine *engine;
	struct timer *timer;
	dw_verdict verdict;
};

static void end_delivery(struct delivery *delivery)
{
	struct engine *engine = delivery->engine;

	engine->callback_depth--;
	engine->firing = NULL;
	deliver_judge(engine, delivery->timer, delivery->verdict, engine->retry_in);
}

/* call_handler: one that ends by an exception has said DW_RETRY. */
static void call_handler(struct engine *engine, struct timer *timer, const dw_firing *firing)
{
	struct delivery delivery AT_END(end_delivery) = {engine, timer, DW_RETRY};
	struct topic *topic = timer->topic;
	dw_fire_fn fire = topic->fire ? topic->fire : engine->topics.any_fire;
	void *user = topic->fire ? topic->user : engine->topics.any_user;

	engine->retry_in = -1;
	engine->firing = timer;
	engine->callback_depth++;
	delivery.verdict = fire(engine->env.handle, firing, user);
}

static void fire(struct engine *engine, struct timer *timer, dw_usec now)
{
	dw_token token = {.generation = timer->head.generation, .attempt = timer->head.attempt};
	dw_firing firing = {.size = sizeof firing,
			    .id = timer->id,
			    .topic = timer->topic->name,
			    .due = timer->head.due,
			    .now = now,
			    .attempt = timer->head.attempt,
			    .data = timer->data,
			    .data_size = timer->data_size,
			    .token = &token};

	memcpy(token.id, timer->id, strlen(timer->id) + 1);
	deliver_begin(engine, timer, now);
	call_handler(engine, timer, &firing);
}

static void unhold(struct engine *engine, struct timer *timer)
{
	dw_event event = {.kind = DW_EVENT_HOLD_EXPIRED,
			  .status = DW_ETIMEOUT,
			  .id = timer->id,
			  .topic = timer->topic->name};

	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->verdict = DW_RETRY;
	timer->retry_in = 0;
	engine_event(engine, &event, "%s was held and not settled: it is delivered again",
		     timer->id);
	engine_resume(engine, timer);
}

static bool too_late(const struct timer *timer, dw_usec now)
{
	return timer->late_after > 0 && usec_sub(now, timer->head.due) > timer->late_after;
}

/* deliver_due handles a timer whose moment in the schedule of fire or of work has come. One for a
 * worker that is free only comes from the latter, so that none overtakes those that wait. */
void deliver_due(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	if (timer->waiting || timer->state == TIMER_PENDING) {
		timer->waiting = false;
		engine_resume(engine, timer);
	} else if (timer->state == TIMER_HELD) {
		unhold(engine, timer);
	} else if (timer->busy) {
		return; /* it comes back when its operation is answered */
	} else if (!topic_handled(&engine->topics, timer->topic)) {
		deliver_give_back(engine, timer);
	} else if (too_late(timer, now)) {
		engine->stats.late++;
		deliver_bury(engine, timer, DW_REASON_LATE);
	} else if (work_is_for(engine, timer)) {
		if (from_work) {
			work_start(engine, timer, now);
		} else {
			work_await(engine, timer);
			(void)work_next(engine); /* at once: a handler of the loop may be next */
		}
	} else {
		fire(engine, timer, now);
	}
}

/* deliver_may_start: what a purge deletes must not start once it is gone from the store, although
 * the answer that says so is still on its way: a client could have used the id again. And a handler
 * may have forked: this may be the child. The lease comes last, it must hold when the handler
 * starts. */
bool deliver_may_start(const struct engine *engine)
{
	return !engine->closing && !engine->paused && engine->purging == 0 &&
	       engine->pid == getpid() && own_lease_holds(engine);
}

void deliver_fire_round(struct engine *engine)
{
	for (uint32_t i = 0; i < TURN_FIRINGS_MAX && deliver_may_start(engine); i++) {
		/* Read again for each: a handler takes its time, and the clock may have been set
		 * back since the last one. */
		dw_usec now = engine_now(engine);
		struct timer *timer = schedule_pop(&engine->fire, now);

		if (!timer)
			return;
		assert(timer->state != TIMER_CLAIMED || timer->waiting || timer->head.due <= now);
		timer->place = PLACE_NONE;
		deliver_due(engine, timer, now, false);
		tell_round(engine);
	}
}

/* ---- The verdict --------------------------------------------------------------------------- */

/* retry_op: back to pending after the handler's delay or the policy's; dead when there were too
 * many. */
static dw_op *retry_op(struct engine *engine, struct timer *timer)
{
	dw_op *op;

	if (timer->head.retries >= DW_RETRIES_MAX) {
		timer->reason = DW_REASON_RETRIES;
		return op_new(&engine->alloc, DW_OP_BURY, timer->id, NULL, 0);
	}
	op = op_new(&engine->alloc, DW_OP_RETRY, timer->id, NULL, 0);
	if (!op)
		return NULL;
	if (timer->retry_in < 0)
		timer->retry_in = retry_delay(timer->head.retries, &engine->rng);
	/* Asked again after an unknown outcome it must name the same deadline. */
	if (timer->retry_at == 0)
		timer->retry_at = usec_add(engine_now(engine), timer->retry_in);
	op->flags |= DW_OP_VERDICT;
	op->head = timer->head;
	op->head.due = timer->retry_at;
	return op;
}

void deliver_verdict(struct engine *engine, struct timer *timer)
{
	dw_op *op;

	assert(timer->state == TIMER_VERDICT && !timer->busy);
	if (timer->reason)
		op = op_new(&engine->alloc, DW_OP_BURY, timer->id, NULL, 0);
	else if (timer->verdict == DW_RETRY && !timer->no_retry)
		op = retry_op(engine, timer);
	else
		op = op_new(&engine->alloc, DW_OP_SETTLE, timer->id, NULL, 0);
	if (op && op->kind == DW_OP_BURY)
		op->reason = (dw_reason)timer->reason;
	if (op && op->kind == DW_OP_SETTLE && !timer->purged)
		op->flags |= DW_OP_KNOWN; /* our claim: only a client can have changed it */
	send(engine, timer, op);
}

void deliver_bury(struct engine *engine, struct timer *timer, dw_reason reason)
{
	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->reason = (uint8_t)reason;
	engine_resume(engine, timer);
}
