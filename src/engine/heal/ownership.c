#include "engine/heal/ownership.h"

#include "durawheel/members.h"
#include "engine/core.h"
#include "engine/heal/loss.h"
#include "port/driven.h"

#define STANDBY_EVERY DW_SECONDS(1) /* time between two requests for the ownership */

/* ---- Losing -------------------------------------------------------------------------------- */

static void ownership_drop(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->state == TIMER_ABSENT)
		return;
	engine->ownership.dropped += timer->state != TIMER_FIRING;
	loss_drop(engine, timer);
}

static void ownership_dropped(struct engine *engine)
{
	const struct ownership *ownership = &engine->ownership;
	dw_event event = {
	    .kind = DW_EVENT_OWNER_LOST, .status = ownership->lost_by, .count = ownership->dropped};

	event_raise(
	    engine, &event,
	    event.status == DW_ENEWER
		? "this process gave up the ownership of the store: %llu timers dropped "
		  "from memory, they wait for a newer durawheel"
		: "lost ownership of the store: %llu timers dropped from memory; the store's "
		  "copy decides, and timers without a confirmed verdict may start again",
	    (unsigned long long)event.count);
}

void ownership_lose(struct engine *engine, int status)
{
	static const struct walker dropper = {ownership_drop, ownership_dropped};

	shards_lose_all(&engine->shards);
	engine->ownership.term = engine->shards.terms;
	engine->ownership.was_owner = true;
	engine->ownership.role = DW_CLIENT;
	engine->ownership.standby = true;
	recovery_stop(&engine->recovery);
	registry_stop(&engine->recovery.registry);
	engine->ownership.at = engine_now(engine);
	restore_stop(&engine->restore);
	submit_refuse_all(engine);
	engine->ownership.lost_by = status;
	engine->ownership.refused_by = status == DW_ENEWER ? DW_ENEWER : DW_EOWNED;
	engine->ownership.dropped = 0;
	walk_begin(&engine->walk, &dropper);
}

void ownership_fenced(struct engine *engine, const dw_op *op)
{
	bool is_current =
	    op->id ? shards_is_current(&engine->shards, driven_shard_of(engine->store, op->id), op)
		   : ownership_is_current(&engine->ownership, op);

	if (!is_current)
		return;
	if (op->id && (driven_owns(engine->store) || engine->env.is_peer))
		shards_lose_fenced(engine, op->id);
	if (op->id && engine->env.is_peer)
		return; /* a peer without a shard still shares the store */
	if (!op->id || !driven_owns(engine->store) || engine->shards.lost_last)
		ownership_lose(engine, DW_EFENCED);
}

/* ---- Giving way to a newer durawheel ------------------------------------------------------- */

static void tell_newer(struct engine *engine, const char *id)
{
	dw_event event = {.kind = DW_EVENT_NEWER, .status = DW_ENEWER, .id = id};

	if (engine->ownership.newer_notified)
		return;
	engine->ownership.newer_notified = true;
	event_raise(engine, &event,
		    "%s%sa newer durawheel: this version leaves it alone and does not own the "
		    "store; run the newer version",
		    id ? id : "the store has timers of", id ? " was written by " : " ");
}

/* may_be_alone returns true if the store may have lost timers that only this owner knows. The newer
 * timer may come from a store that was emptied a moment ago. */
static bool may_be_alone(struct engine *engine)
{
	return engine->ownership.role == DW_OWNER && !engine->drive.closing &&
	       (engine->restore.writing || !driven_is_whole(engine->store));
}

void ownership_give_way(struct engine *engine)
{
	dw_op *op;

	if (walk_is_on(&engine->walk))
		return; /* the end of the walk comes first */
	if (engine->shards.lost_last)
		ownership_lose(engine, DW_EFENCED);
	if (!engine->recovery.newer || may_be_alone(engine))
		return;
	op = recovery_take_newer(&engine->recovery);
	if (!op)
		return;
	if (engine->ownership.role != DW_OWNER || engine->drive.closing) {
		op_free(&engine->alloc, op);
		return;
	}
	tell_newer(engine, op->id);
	ownership_lose(engine, DW_ENEWER);
	engine->ownership.asked = true; /* prevents an OWN that would overtake the DISOWN */
	submit_push(&engine->submit, op, false);
}

/* ---- Closing ------------------------------------------------------------------------------- */

/* A handle that closes waits at most this long for a store that does not answer. */
#define PART_MAX DW_SECONDS(1)

void ownership_part(struct engine *engine)
{
	struct ownership *ownership = &engine->ownership;
	dw_usec steady;

	if (!engine->drive.closing || ownership->parted)
		return;
	steady = engine_steady(engine);
	if (ownership->part_by == 0)
		ownership->part_by = usec_add(steady, PART_MAX);
	ownership->parted = ownership->role != DW_OWNER || steady >= ownership->part_by ||
			    driven_is_whole(engine->store);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void ask(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_OWN, NULL, NULL, 0);

	if (!op)
		return; /* without memory, the next turn asks */
	engine->ownership.asked = true;
	/* This is the new term of each shard that the OWN gains. */
	(void)shards_begin_term(&engine->shards);
	submit_push(&engine->submit, op, false);
}

void ownership_round(struct engine *engine, dw_usec now)
{
	if (engine->ownership.standby && !engine->drive.closing && !engine->ownership.asked &&
	    now >= engine->ownership.at)
		ask(engine);
}

dw_usec ownership_wake(const struct engine *engine)
{
	bool asks = engine->ownership.standby && !engine->drive.closing && !engine->ownership.asked;

	return asks ? engine->ownership.at : DW_NEVER;
}

static void tell_full(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_LIMIT, .status = DW_ELIMIT, .count = DW_MEMBERS_MAX};

	if (engine->ownership.refused_by != DW_ELIMIT)
		event_raise(engine, &event,
			    "%d processes share the store already, and more cannot: this one "
			    "stands by until one of them ends",
			    DW_MEMBERS_MAX);
}

/* note_refusal keeps why the ownership was refused. A store that is away refuses nothing. */
static void note_refusal(struct engine *engine, int status)
{
	bool is_refused = status == DW_EOWNED || status == DW_ENEWER || status == DW_ELIMIT;

	if (status == DW_ELIMIT)
		tell_full(engine);

	engine->ownership.refused_by = is_refused ? status : DW_OK;
	if (status == DW_ENEWER)
		tell_newer(engine, NULL);
}

/* The changes that were submitted before an OWN are answered before it, so no change that was sent
 * as a client is under way. Therefore the scan that begins here sees all of them. */
void ownership_answered(struct engine *engine, const dw_op *op)
{
	dw_event event = {.kind = DW_EVENT_OWNER};

	engine->ownership.asked = false;
	engine->ownership.at = usec_add(engine_now(engine), STANDBY_EVERY);
	if (op->kind == DW_OP_OWN)
		note_refusal(engine, op->status);
	if (op->kind != DW_OP_OWN || op->status != DW_OK)
		return;
	engine->ownership.newer_notified = false;
	engine->ownership.standby = false;
	engine->ownership.role = DW_OWNER;
	shards_own(engine, ticket_of_const(op)->term);
	lease_begin(&engine->lease);
	recovery_begin(engine);
	if (engine->env.is_peer)
		event_raise(engine, &event, "this process shares the store with its peers now");
	else
		event_raise(engine, &event, "this %s owns the store now",
			    engine->ownership.was_owner ? "process" : "standby");
}
