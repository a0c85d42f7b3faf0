#include "timer/transition.h"

#include <assert.h>

#include "base/usec.h"

uint64_t life_next(uint64_t last, dw_usec now)
{
	uint64_t floor = now > 0 ? (uint64_t)now : 1;

	return last + 1 > floor ? last + 1 : floor;
}

int life_permits(const dw_op *op, dw_role role)
{
	switch (op->kind) {
	case DW_OP_PUT:
	case DW_OP_CANCEL:
	case DW_OP_MOVE:
		if (role != DW_OWNER && op->flags & (DW_OP_CLAIMED | DW_OP_WITHDRAWN))
			return DW_EROLE;
		return DW_OK;
	case DW_OP_GET:
	case DW_OP_SCAN:
	case DW_OP_DEAD_SCAN:
	case DW_OP_REQUEUE:
	case DW_OP_DROP:
	case DW_OP_CHECK:
	case DW_OP_OWN:
	case DW_OP_STATUS:
	case DW_OP_FACTS:
	case DW_OP_REPUSH:
	case DW_OP_REPLAY:
	case DW_OP_TOPIC_SET:
	case DW_OP_TOPIC_DROP:
	case DW_OP_TOPIC_LIST:
	case DW_OP_PUSH:
	case DW_OP_TAKE:
	case DW_OP_AWAIT:
	case DW_OP_ANSWER:
	case DW_OP_LETTER:
	case DW_OP_ENDED:
	case DW_OP_DUE:
	case DW_OP_MEMBERS:
		return DW_OK;
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_NEXT:
	case DW_OP_INBOX:
	case DW_OP_ACK:
	case DW_OP_REPORT:
	case DW_OP_TOPIC_COUNT:
	case DW_OP_PURGE:
	case DW_OP_LOSS:
	case DW_OP_AUDIT:
	case DW_OP_REDELETE:
	case DW_OP_MEND:
	case DW_OP_DISOWN:
	case DW_OP_GIVE:
		return role == DW_OWNER ? DW_OK : DW_EROLE;
	}
	return DW_EINVAL;
}

static struct life_step keep(int status)
{
	return (struct life_step){.status = status, .effect = LIFE_KEEP};
}

static struct life_step stale(const struct life_record *stored)
{
	return (struct life_step){
	    .status = DW_ESTALE, .effect = LIFE_KEEP, .record = *stored, .show = true};
}

static struct life_step change(enum life_effect effect, const struct life_record *record)
{
	return (struct life_step){.status = DW_OK, .effect = effect, .record = *record};
}

/* leaves_open returns true if the put replaces a claim that may still start. The owner knows when a
 * claim cannot start, and says so by DW_OP_WITHDRAWN. A damaged timer may have been claimed. */
static bool leaves_open(const dw_op *op, const struct life_record *stored)
{
	if (!stored || op->flags & DW_OP_WITHDRAWN)
		return false;
	return stored->damaged || stored->head.state == DW_CLAIMED || stored->head.open;
}

static struct life_step take_put(const dw_op *op, const struct life_record *stored,
				 const struct life_caller *caller)
{
	struct life_record record = {.head = {.generation = caller->generation}};
	struct life_step step;

	if ((stored && op->flags & DW_OP_NEW) || (caller->ended && op->flags & DW_OP_ONCE))
		return keep(DW_EEXIST);
	if (op->flags & DW_OP_EXACT &&
	    op->head.generation != (stored ? stored->head.generation : 0))
		return stored ? stale(stored) : keep(DW_ENOENT);
	if (stored && stored->same && !stored->damaged) { /* the timer keeps its occurrence */
		step = change(LIFE_KEEP, stored);
		step.show = true;
		return step;
	}
	record.head.due = op->head.due;
	record.head.open = leaves_open(op, stored) || (!stored && caller->left_open);
	if (op->flags & DW_OP_CLAIMED) {
		record.head.state = DW_CLAIMED;
		record.head.attempt = 1;
		record.claim = caller->token;
	}
	step = change(LIFE_STORE, &record);
	step.news = caller->role == DW_CLIENT;
	return step;
}

static struct life_step take_claim(const dw_op *op, const struct life_record *stored,
				   const struct life_caller *caller)
{
	struct life_record record = *stored;
	bool claimed = stored->head.state == DW_CLAIMED;

	if (op->head.generation != stored->head.generation)
		return stale(stored);
	if (claimed && stored->claim == caller->token &&
	    op->head.attempt + 1 == stored->head.attempt) /* the same claim was sent twice */
		return change(LIFE_KEEP, stored);
	if (op->head.attempt != stored->head.attempt)
		return stale(stored);
	/* A claim of the caller's own token comes from a put whose answer was lost, so no owner has
	 * crashed. */
	if (claimed && stored->claim != caller->token) {
		record.head.crashes++;
		record.head.open = 1;
	}
	record.head.state = DW_CLAIMED;
	record.head.attempt++;
	record.claim = caller->token;
	return change(LIFE_UPDATE, &record);
}

static bool is_delivery(const dw_op *op, const struct life_record *stored)
{
	return op->head.generation == stored->head.generation &&
	       op->head.attempt == stored->head.attempt;
}

static struct life_step take_retry(const dw_op *op, const struct life_record *stored)
{
	struct life_record record = *stored;
	struct life_step step;

	if (!is_delivery(op, stored))
		return stale(stored);
	if (stored->head.state != DW_CLAIMED) /* the same retry was sent twice */
		return op->head.due == stored->head.due ? change(LIFE_KEEP, stored) : stale(stored);
	record.head.state = DW_PENDING;
	record.head.due = op->head.due;
	record.claim = 0;
	if (op->flags & DW_OP_VERDICT)
		record.head.retries++;
	step = change(LIFE_UPDATE, &record);
	if (op->flags & DW_OP_VERDICT)
		step.why = LIFE_WHY_REPLACED;
	return step;
}

static struct life_step take_bury(const dw_op *op, const struct life_record *stored)
{
	struct life_step step = change(LIFE_BURY, stored);

	if (!is_delivery(op, stored))
		return stale(stored);
	if (op->reason == DW_REASON_RETRIES || op->reason == DW_REASON_GAVE_UP)
		step.why = LIFE_WHY_REPLACED;
	return step;
}

/* take_next is called when the delivery is over, and the timer waits for its next occurrence.
 * Nothing of the claim stays, because the owner has ended its claim. */
static struct life_step take_next(const dw_op *op, const struct life_record *stored,
				  const struct life_caller *caller)
{
	struct life_record record = {
	    .head = {.generation = caller->generation, .due = op->head.due}};

	struct life_step step = change(op->reason ? LIFE_RENEW : LIFE_STORE, &record);

	if (!is_delivery(op, stored))
		return stale(stored);
	if (op->reason == DW_REASON_RETRIES || op->reason == DW_REASON_GAVE_UP)
		step.why = LIFE_WHY_REPLACED;
	return step;
}

/* A client's cancel of a claimed timer comes too late. But it ends a recurring timer, because the
 * delivery under way then finds no stored timer to renew. A timer is open if an earlier claim of
 * its id may still start. A client's cancel deletes an open timer, but answers DW_ELATE. An owner
 * knows which of its own claims have started. The claims of a dead owner never start. */
static struct life_step take_cancel(const dw_op *op, const struct life_record *stored,
				    const struct life_caller *caller)
{
	struct life_step step = change(LIFE_DELETE, stored);
	bool claimed = stored->head.state == DW_CLAIMED;

	if (caller->role == DW_OWNER) {
		if (claimed && stored->claim == caller->token && !(op->flags & DW_OP_WITHDRAWN))
			return keep(DW_ELATE);
		return step;
	}
	if (claimed && !stored->recurs)
		return keep(DW_ELATE);
	step.news = true;
	step.open_news = claimed || stored->head.open;
	if (step.open_news)
		step.status = DW_ELATE;
	return step;
}

/* The attempt of an id may only grow until the timer is settled. Retries and crashes are counted
 * from zero, because whoever moves a timer wants it delivered. A move may leave the timer open.
 * Such a move, like a put, promises nothing about the earlier claim. */
static struct life_step take_move(const dw_op *op, const struct life_record *stored,
				  const struct life_caller *caller)
{
	struct life_record record = {.head = {.generation = caller->generation,
					      .due = op->head.due,
					      .attempt = stored->head.attempt,
					      .open = leaves_open(op, stored)}};
	struct life_step step = change(LIFE_UPDATE, &record);
	bool claimed = stored->head.state == DW_CLAIMED;
	bool withdrawn = stored->claim != caller->token || op->flags & DW_OP_WITHDRAWN;

	if (claimed && (caller->role != DW_OWNER || !withdrawn))
		return keep(DW_ELATE);
	step.why = LIFE_WHY_GONE;
	step.news = caller->role == DW_CLIENT;
	step.show = caller->role == DW_OWNER && op->head.generation != stored->head.generation;
	return step;
}

/* cancel_damaged always removes the timer, because nothing else could. A client gets DW_OK only if
 * the stored timer has no trace of a claim. Such traces are the state, the token, and `open`. */
static struct life_step cancel_damaged(const struct life_record *stored,
				       const struct life_caller *caller)
{
	struct life_step step = change(LIFE_DELETE, stored);

	if (caller->role == DW_OWNER)
		return step;
	step.news = true;
	step.open_news = stored->head.state != DW_PENDING || stored->claim || stored->head.open;
	if (step.open_news)
		step.status = DW_ELATE;
	return step;
}

/* A timer that does not match its checksum never fires. A put replaces it, a cancel removes it, and
 * a bury makes it a dead letter. Nothing else changes it. */
static struct life_step take_damaged(const dw_op *op, const struct life_record *stored,
				     const struct life_caller *caller)
{
	if (op->kind == DW_OP_CANCEL)
		return cancel_damaged(stored, caller);
	if (op->kind == DW_OP_BURY && op->head.generation == stored->head.generation)
		return change(LIFE_BURY, stored);
	return keep(DW_ECORRUPT);
}

/* No operation changes what a newer durawheel has written. An owner that asks about an earlier
 * timer of the id gets the newer row. */
static struct life_step take_newer(const dw_op *op, const struct life_record *stored)
{
	struct life_step step = stale(stored);

	switch (op->kind) {
	case DW_OP_PUT:
		return keep(op->flags & DW_OP_NEW ? DW_EEXIST : DW_ENEWER);
	case DW_OP_CANCEL:
	case DW_OP_MOVE:
		return keep(DW_ENEWER);
	case DW_OP_GET:
		step.status = DW_OK;
		return step;
	default:
		return step;
	}
}

struct life_step life_requeue(const dw_op *op, const struct life_record *dead, bool taken,
			      const struct life_caller *caller)
{
	struct life_record record = {.head = {.generation = caller->generation}};
	struct life_step step;

	if (!dead || taken)
		return keep(!dead ? DW_ENOENT : DW_EEXIST);
	if (dead->damaged || dead->newer)
		return keep(dead->damaged ? DW_ECORRUPT : DW_ENEWER);
	record.head.due = op->head.due;
	record.head.attempt = dead->head.attempt; /* the attempt number goes on, as after a move */
	record.head.open = dead->head.open || caller->left_open;
	step = change(LIFE_STORE, &record);
	step.news = caller->role == DW_CLIENT;
	step.show = caller->role == DW_OWNER;
	return step;
}

dw_end life_end(const dw_op *op, const struct life_record *stored, const struct life_step *step)
{
	if (!stored || stored->damaged)
		return DW_END_UNKNOWN; /* the topic of a damaged timer is not known */
	switch (step->effect) {
	case LIFE_DELETE:
		return op->kind == DW_OP_CANCEL ? DW_END_CANCELLED : DW_END_DONE;
	case LIFE_BURY:
	case LIFE_RENEW:
		return DW_END_DEAD;
	case LIFE_STORE:
		return op->kind == DW_OP_NEXT && op->started ? DW_END_DONE : DW_END_UNKNOWN;
	default:
		return DW_END_UNKNOWN;
	}
}

bool life_forgets(uint64_t count, dw_usec at, dw_usec now)
{
	return count > LIFE_DEAD_MAX || usec_sub(now, at) > LIFE_DEAD_KEPT;
}

bool life_renews(const struct life_step *step, const struct life_caller *caller)
{
	return step->news ||
	       (step->effect != LIFE_KEEP && step->record.head.generation == caller->generation);
}

struct life_step life_take(const dw_op *op, const struct life_record *stored,
			   const struct life_caller *caller)
{
	if (stored && stored->newer)
		return take_newer(op, stored);
	if (op->kind == DW_OP_PUT)
		return take_put(op, stored, caller);
	if (op->kind == DW_OP_CANCEL && stored && op->flags & DW_OP_EXACT &&
	    op->head.generation != stored->head.generation)
		return keep(DW_ENOENT);
	/* If an earlier claim of a deleted timer may still start, a client's cancel answers
	 * DW_ELATE, because it can promise nothing. */
	if (!stored)
		return keep(op->kind == DW_OP_CANCEL && caller->left_open ? DW_ELATE : DW_ENOENT);
	if (stored->damaged)
		return take_damaged(op, stored, caller);
	switch (op->kind) {
	case DW_OP_CLAIM:
		return take_claim(op, stored, caller);
	case DW_OP_SETTLE:
		return is_delivery(op, stored) ? change(LIFE_DELETE, stored) : stale(stored);
	case DW_OP_RETRY:
		return take_retry(op, stored);
	case DW_OP_BURY:
		return take_bury(op, stored);
	case DW_OP_NEXT:
		return take_next(op, stored, caller);
	case DW_OP_CANCEL:
		return take_cancel(op, stored, caller);
	case DW_OP_MOVE:
		return take_move(op, stored, caller);
	default: {
		struct life_step step = change(LIFE_KEEP, stored);

		assert(op->kind == DW_OP_GET);
		step.show = true;
		return step;
	}
	}
}
