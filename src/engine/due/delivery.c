#include "engine/due/delivery.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "engine/due/urgent.h"
#include "engine/rule/occurrences.h"
#include "port/driven.h"

/* A timer that a purge deletes in the store must not start after that, even while the answer is on
 * its way, because a client could have used its id again. A handler may have forked, and this may
 * be the child: therefore the process is compared. lease_suspend() looks at the lease of each
 * timer. */
bool delivery_may_start(const struct engine *engine)
{
	return !engine->drive.closing && !engine->delivery.paused &&
	       engine->maintenance.purging == 0 && engine->drive.pid == getpid();
}

bool delivery_is_late(const struct timer *timer, dw_usec now)
{
	return timer->late_after > 0 && usec_sub(now, timer->head.due) > timer->late_after;
}

void delivery_bury_late(struct engine *engine, struct timer *timer)
{
	engine->stats.late++;
	topic_counted(&engine->topics, timer->topic, TOPIC_LATE);
	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->reason = DW_REASON_LATE;
	lifecycle_resume(engine, timer);
}

dw_firing delivery_firing(struct engine *engine, const struct timer *timer, dw_token *ret_token)
{
	dw_firing firing = {.size = sizeof firing,
			    .id = timer->id,
			    .topic = timer->topic->name,
			    .due = timer->head.due,
			    .attempt = timer->head.attempt,
			    .data = timer->data,
			    .data_size = timer->data_size,
			    .token = ret_token};

	ret_token->generation = timer->head.generation;
	ret_token->attempt = timer->head.attempt;
	memcpy(ret_token->id, timer->id, strlen(timer->id) + 1);
	occurrence_show(engine, timer, &firing);
	return firing;
}

/* waited_until returns how long the timer waited on purpose, in a pause or for its batch. This time
 * does not count as lateness. */
static float waited_until(const struct delivery *delivery, const struct timer *timer, dw_usec now)
{
	dw_usec until = usec_max(timer->topic->held_until, delivery->held_until);
	dw_usec waited = usec_sub(usec_min(until, now), timer->head.due);

	return waited > 0 ? (float)waited : 0;
}

static dw_usec lateness(const struct timer *timer)
{
	dw_usec late = usec_sub(timer->started, timer->head.due);

	return usec_max(usec_sub(late, (dw_usec)timer->waited), 0);
}

static void count_start(struct engine *engine, const struct timer *timer)
{
	dw_usec late = lateness(timer);

	engine->report.waited += (uint64_t)timer->waited;
	engine->stats.lag_us = late;
	engine->stats.lag_max_us = usec_max(engine->stats.lag_max_us, late);
	histogram_add(&engine->report.late, late);
	topic_started(&engine->topics, timer->topic, late);
}

/* uncount_start takes a start out of the counters, because the delivery has not started. The maxima
 * stay, because the delivery will start even later. */
static void uncount_start(struct engine *engine, struct timer *timer)
{
	dw_usec late = lateness(timer);

	engine->report.waited -= (uint64_t)timer->waited;
	histogram_take(&engine->report.late, late);
	topic_not_started(&engine->topics, timer->topic, late);
	timer->started = 0;
}

void delivery_begin(struct engine *engine, struct timer *timer, dw_usec now, bool on_worker)
{
	timer_set_state(engine, timer, TIMER_FIRING);
	driven_began(engine->store, timer->id);
	timer->on_worker = on_worker;
	timer_forget_said(timer, &engine->alloc);
	timer->no_retry = false;
	timer->started = now;
	timer->waited = waited_until(&engine->delivery, timer, now);
	engine->stats.fired++;
	count_start(engine, timer);
	if (on_worker)
		topic_runs(timer);
}

void delivery_unbegin(struct engine *engine, struct timer *timer)
{
	engine->stats.fired--;
	uncount_start(engine, timer);
}

/* ---- The verdict --------------------------------------------------------------------------- */

void delivery_end(struct engine *engine, struct timer *timer, dw_verdict verdict, dw_usec retry_in)
{
	timer_set_state(engine, timer, TIMER_VERDICT);
	if (verdict == DW_DONE && !timer->pushes)
		topic_tried(timer); /* its message is in the queue */
	timer->verdict = (uint8_t)verdict;
	timer->retry_in = retry_in;
	lifecycle_resume(engine, timer);
}

static void hold(struct engine *engine, struct timer *timer, bool unstarted)
{
	if (engine->stats.held >= DW_HOLDS_MAX) {
		dw_event event = {.kind = DW_EVENT_LIMIT,
				  .status = DW_ELIMIT,
				  .id = timer->id,
				  .topic = timer->topic->name,
				  .count = DW_HOLDS_MAX};

		event_raise(engine, &event, "%d firings are held: %s is delivered again later",
			    DW_HOLDS_MAX, timer->id);
		report_held(engine, timer);
		timer->uncounted = true;
		delivery_end(engine, timer, DW_RETRY, -1);
		return;
	}
	timer_set_state(engine, timer, TIMER_HELD);
	engine->delivery.is_busy = engine->delivery.paused;
	if (unstarted) {
		uncount_start(engine, timer);
		timer_unstart(engine, timer);
	} else {
		topic_runs(timer);
	}
	/* If a call on the id is backing off, its timer is in the fire schedule; the hold's
	 * time-out is armed after that. */
	if (timer->place == PLACE_NONE)
		timer_arm_fire(&engine->timers, timer,
			       usec_add(engine_now(engine), engine->env.hold));
}

static bool is_held(dw_verdict verdict)
{
	return verdict == DW_HOLD || verdict == DW_HOLD_UNSTARTED;
}

static bool is_verdict(dw_verdict verdict)
{
	return verdict == DW_DONE || verdict == DW_RETRY || verdict == DW_DEAD || is_held(verdict);
}

/* read_verdict replaces an invalid verdict by DW_RETRY, so that no timer is lost. An invalid
 * verdict is an error of the handler, so it is logged. */
static dw_verdict read_verdict(struct engine_env *env, const struct timer *timer,
			       dw_verdict verdict)
{
	char line[DW_MESSAGE_SIZE];

	if (is_verdict(verdict))
		return verdict;
	(void)snprintf(line, sizeof line,
		       "the handler of topic %s returned %d, which is not a verdict: it counts as "
		       "DW_RETRY",
		       timer->topic->name, (int)verdict);
	if (env->on_log)
		env->on_log(DW_LOG_ERROR, line, env->on_log_user);
	return DW_RETRY;
}

/* take_settling is called when another thread has called dw_settle before the handler returned. It
 * returns true if the handler holds; then the verdict of the call counts. Otherwise the call is
 * answered DW_ESTALE. */
static bool take_settling(struct engine *engine, struct timer *timer, dw_verdict verdict)
{
	struct call *settling = timer->settling;

	settling->early = false;
	if (is_held(verdict)) {
		report_held(engine, timer);
		settling->asked = engine_steady(engine);
		patience_begin(&engine->patience, settling);
		return true;
	}
	timer->settling = NULL;
	call_answer_stale(engine, settling);
	return false;
}

void delivery_judge(struct engine *engine, struct timer *timer, dw_verdict verdict,
		    dw_usec retry_in)
{
	struct call *settling = timer->settling;

	verdict = read_verdict(&engine->env, timer, verdict);
	if (settling && take_settling(engine, timer, verdict)) {
		verdict = settling->verdict;
		retry_in = settling->retry_in;
	}
	if (is_held(verdict))
		hold(engine, timer, verdict == DW_HOLD_UNSTARTED);
	else
		delivery_end(engine, timer, verdict, retry_in);
}

/* topic_of returns NULL if the timer was replaced meanwhile, and its topic is gone. */
static struct topic *topic_of(const struct topics *topics, const dw_firing *firing)
{
	return topics_find(topics, firing->topic, strlen(firing->topic));
}

void delivery_tell(struct engine *engine, const dw_firing *firing, dw_verdict verdict, dw_usec took)
{
	dw_firing_done done = {.size = sizeof done,
			       .id = firing->id,
			       .topic = firing->topic,
			       .due = firing->due,
			       .attempt = firing->attempt,
			       .verdict = is_verdict(verdict) ? verdict : DW_RETRY,
			       .late_us = usec_sub(firing->now, firing->due),
			       .took_us = took};

	if (!is_held(verdict))
		report_took(&engine->report, topic_of(&engine->topics, firing), took);
	if (engine->env.on_firing_done)
		engine->env.on_firing_done(engine->env.handle, &done,
					   engine->env.on_firing_done_user);
}

/* ---- A handler on this thread -------------------------------------------------------------- */

/* A delivery whose handler runs on this thread. */
struct handler_run {
	struct engine *engine;
	struct timer *timer;
	const dw_firing *firing;
	dw_usec began;
	dw_verdict verdict;
};

static void end_handler_run(struct handler_run *run)
{
	struct engine *engine = run->engine;
	dw_usec took = usec_sub(engine_steady(engine), run->began);

	delivery_tell(engine, run->firing, run->verdict, took);
	engine->drive.callback_depth--;
	engine->delivery.firing = NULL;
	delivery_judge(engine, run->timer, run->verdict, engine->delivery.retry_in);
}

/* call_handler calls the handler. A handler that ends by an exception counts as DW_RETRY. */
static void call_handler(struct engine *engine, struct timer *timer, const dw_firing *firing)
{
	struct handler_run run AT_END(end_handler_run) = {engine, timer, firing,
							  engine_steady(engine), DW_RETRY};
	struct handler handler = *topic_handler(&engine->topics, timer->topic);

	engine->delivery.retry_in = -1;
	engine->delivery.firing = timer;
	engine->drive.callback_depth++;
	run.verdict = handler.fire(engine->env.handle, firing, handler.user);
}

void delivery_run(struct engine *engine, struct timer *timer, dw_usec now)
{
	dw_token token;
	dw_firing firing = delivery_firing(engine, timer, &token);

	firing.now = now;
	delivery_begin(engine, timer, now, false);
	call_handler(engine, timer, &firing);
}

/* may_begin is like delivery_may_start(), but for a delivery that the program already holds. */
static bool may_begin(const struct engine *engine, const struct timer *timer)
{
	return engine->maintenance.purging == 0 && engine->shards.all[timer->shard].owned &&
	       lease_is_ours(engine, timer->shard);
}

int engine_started(struct engine *engine, const dw_token *token)
{
	struct timer *timer = index_find(&engine->timers.index, token->id);

	if (!timer || !timer->unstarted || timer->head.generation != token->generation ||
	    timer->head.attempt != token->attempt)
		return engine_fail(engine, DW_ESTALE,
				   "no delivery of this token waits for its start");
	if (engine->shards.all[timer->shard].giving != GIVING_NOT && !timer->no_retry) {
		if (!timer->busy)
			urgent_give_back(engine, timer);
		return engine_fail(engine, DW_ESTALE,
				   "the delivery may not start: its shard goes to another peer, "
				   "which delivers it again");
	}
	if (!may_begin(engine, timer))
		return engine_fail(
		    engine, DW_ESTALE,
		    "the delivery may not start: the lease of its shard is over, or a purge "
		    "is under way");
	if (timer->topic->settings.paused & DW_PAUSE_DELIVERY)
		return engine_fail(engine, DW_ESTALE,
				   "the delivery may not start: topic %s is paused",
				   timer->topic->name);
	timer->started = engine_now(engine);
	count_start(engine, timer);
	timer_start(engine, timer);
	topic_runs(timer);
	return DW_OK;
}

int engine_retry_in(struct engine *engine, dw_usec delay)
{
	if (!engine->delivery.firing)
		return engine_fail(engine, DW_EINVAL,
				   "dw_retry_in is for inside a handler of one timer");
	if (delay < 0)
		return engine_fail(engine, DW_EINVAL, "the delay is negative");
	engine->delivery.retry_in = delay;
	return DW_OK;
}

/* When a program holds deliveries and pauses, it has as many as it can handle. Such a pause does
 * not count as a pause on purpose. */
void engine_pause(struct engine *engine, bool paused)
{
	struct delivery *delivery = &engine->delivery;

	if (!delivery->paused)
		delivery->is_busy = engine->stats.held > 0;
	else if (!paused && !delivery->is_busy)
		delivery->held_until = engine_now(engine);
	delivery->paused = paused;
	if (!paused)
		engine_touch(engine);
}
