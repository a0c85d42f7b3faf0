/* Makes, closes and frees an engine, and answers questions about its state. */
#include <unistd.h>

#include "engine/answers.h"
#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "engine/heal/loss.h"
#include "engine/due/delivery.h"
#include "engine/due/notify.h"
#include "engine/due/urgent.h"
#include "engine/due/workers.h"
#include "port/driven.h"

int engine_new(struct engine **ret_engine, const struct engine_env *env)
{
	struct engine *engine = alloc_new(&env->alloc, sizeof *engine);
	int status;

	if (!engine)
		return DW_ENOMEM;
	engine->env = *env;
	engine->alloc = env->alloc;
	engine->drive.pid = getpid();
	engine->rng.state = env->seed;
	engine->ownership.role = env->role;
	engine->ownership.standby = env->standby;
	engine->stats.next_due = DW_NEVER;
	clock_steps_init(engine);
	status = timers_init(engine);
	if (status == DW_OK)
		status = events_init(engine);
	if (status == DW_OK)
		status = topics_init(&engine->topics, &engine->alloc, rng_next(&engine->rng));
	if (status != DW_OK) {
		engine_free(engine);
		return status;
	}
	*ret_engine = engine;
	return DW_OK;
}

void engine_attach(struct engine *engine, dw_store *store)
{
	bool is_first = !engine->store;

	engine->store = store;
	engine->shards.count = driven_shards(store);
	if (engine->ownership.role == DW_OWNER && !driven_owns(store)) {
		/* The server is away, so this engine cannot own the store yet. */
		engine->ownership.role = DW_CLIENT;
		engine->ownership.standby = true;
	}
	if (engine->ownership.role == DW_OWNER && is_first) {
		shards_own(engine, 0);
		recovery_begin(engine);
	}
	engine_touch(engine);
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	events_free(engine);
	calls_free(engine);
	submit_free(engine);
	op_free(&engine->alloc, engine->recovery.newer);
	timers_free(engine);
	rules_free(engine);
	shards_forget(engine);
	if (engine->topics.table.alloc)
		topics_free(&engine->topics);
	alloc_free(&engine->alloc, engine);
}

/* ---- Closing ------------------------------------------------------------------------------- */

/* close_timer gives a claim or a hold back. A held timer that was cancelled ends, so that no other
 * owner starts it. If an operation of the timer is backing off, it is sent one last time. */
static void close_timer(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->busy || loss_meets(engine, timer))
		return; /* the answer to its operation continues with the timer */
	if (timer->state == TIMER_HELD && timer->no_retry && !timer->unstarted) {
		timer_disarm(engine, timer);
		report_held(engine, timer);
		delivery_end(engine, timer, DW_RETRY, 0);
	} else if (timer->state == TIMER_HELD) {
		urgent_give_back(engine, timer);
	} else if (timer->backing_off || timer->state == TIMER_CLAIMED) {
		timer_disarm(engine, timer);
		lifecycle_resume(engine, timer);
	}
}

void engine_begin_close(struct engine *engine)
{
	static const struct walker closer = {close_timer, NULL};

	if (engine->drive.closing)
		return;
	engine->drive.closing = true;
	if (engine->env.is_peer)
		giving_leave(engine);
	takes_close(engine);
	walk_finish(engine);
	walk_begin(&engine->walk, &closer);
	engine_touch(engine);
}

void engine_abandon(struct engine *engine)
{
	workers_abandon(&engine->delivery);
	walk_finish(engine);
	submit_collect(engine);
	while (answers_next(engine)) {
		walk_finish(engine);
		notify_round(engine);
	}
	while (engine->events.first || engine->calls.open) {
		while (engine->events.first)
			notify_round(engine);
		/* A call gets DW_ECLOSED if the store never got its operation, or if it had no
		 * operation yet. */
		for (struct call *call = engine->calls.open; call; call = call->next_open)
			call_answer(engine, call,
				    call->op || call->early ? DW_ECLOSED : DW_EUNKNOWN);
	}
}

/* ---- State --------------------------------------------------------------------------------- */

bool engine_is_owner(const struct engine *engine)
{
	return engine->ownership.role == DW_OWNER;
}

bool engine_in_callback(const struct engine *engine)
{
	return engine->drive.callback_depth > 0;
}

bool engine_settled(const struct engine *engine)
{
	uint64_t ordinary = engine->submit.ordinary_inflight + engine->submit.ordinary.count;
	/* Answers to GIVE do not count: ownership_part() has waited for them, and a store that
	 * stops releases the shards that it still has. */
	uint64_t urgent = engine->submit.urgent_inflight - engine->ownership.giving.asked;

	/* internal_count counts puts that the engine repeats on its own. Their callers have got
	 * DW_EUNKNOWN, so nobody waits for them. */
	if (engine->calls.count > engine->calls.internal_count + engine->calls.takes.count ||
	    engine->events.first || walk_is_on(&engine->walk))
		return false;
	return !engine->drive.closing ||
	       (engine->ownership.parted && !engine->restore.writing &&
		engine->stats.running == 0 && urgent == 0 && engine->submit.urgent.count == 0 &&
		ordinary <= engine->calls.internal_count && engine->submit.answers.count == 0);
}

bool engine_is_running(const struct engine *engine)
{
	return engine->stats.running > 0;
}

void engine_clock_stepped(struct engine *engine)
{
	engine_touch(engine); /* the turn compares the clocks */
}
