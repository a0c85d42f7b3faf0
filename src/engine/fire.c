#include "engine/fire.h"

#include <assert.h>

#include "engine/core.h"
#include "engine/lifecycle.h"
#include "engine/urgent.h"
#include "engine/workers.h"

static void expire_hold(struct engine *engine, struct timer *timer)
{
	dw_event event = {.kind = DW_EVENT_HOLD_EXPIRED,
			  .status = DW_ETIMEOUT,
			  .id = timer->id,
			  .topic = timer->topic->name};

	event_raise(engine, &event, "%s was held and not settled: it is delivered again",
		    timer->id);
	delivery_end(engine, timer, DW_RETRY, 0);
}

static bool is_too_late(const struct timer *timer, dw_usec now)
{
	return timer->late_after > 0 && usec_sub(now, timer->head.due) > timer->late_after;
}

static void bury_late(struct engine *engine, struct timer *timer)
{
	engine->stats.late++;
	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->reason = DW_REASON_LATE;
	lifecycle_resume(engine, timer);
}

/* fire_due handles a timer that has come out of the schedule of fire or of work. A timer for a
 * worker starts only out of the latter, so that it overtakes none that waits. Returns whether the
 * timer waits for a worker now. */
static bool fire_due(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	const struct handler *handler =
	    timer->topic ? topic_handler(&engine->topics, timer->topic) : NULL;

	if (cut_off_holds(engine, timer)) {
		return false;
	} else if (timer->backing_off || timer->state == TIMER_PENDING) {
		timer->backing_off = false;
		lifecycle_resume(engine, timer);
	} else if (timer->state == TIMER_HELD) {
		expire_hold(engine, timer);
	} else if (timer->busy) {
		return false; /* it comes back when its operation is answered */
	} else if (!handler) {
		urgent_give_back(engine, timer);
	} else if (is_too_late(timer, now)) {
		bury_late(engine, timer);
	} else if (!handler->on_worker) {
		delivery_run(engine, timer, now);
	} else if (from_work) {
		workers_start(engine, timer, now);
	} else {
		timer_await_worker(engine, timer);
		return true;
	}
	return false;
}

bool fire_next_work(struct engine *engine)
{
	bool may = workers_have_room(engine) && delivery_may_start(engine);
	dw_usec now = engine_now(engine);
	struct timer *timer = may ? schedule_pop(&engine->timers.work, now) : NULL;

	if (!timer)
		return false;
	timer->place = PLACE_NONE;
	(void)fire_due(engine, timer, now, true); /* it is out of that schedule */
	return true;
}

bool fire_next(struct engine *engine)
{
	dw_usec now;
	struct timer *timer;

	if (!delivery_may_start(engine))
		return false;
	/* Read again for each timer: a handler takes its time, and the clock may have been set back
	 * since the last one. */
	now = engine_now(engine);
	timer = schedule_pop(&engine->timers.fire, now);
	if (!timer)
		return false;
	assert(timer->state != TIMER_CLAIMED || timer->backing_off || timer->head.due <= now);
	timer->place = PLACE_NONE;
	if (fire_due(engine, timer, now, false))
		(void)fire_next_work(engine); /* at once: a handler of the loop may be next */
	return true;
}

dw_usec fire_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = schedule_wake(&engine->timers.fire);

	if (timers_have_work(&engine->timers) && workers_have_room(engine))
		at = usec_min(at, schedule_wake(&engine->timers.work));
	if (at > now || lease_holds(engine))
		return at;
	/* The store wakes the engine when the lease is renewed. Until lease_watch() has told the
	 * program, it looks whether a timer is due. */
	return engine->lease.notified ? DW_NEVER : usec_add(now, LEASE_LOOK);
}
