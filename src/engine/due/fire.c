#include "engine/due/fire.h"

#include <assert.h>

#include "engine/due/batches.h"
#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "engine/queue/messages.h"
#include "engine/rule/occurrences.h"
#include "engine/due/urgent.h"
#include "engine/heal/loss.h"
#include "engine/due/workers.h"

/* expire_hold ends a hold that was not settled in time. Without a lease another owner may have
 * ended the delivery, so the hold waits for the lease. */
static void expire_hold(struct engine *engine, struct timer *timer, dw_usec now)
{
	dw_event event = {.kind = DW_EVENT_HOLD_EXPIRED,
			  .status = DW_ETIMEOUT,
			  .id = timer->id,
			  .topic = timer->topic->name};

	if (!lease_allows(engine, timer)) {
		timer_arm_fire(&engine->timers, timer, usec_add(now, RETRY_STORE));
		return;
	}
	event_raise(engine, &event, "%s was held and not settled: it is delivered again",
		    timer->id);
	report_held(engine, timer);
	delivery_end(engine, timer, DW_RETRY, 0);
}

/* fire_due handles a timer that has come out of the schedule fire or work. A timer for a worker
 * always goes through the schedule work, so that it overtakes no other timer there. It returns how
 * many timers the turn has handled, or 0 if the timer waits for a worker now. */
static uint32_t fire_due(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	const struct handler *handler =
	    timer->topic ? topic_handler(&engine->topics, timer->topic) : NULL;

	if (loss_meets(engine, timer))
		return 1;
	if (timer->gathered)
		return batches_ready(engine, timer, now, from_work);
	if (lease_suspend(engine, timer)) {
		return 1;
	} else if (timer->backing_off || timer->state == TIMER_PENDING) {
		timer->backing_off = false;
		lifecycle_resume(engine, timer);
	} else if (timer->state == TIMER_HELD) {
		expire_hold(engine, timer, now);
	} else if (timer->busy) {
		return 1; /* the answer to the timer's operation arms it again */
	} else if (!handler) {
		urgent_give_back(engine, timer);
	} else if (delivery_is_late(timer, now)) {
		delivery_bury_late(engine, timer);
	} else if (occurrence_is_missed(engine, timer, now)) {
		lifecycle_resume(engine, timer);
	} else if (handler->fire_batch) {
		return batches_add(engine, timer, now, from_work);
	} else if (handler->is_queue && timer->topic->is_full && !timer->trying) {
		urgent_give_back(engine, timer); /* the timer waits in the order of its queue */
	} else if (handler->is_queue) {
		messages_fire(engine, timer, now);
	} else if (!handler->on_worker) {
		delivery_run(engine, timer, now);
	} else if (from_work) {
		workers_start(engine, timer, now);
	} else {
		timer_await_worker(engine, timer, timer->head.due);
		return 0;
	}
	return 1;
}

void fire_claimed(struct engine *engine, struct timer *timer, dw_usec now)
{
	(void)fire_due(engine, timer, now, false); /* a timer of a queue needs no worker */
}

uint32_t fire_next_work(struct engine *engine)
{
	bool may = workers_have_room(engine) && delivery_may_start(engine);
	dw_usec now = engine_now(engine);
	struct timer *timer = may ? schedule_pop_sorted(&engine->timers.work, now) : NULL;

	if (!timer)
		return 0;
	timer_came_out(timer);
	return fire_due(engine, timer, now, true); /* the timer cannot wait for a worker again */
}

/* must_wait returns true if the timer is overdue, and claims of earlier deadlines are under way.
 * Then the timer goes back into its schedule as the first one, so that no other timer overtakes
 * it. */
static bool must_wait(struct engine *engine, struct timer *timer, dw_usec now)
{
	struct late *late = &engine->submit.late;

	late->holds = late->left > 0 && usec_sub(now, timer->head.due) >= LATE_FROM &&
		      late_waits(late, timer->head.due, engine_steady(engine)) &&
		      schedule_put_back(&engine->timers.fire, timer);
	return late->holds;
}

uint32_t fire_next(struct engine *engine)
{
	dw_usec now;
	struct timer *timer;
	uint32_t spent;

	if (!delivery_may_start(engine))
		return 0;
	/* The clock is read for each timer, because a handler takes time, and the clock may have
	 * been set back since the last one. */
	now = engine_now(engine);
	engine->submit.late.holds = false;
	timer = schedule_pop_sorted(&engine->timers.fire, now);
	if (!timer || must_wait(engine, timer, now))
		return 0;
	assert(timer->state != TIMER_CLAIMED || timer->backing_off || timer->head.due <= now);
	timer_came_out(timer);
	spent = fire_due(engine, timer, now, false);
	if (spent > 0)
		return spent;
	/* A worker gets its timer now, because the next handler on this thread may take long. */
	return 1 + fire_next_work(engine);
}

dw_usec fire_wake(const struct engine *engine)
{
	dw_usec at = engine->submit.late.holds ? usec_add(engine_now(engine), LEASE_LOOK)
					       : schedule_wake(&engine->timers.fire);

	if (timers_have_work(&engine->timers) && workers_have_room(engine))
		at = usec_min(at, schedule_wake(&engine->timers.work));
	return at;
}
