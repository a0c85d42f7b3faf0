/* The engine is made of parts. Each part's header declares the part's struct and functions; only
 * the part changes its struct, all others read it or call the part.
 *
 * A part calls only the parts below it. What concerns a part above it, it notes in its own struct,
 * and the turn, which stands on top of all, acts on the note. From the top:
 *
 *	engine                          makes, closes and frees an engine
 *	turn                            the turn: all steps in their order
 *	check                           the invariants
 *	notify                          calls the program back: answers, events
 *	answers, answers_change, answers_delivery     what an answer of the store changes
 *	ownership, clock_steps          ownership gained and lost; the wall clock was set
 *	recovery, restore, learn        what others wrote; what the store has lost
 *	changes, queries, dead_letters, maintenance, handlers     the calls of the API
 *	report                          counters, for dw_stats and for the store
 *	fire, workers, delivery, claim  a timer's way to its handler and back
 *	lifecycle                       what a timer does next
 *	urgent, lease, damaged, pages   operations of the engine's own; helpers
 *	trouble, submit, calls, patience, timers, events
 *
 * Invariants (engine_check): every timer of the index is in the place that its state says; a busy
 * timer has one operation under way and no other timer has one; calls wait only behind something.
 */
#ifndef DW_ENGINE_CORE_H
#define DW_ENGINE_CORE_H

#include "base/rng.h"
#include "base/usec.h"
#include "engine/calls.h"
#include "engine/claim.h"
#include "engine/clock_steps.h"
#include "engine/delivery.h"
#include "engine/drive.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/lead.h"
#include "engine/lease.h"
#include "engine/maintenance.h"
#include "engine/ownership.h"
#include "engine/patience.h"
#include "engine/recovery.h"
#include "engine/report.h"
#include "engine/restore.h"
#include "engine/submit.h"
#include "engine/timers.h"
#include "engine/trouble.h"
#include "topic/topic.h"

struct engine {
	struct engine_env env;
	struct alloc alloc;
	dw_store *store;
	struct drive drive;
	struct events events;
	struct timers timers;
	struct topics topics;
	struct calls calls;
	struct patience patience;
	struct submit submit;
	struct lead lead;
	struct trouble trouble;
	struct lease lease;
	struct claims claims;
	struct delivery delivery;
	struct maintenance maintenance;
	struct recovery recovery;
	struct restore restore;
	struct ownership ownership;
	struct clock_steps clock_steps;
	struct report report;
	struct rng rng;
	dw_stats stats; /* each counter is changed by the part that counts */
};

static inline dw_usec engine_now(const struct engine *engine)
{
	return engine->env.clock.wall(engine->env.clock.user);
}

static inline dw_usec engine_steady(const struct engine *engine)
{
	return engine->env.clock.steady(engine->env.clock.user);
}

/* engine_touch asks for a turn. During a turn it is not needed: the turn says at its end when the
 * next one must come. */
static inline void engine_touch(struct engine *engine)
{
	if (engine->drive.in_turn || engine->drive.woken)
		return;
	engine->drive.woken = true;
	engine->env.loop.wake(engine->env.loop.user);
}

#endif
