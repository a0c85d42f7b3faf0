/* Applies the answers to puts, cancels, moves and requeues. */
#include <string.h>

#include "engine/answers.h"
#include "engine/core.h"
#include "engine/heal/learn.h"
#include "engine/call/lifecycle.h"
#include "engine/call/modes.h"
#include "timer/record.h"

/* ---- Puts ---------------------------------------------------------------------------------- */

/* is_ahead returns true if memory knows this generation of the timer, or a later one. Memory can
 * have learnt it from the inbox, because an inbox answer can overtake other answers. */
static bool is_ahead(const struct timer *head, uint64_t generation)
{
	return head->state != TIMER_ABSENT && head->head.generation >= generation;
}

/* install is called when a put was stored. It makes the timer of the put the current timer of its
 * id. A claim that came with the put counts only if this owner's term has not changed since. */
static struct timer *install(struct engine *engine, struct timer *head, struct call *call,
			     const dw_op *op)
{
	struct timer *fresh = call->fresh;
	bool is_current = shards_is_current(&engine->shards, head->shard, op);
	bool claimed = op->head.state == DW_CLAIMED && is_current;

	if (fresh != head && is_ahead(head, op->head.generation))
		return head;
	call->fresh = NULL;
	fresh->storing = false;
	fresh->shard = head->shard;
	fresh->head = op->head;
	fresh->unsure = !is_current;
	fresh->provisional = op->level == DW_JOURNALED;
	fresh->deleted = false;
	if (fresh != head)
		call_answer_stale(engine, timer_replace(engine, head, fresh));
	if (engine->shards.all[fresh->shard].owned)
		timer_set_state(engine, fresh, claimed ? TIMER_CLAIMED : TIMER_PENDING);
	else
		fresh->head.generation =
		    0; /* so that a scan learns the timer if this client becomes the owner */
	return fresh;
}

/* leaves_earlier returns true if an earlier timer with this id may still start. Only a client needs
 * to know, because an owner knows its own claims. */
static bool leaves_earlier(const struct shards *shards, const struct timer *timer,
			   const dw_head *head)
{
	return !shards->all[timer->shard].owned && head->open;
}

/* vacate is called when the put was refused. The put's timer object stays as an empty place for the
 * id, and the call does not own it any more. */
static void vacate(struct timer *head, struct call *call)
{
	if (call->fresh != head)
		return;
	head->storing = false;
	call->fresh = NULL;
}

/* is_its returns true if this put has stored the row. The row's timer may have been delivered
 * since. */
static bool is_its(const dw_op *op, const dw_row *row)
{
	if (row->status == DW_OK && record_recurs(row->body, op->body))
		return true;
	return row->body_size == op->body_size && memcmp(row->body, op->body, op->body_size) == 0 &&
	       (row->head.due == op->head.due || row->head.attempt > 0);
}

/* learn_done is called when an earlier attempt of the put was applied. The timer may have fired,
 * changed or ended since, so only the stored row counts. It returns the timer in memory that has
 * the id. */
static struct timer *learn_done(struct engine *engine, struct timer *head, struct call *call,
				const dw_op *op)
{
	const dw_row *its = op->rows && is_its(op, op->rows) ? op->rows : NULL;

	vacate(head, call);
	call->generation = its ? its->head.generation : 0;
	call->earlier = its && leaves_earlier(&engine->shards, head, &its->head);
	if (!shards_is_current(&engine->shards, head->shard, op))
		return head;
	/* This comes before the row is learnt: if learning fails, the old timer still must not
	 * start. */
	if (head->state != TIMER_ABSENT &&
	    (!op->rows || head->head.generation < op->rows->head.generation))
		call_answer_stale(engine, timer_forget(engine, head));
	if (op->rows)
		learn_rows(engine, op->rows);
	head = index_find(&engine->timers.index, op->id);
	/* The program has put the same recurring timer after a cancel that came too late. */
	if (head && its && !call->internal && head->head.generation == its->head.generation)
		head->no_retry = false;
	return head;
}

/* send_again is called when nobody knows whether the put was done. The caller gets DW_EUNKNOWN, and
 * the engine repeats the same put until the outcome is known (rule I9 of tests/sim). A put with
 * DW_NEW, or for one generation, is not repeated, because the timer that it may have stored would
 * refuse it. A scan finds that timer instead. */
static void send_again(struct engine *engine, struct timer *head, struct call *call, dw_op *op)
{
	struct call *again = NULL;

	if (!(op->flags & (DW_OP_NEW | DW_OP_EXACT)) && !engine->drive.closing)
		again = call_make_internal(engine, call);
	if (!again) {
		shards_read_again(engine, head->shard);
		return;
	}
	again->fresh = call->fresh;
	call->fresh = NULL;
	again->op = op_new(&engine->alloc, DW_OP_PUT, op->id, op->body,
			   op->body_size + strlen(op->topic) + 1);
	if (!again->op) {
		shards_read_again(engine, head->shard);
		call_answer(engine, again, DW_ENOMEM);
		return;
	}
	call_charge(&engine->calls, again, again->op);
	again->op->flags = DW_OP_AGAIN | (op->flags & DW_OP_DONE);
	again->op->head.due = op->head.due;
	again->op->body_size = op->body_size;
	again->op->topic = (const char *)again->op->body + op->body_size;
	again->next = head->calls;
	head->calls = again;
	timer_retry_later(engine, head);
}

/* doubt is called when nobody knows whether the operation was done. If the operation may have taken
 * a claim back, the timer must be claimed again. */
static void doubt(struct engine *engine, struct timer *timer, const dw_op *op)
{
	if (op->flags & DW_OP_WITHDRAWN)
		timer_doubt(engine, timer);
}

void answers_put(struct engine *engine, struct timer *head, dw_op *op)
{
	struct call *call = ticket_of(op)->call;
	/* The engine has repeated the put as the owner of the shard, and has lost the shard since.
	 * So the put is sent once more, now as a client. */
	bool fenced = op->status == DW_EFENCED && call->internal;

	if (modes_again(engine, head, call, op))
		return;
	call->generation = op->head.generation;
	call->earlier = leaves_earlier(&engine->shards, head, &op->head);
	if (op->status == DW_OK && op->flags & DW_OP_DONE)
		head = learn_done(engine, head, call, op);
	else if (op->status == DW_OK)
		head = install(engine, head, call, op);
	else if (call->internal)
		shards_read_again(engine, head->shard); /* the first attempt may be stored */
	if (op->status == DW_EUNKNOWN && call->internal && op->flags & DW_OP_DONE) {
		/* The outcome stays unknown. What is stored counts. */
	} else if (op->status == DW_EUNKNOWN || fenced) {
		head->unsure = true;
		doubt(engine, head, op);
		send_again(engine, head, call, op);
	}
	vacate(head, call); /* has an effect only if the put was refused */
	lifecycle_resume(engine, head);
	call_answer_stored(engine, call, op);
}

/* is_promised returns true if the journal has the operation. Then this process will do it, whatever
 * Redis says later. */
static bool is_promised(const dw_op *op)
{
	return op->level == DW_JOURNALED && (op->status == DW_OK || op->status == DW_EUNKNOWN);
}

/* ---- Cancels and moves --------------------------------------------------------------------- */

/* is_newer returns true if memory learnt a newer generation while the operation was under way,
 * because answers to reads can overtake answers to changes. Then this answer must not change the
 * newer timer. If the operation has ended that timer in the store, its next claim will find it
 * gone. */
static bool is_newer(const struct timer *head, const dw_op *op)
{
	return head->state != TIMER_ABSENT && head->head.generation > op->head.generation;
}

/* may_drop returns true if memory must drop the timer, because the store does not have it any more.
 * If the operation is of an earlier term, the shard is read again now. That scan finds a timer that
 * is stored, but does not report that a timer is gone. If memory kept a timer that is gone, the
 * timer would start while Redis is away and a journal is in use. */
static bool may_drop(const struct shards *shards, const struct timer *head, const dw_op *op)
{
	if (shards_is_current(shards, head->shard, op))
		return head->state != TIMER_ABSENT;
	return op->status == DW_OK && head->state == TIMER_PENDING &&
	       shards->all[head->shard].owned;
}

void answers_cancel(struct engine *engine, struct timer *head, dw_op *op)
{
	struct call *call = ticket_of(op)->call;
	bool gone = op->status == DW_OK || op->status == DW_ENOENT || is_promised(op);

	if (gone && !is_newer(head, op) && may_drop(&engine->shards, head, op))
		timer_drop(engine, head);
	engine->stats.cancelled += op->status == DW_OK;
	if (op->status == DW_EUNKNOWN && !is_promised(op)) {
		doubt(engine, head, op);
		shards_read_again(engine, head->shard);
	}
	lifecycle_resume(engine, head);
	call_answer_stored(engine, call, op);
}

/* learn_moved is called when a move or a requeue has made the next generation of the timer. If
 * memory has another timer with the id, or none, the answer contains the row. Only an owner calls
 * this. It may free head. */
static void learn_moved(struct engine *engine, struct timer *head, const dw_op *op)
{
	if (is_ahead(head, op->head.generation))
		return;
	if (op->rows || op->kind == DW_OP_REQUEUE || head->state == TIMER_ABSENT) {
		if (!op->rows)
			shards_read_again(engine, head->shard);
		timer_drop(engine, head);
		head->head.generation = 0; /* so that the row counts as newer */
		learn_rows(engine, op->rows);
		return;
	}
	timer_disarm(engine, head);
	head->head = op->head;
	head->provisional = op->level == DW_JOURNALED;
	timer_set_state(engine, head, TIMER_PENDING);
}

void answers_move(struct engine *engine, struct timer *head, dw_op *op)
{
	struct call *call = ticket_of(op)->call;
	bool current = shards_is_current(&engine->shards, head->shard, op) && !is_newer(head, op);

	call->generation = op->head.generation;
	call->earlier = leaves_earlier(&engine->shards, head, &op->head);
	if ((op->status == DW_OK || is_promised(op)) && current)
		learn_moved(engine, head, op);
	else if (op->status == DW_ENOENT && op->kind == DW_OP_MOVE && current)
		timer_drop(engine, head);
	engine->stats.moved += op->status == DW_OK && op->kind == DW_OP_MOVE;
	if (op->status == DW_EUNKNOWN && !is_promised(op)) {
		doubt(engine, head, op);
		shards_read_again(engine, head->shard);
	}
	lifecycle_resume(engine, index_find(&engine->timers.index, op->id));
	call_answer_stored(engine, call, op);
}
