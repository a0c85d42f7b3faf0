/* The turn: calls all steps in their order. */
#include <unistd.h>

#include "base/scope.h"
#include "engine/answers.h"
#include "engine/core.h"
#include "engine/due/fire.h"
#include "engine/call/lifecycle.h"
#include "engine/due/notify.h"
#include "engine/heal/loss.h"
#include "engine/heal/suspended.h"
#include "engine/due/workers.h"
#include "engine/rule/zones.h"
#include "port/driven.h"

/* ---- Steps that call the program back ------------------------------------------------------ */

/* take_answers handles the store's answers. An answer may begin a walk; then the answers behind it
 * wait for the walk's end. */
static void take_answers(struct engine *engine)
{
	submit_collect(engine);
	for (uint32_t i = 0; i < TURN_ANSWERS_MAX && !walk_is_on(&engine->walk); i++) {
		if (i % FETCHED_AHEAD == 0)
			answers_fetch(engine);
		if (!answers_next(engine))
			return;
		notify_round(engine);
	}
}

/* drain_posts does calls that other threads have queued. */
static void drain_posts(struct engine *engine)
{
	if (engine->env.posts.drain)
		engine->drive.posts_left = engine->env.posts.drain(engine->env.posts.user);
}

void engine_finish(struct engine *engine, struct job *job)
{
	workers_finish(engine, job);
	notify_round(engine);
}

/* keep_overdue is called while the handle is paused. It claims nothing, but counts due timers as
 * overdue. */
static void keep_overdue(struct engine *engine, dw_usec now)
{
	for (uint32_t i = 0; i < TURN_CLAIMS_MAX && claim_keep_next(engine, now); i++)
		;
}

static void claim(struct engine *engine, dw_usec now)
{
	dw_usec until = 0;

	if (!claim_is_due(engine, now, &until))
		return;
	for (uint32_t i = 0; i < TURN_CLAIMS_MAX && claim_next(engine, until); i++)
		notify_round(engine);
}

/* give_work hands due timers over to free workers. */
static void give_work(struct engine *engine)
{
	uint32_t left = TURN_FIRINGS_MAX;
	uint32_t spent;

	if (!timers_have_work(&engine->timers))
		return;
	while (left > 0 && (spent = fire_next_work(engine)) > 0) {
		left -= spent < left ? spent : left;
		notify_round(engine);
	}
}

static void fire(struct engine *engine)
{
	uint32_t left = TURN_FIRINGS_MAX;
	uint32_t spent;

	while (left > 0 && (spent = fire_next(engine)) > 0) {
		left -= spent < left ? spent : left;
		notify_round(engine);
	}
}

/* deliver claims and fires timers, unless the handle is closing. */
static void deliver(struct engine *engine, dw_usec now)
{
	if (engine->drive.closing || !registry_may_deliver(engine))
		return;
	if (claim_has_more(engine)) {
		claim_revive(engine);
		claim_sweep(engine, now);
	}
	late_close(&engine->submit.late);
	if (engine->delivery.paused) {
		keep_overdue(engine, now);
	} else {
		claim_full(engine);
		claim(engine, now);
	}
	give_work(engine);
	fire(engine);
	lease_watch(engine);
}

/* ---- When the next turn is needed ---------------------------------------------------------- */

static bool has_work_left(const struct engine *engine)
{
	const struct submit *submit = &engine->submit;

	return engine->walk.holds_up || submit->answers.count > 0 || engine->drive.posts_left ||
	       engine->events.first || submit->urgent.count > 0 || engine->shards.more ||
	       engine->shards.drops > 0 ||
	       (!engine->drive.closing && registry_may_deliver(engine) && claim_has_more(engine)) ||
	       (submit->ordinary.count > 0 && submit_has_room(engine));
}

/* store_wake returns when the store needs a turn; wall time. */
static dw_usec store_wake(const struct engine *engine, dw_usec now)
{
	dw_usec due = driven_due(engine->store);

	if (due == DW_NEVER)
		return DW_NEVER;
	return usec_add(now, usec_max(usec_sub(due, engine_steady(engine)), 0));
}

/* deliver_wake returns when a timer must be claimed or fired. */
static dw_usec deliver_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = DW_NEVER;

	if (engine->drive.closing || engine->delivery.paused || !registry_may_deliver(engine))
		return at;
	if (engine->maintenance.purging == 0)
		at = fire_wake(engine);
	if (engine->submit.urgent_inflight >= URGENT_MAX)
		return at;
	if (engine->timers.overdue.first)
		return now;
	return usec_min(usec_min(at, claim_full_wake(engine, now)),
			usec_sub(schedule_wake(&engine->timers.claim), submit_lead(engine)));
}

/* next_turn returns the time at which the next turn is needed, unless something wakes the engine
 * before. */
static dw_usec next_turn(const struct engine *engine, dw_usec now)
{
	dw_usec at = usec_min(recovery_wake(engine), ownership_wake(engine));

	at = usec_min(at, registry_wake(engine));
	if (has_work_left(engine))
		return now;
	at = usec_min(at, store_wake(engine, now));
	at = usec_min(at, restore_wake(engine, now));
	at = usec_min(at, patience_wake(engine, now));
	at = usec_min(at, takes_wake(engine, now));
	at = usec_min(at, workers_wake(engine, now));
	at = usec_min(at, deliver_wake(engine, now));
	at = usec_min(at, trouble_wake(engine, now));
	at = usec_min(at, zones_wake(engine, now));
	at = usec_min(at, derive_wake(engine, now));
	at = usec_min(at, lease_wake(engine, now));
	at = usec_min(at, giving_wake(engine, now));
	at = usec_min(at, shards_wake(engine, now));
	if (engine->timers.unscheduled.first)
		at = usec_min(at, usec_add(now, 1000));
	return usec_min(at, report_wake(engine));
}

/* ---- The turn ------------------------------------------------------------------------------ */

/* end_turn ends the turn. If an exception has interrupted it, another turn does the rest. */
static void end_turn(struct engine **turning)
{
	struct engine *engine = *turning;

	if (!engine->drive.in_turn)
		return;
	engine->drive.in_turn = false;
	engine_touch(engine);
}

/* work does the steps that wait while a walk is on. */
static void work(struct engine *engine, dw_usec now)
{
	engine->walk.holds_up = false;
	take_answers(engine);
	ownership_give_way(engine);
	if (walk_is_on(&engine->walk))
		return;
	calls_give_up(engine);
	trouble_end(engine);
	drain_posts(engine);
	if (engine->timers.unscheduled.first)
		lifecycle_reschedule(engine);
	if (engine->shards.suspended > 0 || engine->shards.more)
		suspended_round(engine);
	ownership_round(engine, now);
	restore_round(engine, now);
	ownership_part(engine);
	recovery_round(engine, now);
	registry_round(engine, now);
	workers_round(engine);
	zones_round(engine);
	derive_round(engine);
	takes_round(engine, now);
	deliver(engine, now);
	giving_round(engine);
	loss_round(engine);
	shards_tell(engine);
	sharing_round(engine, now);
}

/* turn does everything but arm the next turn. */
static int turn(struct engine *engine)
{
	struct engine *turning AT_END(end_turn) = engine;
	dw_usec before;
	dw_usec now;

	turning->drive.in_turn = true;
	engine->drive.woken = false;
	before = engine_steady(engine);
	now = engine_now(engine);
	clock_steps_watch(engine, before, now);
	driven_turn(engine->store, before);
	trouble_begin(engine);
	trouble_tell(engine);
	shards_watch(engine);
	notify_round(engine);
	if (!walk_is_on(&engine->walk))
		work(engine, now);
	if (walk_is_on(&engine->walk))
		walk_round(engine);
	notify_round(engine);
	if (engine->drive.pid != getpid()) { /* a callback forked, and this is the child */
		engine->drive.in_turn = false;
		return DW_EFORK;
	}
	lease_look(engine);
	report_round(engine, now);
	submit_round(engine);
	trouble_watch_slow(engine);
	engine->drive.in_turn = false;
	return DW_OK;
}

int engine_turn(struct engine *engine)
{
	int status;

	if (engine->drive.in_turn || engine->drive.callback_depth > 0)
		return engine_fail(engine, DW_EBUSY, "a turn cannot run inside a callback");
	status = turn(engine);
	if (status == DW_OK)
		engine->env.loop.arm(engine->env.loop.user, next_turn(engine, engine_now(engine)));
	return status;
}

dw_usec engine_next_firing(const struct engine *engine)
{
	return schedule_wake(&engine->timers.fire);
}
