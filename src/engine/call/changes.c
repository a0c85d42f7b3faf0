/* The calls of the API that change the timer of an id. */
#include <string.h>

#include "engine/call/arguments.h"
#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "engine/heal/loss.h"
#include "engine/call/modes.h"
#include "engine/rule/occurrences.h"
#include "timer/record.h"

const char *engine_make_id(struct engine *engine, char *ret_id)
{
	return rng_id(&engine->rng, ret_id);
}

/* head_of finds the object in memory that has the id. If there is none, it adds `fresh`, or an
 * empty place for the id. */
static int head_of(struct engine *engine, const char *id, struct timer *fresh,
		   struct timer **ret_head)
{
	struct timer *head;

	walk_meets(engine, id);
	loss_meets_id(engine, id);
	head = index_find(&engine->timers.index, id);
	if (head) {
		*ret_head = head;
		return DW_OK;
	}
	if (fresh && index_count(&engine->timers.index) >= engine->env.timers_max)
		return engine_fail(engine, DW_ELIMIT, "there are %zu timers: options.timers_max",
				   engine->env.timers_max);
	head = fresh ? fresh : timer_place(engine, id);
	if (fresh)
		timer_find_shard(engine, fresh);
	if (!head || index_add(&engine->timers.index, head) != DW_OK) {
		if (head && !fresh)
			timer_release(engine, head);
		return engine_fail(engine, DW_ENOMEM, "no memory for the timer");
	}
	*ret_head = head;
	return DW_OK;
}

/* make_fresh makes the new timer and the operation that stores it. */
static int make_fresh(struct engine *engine, const dw_timer *timer, struct call *call)
{
	struct record record = {.id = call->id,
				.topic = timer->topic,
				.data = timer->data,
				.late_after = timer->late_after_us,
				.data_size = (uint32_t)timer->data_size,
				.id_size = (uint8_t)call->id_size,
				.topic_size = (uint8_t)strlen(timer->topic)};
	unsigned char blocks[RECORD_BLOCKS_MAX];
	struct first_occurrence first = {
	    .timer = timer, .id = call->id, .due = timer->due, .blocks = blocks};
	int status = timer->rule ? occurrence_first(engine, &first) : DW_OK;

	if (status != DW_OK)
		return status;
	record.blocks = blocks;
	record.blocks_size = (uint16_t)first.size;
	if (timer->wait_max_us > 0) {
		dw_usec now = engine_now(engine);

		record.blocks_size = (uint16_t)record_series_write(now, blocks);
		first.due = usec_min(first.due, usec_add(now, timer->wait_max_us));
	}
	if (timer->keep_us > 0)
		record.blocks_size +=
		    (uint16_t)record_keep_write(timer->keep_us, blocks + record.blocks_size);
	status = modes_make(engine, &record, first.due, call);
	if (status == DW_OK && timer->flags & ~(DW_NEW | DW_ONCE))
		status = modes_begin(engine, timer, call);
	if (status != DW_OK)
		return engine_fail(engine, DW_ENOMEM, "no memory for the timer");
	if (timer->flags & (DW_NEW | DW_ONCE))
		call->op->flags |= DW_OP_NEW | (timer->flags & DW_ONCE ? DW_OP_ONCE : 0);
	return DW_OK;
}

/* give_up frees a call that could not be accepted. */
static int give_up(struct engine *engine, struct call *call, int status)
{
	if (call->fresh)
		timer_release(engine, call->fresh);
	call_free(engine, call);
	return status;
}

int engine_put(struct engine *engine, const dw_timer *timer, struct done done)
{
	char made[DW_ID_SIZE];
	struct timer *head = NULL;
	struct call *call;
	int status = arguments_timer(timer, engine->env.data_max, engine->events.error);

	if (status != DW_OK)
		return status;
	status =
	    call_new(engine, CALL_PUT, timer->id ? timer->id : engine_make_id(engine, made), &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	status = make_fresh(engine, timer, call);
	if (status == DW_OK)
		status = head_of(engine, call->id, call->fresh, &head);
	if (!head)
		return give_up(engine, call, status);
	engine->stats.put++;
	lifecycle_start(engine, head, call);
	return DW_OK;
}

/* change starts a call on one id with this operation. It always takes the operation over. A NULL
 * operation means that there was no memory for it. If change fails, it frees the call. */
static int change(struct engine *engine, struct call *call, dw_op *op)
{
	struct timer *head = NULL;
	int status;

	call->op = op;
	if (op)
		status = head_of(engine, call->id, NULL, &head);
	else
		status = engine_fail(engine, DW_ENOMEM, "no memory for the call");
	if (!head)
		return give_up(engine, call, status);
	lifecycle_start(engine, head, call);
	return DW_OK;
}

int engine_cancel(struct engine *engine, const char *id, uint64_t generation, struct done done)
{
	struct call *call;
	dw_op *op;
	int status = arguments_id(id, engine->events.error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_CANCEL, id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = op_new(&engine->alloc, DW_OP_CANCEL, id, NULL, 0);
	if (op && generation) {
		op->flags = DW_OP_EXACT;
		op->head.generation = generation;
	}
	return change(engine, call, op);
}

int engine_move(struct engine *engine, const char *id, dw_usec due, struct done done)
{
	struct call *call;
	dw_op *op;
	int status = arguments_id(id, engine->events.error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_MOVE, id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = op_new(&engine->alloc, DW_OP_MOVE, id, NULL, 0);
	if (op)
		op->head.due = due;
	return change(engine, call, op);
}

int engine_dead_requeue(struct engine *engine, const char *id, uint64_t generation, dw_usec due,
			struct done done)
{
	struct call *call;
	dw_op *op;
	int status = arguments_id(id, engine->events.error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_REQUEUE, id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = op_new(&engine->alloc, DW_OP_REQUEUE, id, NULL, 0);
	if (op) {
		op->flags = DW_OP_NEW; /* a requeued dead letter replaces no timer */
		op->head.generation = generation;
		op->head.due = due;
	}
	return change(engine, call, op);
}

int engine_settle(struct engine *engine, const dw_token *token, dw_verdict verdict,
		  dw_usec retry_in, struct done done)
{
	struct timer *head;
	struct call *call;
	int status = arguments_settle(token, verdict, engine->events.error);

	if (status != DW_OK)
		return status;
	walk_meets(engine, token->id);
	loss_meets_id(engine, token->id);
	head = index_find(&engine->timers.index, token->id);
	if (!lifecycle_is_open(head, token->generation, token->attempt))
		return engine_fail(engine, DW_ESTALE, "this delivery of %s is not held any more",
				   token->id);
	status = call_make(engine, CALL_SETTLE, token->id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	call->generation = token->generation;
	call->attempt = token->attempt;
	call->verdict = verdict;
	call->retry_in = retry_in;
	lifecycle_start(engine, head, call);
	return DW_OK;
}
