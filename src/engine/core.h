/* The engine is made of parts. Each part's header declares the part's functions, and its struct if
 * it has one. Only the part changes its struct; others read it, or call the part.
 *
 * A part calls only parts on lower lines. When something concerns a higher part, the part notes it
 * in a struct or returns it. The turn, which calls all other parts, passes it on. From the top:
 *
 *	engine, turn, check, why        from new to free; the steps of a turn; the invariants; what
 *	                                one timer waits for
 *	answers                         which part an answer of the store is for
 *	ownership, fire                 gaining and losing the store; timers that are due
 *	answers_change, answers_delivery   answers to the API's changes, to claims and verdicts
 *	recovery, restore, registry,    reading what others wrote, writing what the store lost;
 *	giving                          the settings of topics; giving a shard to another peer
 *	batches, messages, takes        due timers gather for one call of a handler, or become
 *	                                messages of a queue; taking messages
 *	workers, notify                 jobs for worker threads; calling the program back
 *	changes, maintenance, learn     put, cancel, move, settle; purge, check; rows read
 *	delivery, clock_steps           a handler starts and ends; the wall clock was set
 *	zones                           the rules of a zone have changed
 *	modes                           a put is made, and merged with what is stored
 *	claim, suspended                claiming ahead of the deadline; timers wait for their shard
 *	loss                            the timers of a lost shard
 *	lifecycle                       what a timer does next
 *	queries, dead_letters           get, list, status; dead letters
 *	calls, urgent                   calls of the API; operations that firing waits for
 *	damaged, report                 rows that cannot be trusted; the counters
 *	occurrences                     of recurring timers: the first, the next, the missed
 *	trouble, lease                  the store fails; may a handler start
 *	shards, walk, handlers          whose the shards are, and which are refused; handlers
 *	submit                          queues to the store
 *	timers, pages                   timers in memory; what a page shows
 *	events, patience, schedule, lead, arguments
 *	crowd                           timers of one moment, sorted
 *	rules                           of recurring timers: parsed, with their zones
 *
 * Invariants (engine_check): every timer of the index is in the place that its state says; a busy
 * timer has one operation under way and no other timer has one; calls wait only behind an
 * operation, or for a schedule. */
#ifndef DW_ENGINE_CORE_H
#define DW_ENGINE_CORE_H

#include "base/rng.h"
#include "base/usec.h"
#include "engine/call/calls.h"
#include "engine/due/claim.h"
#include "engine/heal/clock_steps.h"
#include "engine/due/delivery.h"
#include "engine/drive.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/due/lead.h"
#include "engine/due/lease.h"
#include "engine/call/maintenance.h"
#include "engine/heal/ownership.h"
#include "engine/call/patience.h"
#include "engine/heal/recovery.h"
#include "engine/report.h"
#include "engine/heal/restore.h"
#include "engine/heal/shards.h"
#include "engine/submit.h"
#include "engine/timers.h"
#include "engine/heal/trouble.h"
#include "engine/heal/walk.h"
#include "topic/topic.h"

struct engine {
	struct engine_env env;
	struct alloc alloc;
	dw_store *store;
	struct drive drive;
	struct events events;
	struct timers timers;
	struct walk walk;
	struct topics topics;
	struct calls calls;
	struct patience patience;
	struct submit submit;
	struct lead lead;
	struct trouble trouble;
	struct lease lease;
	struct shards shards;
	struct claims claims;
	struct delivery delivery;
	struct maintenance maintenance;
	struct recovery recovery;
	struct restore restore;
	struct ownership ownership;
	struct clock_steps clock_steps;
	struct report report;
	struct rng rng;
	dw_stats stats; /* each part changes the counters of what it does */
};

static inline dw_usec engine_now(const struct engine *engine)
{
	return engine->env.clock.wall(engine->env.clock.user);
}

static inline dw_usec engine_steady(const struct engine *engine)
{
	return engine->env.clock.steady(engine->env.clock.user);
}

/* engine_touch asks for a turn. During a turn it does nothing, because the turn itself says when
 * the next one must come. */
static inline void engine_touch(struct engine *engine)
{
	if (engine->drive.in_turn || engine->drive.woken)
		return;
	engine->drive.woken = true;
	engine->env.loop.wake(engine->env.loop.user);
}

#endif
