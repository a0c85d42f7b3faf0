#include "engine/due/urgent.h"

#include <assert.h>
#include <string.h>

#include "engine/core.h"
#include "engine/queue/message_op.h"
#include "engine/rule/occurrences.h"
#include "topic/returns.h"

void urgent_send(struct engine *engine, struct timer *timer, dw_op *op)
{
	if (!op) {
		timer_retry_later(engine, timer);
		return;
	}
	if (op->head.generation == 0)
		op->head = timer->head;
	timer_set_busy(&engine->shards, timer, true);
	submit_push(&engine->submit, op, true);
}

void urgent_give_back(struct engine *engine, struct timer *timer)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_RETRY, timer->id, NULL, 0);

	timer_disarm(engine, timer);
	urgent_send(engine, timer, op);
}

/* ---- The verdict --------------------------------------------------------------------------- */

/* find_reason returns why the timer becomes a dead letter, or DW_REASON_UNKNOWN if it does not. If
 * the timer was cancelled meanwhile, its verdict only ends it. */
static dw_reason find_reason(const struct timer *timer)
{
	if (timer->reason || timer->no_retry)
		return (dw_reason)timer->reason;
	if (timer->verdict == DW_DEAD)
		return DW_REASON_GAVE_UP;
	if (timer->verdict == DW_RETRY && !timer->uncounted &&
	    timer->head.retries >= settings_retries_max(&timer->topic->settings))
		return DW_REASON_RETRIES;
	return DW_REASON_UNKNOWN;
}

/* verdict_op makes the operation of a verdict. It carries what the handler has said; said is NULL
 * if the handler said nothing. */
static dw_op *verdict_op(struct alloc *alloc, const struct timer *timer, dw_op_kind kind,
			 const struct said *said)
{
	return op_new(alloc, kind, timer->id, said ? said->bytes : NULL, said ? said->size : 0);
}

/* is_claim_known returns true if the store can write the verdict without reading the claim. Only a
 * client can have changed the claim. A timer whose end is kept needs the stored value. */
static bool is_claim_known(const struct timer *timer)
{
	return !timer->deleted && timer->topic->settings.keep_us == 0 &&
	       record_keep(timer->body) == 0;
}

/* settle_op makes the operation that settles the timer. Its bytes are the handler's result and then
 * the topic. */
static dw_op *settle_op(struct alloc *alloc, const struct timer *timer)
{
	size_t size = timer->result ? timer->result->size : 0;
	size_t topic_size = strlen(timer->topic->name) + 1;
	dw_op *op = op_new(alloc, DW_OP_SETTLE, timer->id, NULL, size + topic_size);

	if (!op)
		return NULL;
	if (size > 0)
		memcpy(op_room(op), timer->result->bytes, size);
	memcpy(op_room(op) + size, timer->topic->name, topic_size);
	op->topic = (const char *)op_room(op) + size;
	op->body_size = size;
	if (is_claim_known(timer))
		op->flags |= DW_OP_KNOWN;
	return op;
}

/* retry_op makes the operation that makes the timer pending again. The handler or the retry policy
 * decides the delay. */
static dw_op *retry_op(struct engine *engine, struct timer *timer)
{
	dw_op *op = verdict_op(&engine->alloc, timer, DW_OP_RETRY, timer->why);
	bool is_computed;

	if (!op)
		return NULL;
	is_computed = timer->retry_in < 0;
	if (is_computed)
		timer->retry_in = settings_retry_delay(&timer->topic->settings, timer->head.retries,
						       &engine->rng);
	/* If the outcome is unknown, the operation is sent again and must name the same
	 * deadline. */
	if (timer->retry_at == 0)
		timer->retry_at =
		    returns_due(usec_add(engine_now(engine), timer->retry_in), is_computed);
	op->flags |= timer->uncounted ? 0 : DW_OP_VERDICT;
	op->head = timer->head;
	op->head.due = timer->retry_at;
	return op;
}

/* end_op makes the operation that ends the delivery: the timer is settled, or becomes a dead
 * letter. A recurring timer goes on to its next occurrence, unless it was cancelled meanwhile, or
 * this was its last one. */
static dw_op *end_op(struct engine *engine, struct timer *timer)
{
	dw_op *op = NULL;
	int status = DW_ENOENT;

	if (timer->recurs && !timer->no_retry)
		status = occurrence_next(engine, timer, &op);
	if (status == DW_ENOENT && timer->reason)
		op = verdict_op(&engine->alloc, timer, DW_OP_BURY, timer->why);
	else if (status == DW_ENOENT)
		op = settle_op(&engine->alloc, timer);
	if (!op)
		return NULL;
	/* The store must read the claim in three cases: a dead letter needs the stored value; a
	 * provisional generation may not be stored; after a failure this operation may be done
	 * already. */
	if (op->kind == DW_OP_NEXT && !timer->reason && !timer->provisional &&
	    timer->failures == 0 && is_claim_known(timer))
		op->flags |= DW_OP_KNOWN;
	op->reason = (dw_reason)timer->reason;
	/* No handler ran for a missed occurrence. */
	op->started = timer->skips ? 0 : timer->started;
	return op;
}

/* with_message adds the message to the operation, if the timer becomes a message in the same step.
 * It returns NULL if there is no memory. */
static dw_op *with_message(struct engine *engine, const struct timer *timer, dw_op *op)
{
	if (!op || !timer->pushes || op->reason || timer->skips)
		return op;
	op->message = message_op(&engine->alloc, timer);
	if (op->message)
		return op;
	op_free(&engine->alloc, op);
	return NULL;
}

void urgent_verdict(struct engine *engine, struct timer *timer)
{
	dw_op *op;

	assert(timer->state == TIMER_VERDICT && !timer->busy);
	occurrence_look_again(engine, timer);
	timer->reason = (uint8_t)find_reason(timer);
	if (!timer->reason && timer->verdict == DW_RETRY && !timer->no_retry)
		op = retry_op(engine, timer);
	else
		op = with_message(engine, timer, end_op(engine, timer));
	timer->judging = op != NULL;
	if (op && timer->settling)
		op->asked = timer->settling->asked;
	urgent_send(engine, timer, op);
}
