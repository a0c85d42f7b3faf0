/* The engine is made of parts. Each part's header declares the part's functions, and its struct if
 * it has one. Only the part changes its struct; others read it, or call the part.
 *
 * A part calls only parts above it in this list, or before it in its line. When something concerns
 * a part below, the part notes it in a struct or returns it. The turn passes it on.
 *
 *	events.c, arguments.c         notices for the program; the arguments of calls
 *	pages.c, take_show.c          what a page shows, or a take
 *	says.c                        what a handler says beside its verdict
 *	patience.c, lead.c, late.c    how long calls wait; how early a claim is made; claims before
 *	crowd.c, schedule.c           timers of one moment, sorted; a wheel of timers
 *	walk.c, reading.c             a walk over all timers; which shards are being read
 *	rules.c                       of recurring timers: parsed, with their zones
 *	put_off.c, timers.c           retries that wait for too long; timers in memory
 *	submit.c                      queues to the store
 *	handlers.c, lease.c, why.c    handlers; may one start; what one timer waits for
 *	check.c                       the invariants
 *	shards.c                      whose the shards are, and which are refused
 *	sharing.c, report_shards.c    what a peer notices of all peers; shards in the report
 *	topic_numbers.c, report.c     the numbers of topics; the counters
 *	occurrences.c                 of recurring timers: the first, the next, the missed
 *	message_op.c, urgent.c        a timer becomes a message; operations that firing waits for
 *	zones.c                       the rules of a zone have changed
 *	calls.c, registry.c           calls of the API; the settings of topics
 *	damaged.c, queries.c          rows that cannot be trusted; get, list, status
 *	dead_letters.c, facts.c       dead letters; what servers say of themselves
 *	giving.c, members.c           giving a shard to another peer; who shares the store
 *	take_calls.c, take_find.c     which take is called; the topics of a take
 *	takes.c                       taking messages
 *	lifecycle.c                   what a timer does next
 *	loss.c, suspended.c           the timers of a lost shard; timers wait for their shard
 *	maintenance.c, learn.c        purge, check; rows read
 *	modes.c, changes.c            a put, merged with what is stored; put, cancel, move, settle
 *	derive.c                      what a clock far ahead computed is computed again
 *	delivery.c, messages.c        a handler starts and ends; due timers become messages
 *	workers.c, batches.c          jobs of worker threads; timers gather for one handler call
 *	notify.c                      calling the program back
 *	recovery.c, restore.c         reading what others wrote; writing what the store lost
 *	ownership.c                   gaining and losing the store
 *	answers_change.c              answers to the API's changes
 *	answers_delivery.c            answers to claims and verdicts
 *	fire.c, claim.c               timers that are due; claiming ahead of the deadline
 *	clock_steps.c, trouble.c      the wall clock was set; the store fails
 *	answers.c                     which part an answer of the store is for
 *	turn.c, engine.c              the steps of a turn; from new to free
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
