#include "engine/core.h"

#include <assert.h>
#include <string.h>

#define GIVEN_UP_A_TURN 256

int call_make(struct engine *engine, enum call_kind kind, const char *id, struct call **ret_call)
{
	size_t id_size = strlen(id);
	struct call *call = alloc_new(&engine->alloc, sizeof *call + id_size + 1);

	if (!call) {
		(void)engine_fail(engine, DW_ENOMEM, "no memory for the call");
		return DW_ENOMEM; /* a constant: the compiler sees that *ret_call is not read */
	}
	call->kind = kind;
	call->asked = engine_steady(engine);
	call->id_size = id_size;
	call->bytes = sizeof *call + id_size + 1;
	engine->calls.bytes += call->bytes;
	memcpy(call->id, id, id_size + 1);
	call->next_open = engine->calls.open;
	if (engine->calls.open)
		engine->calls.open->prev_open = call;
	engine->calls.open = call;
	engine->calls.count++;
	*ret_call = call;
	return DW_OK;
}

struct call *call_make_internal(struct engine *engine, const struct call *earlier)
{
	struct call *call;

	if (call_make(engine, CALL_PUT, earlier->id, &call) != DW_OK)
		return NULL;
	call->internal = true;
	engine->calls.internal_count++;
	return call;
}

/* call_new limits the calls, so that unanswered calls do not use up all memory while a store does
 * not answer. Calls that belong to a delivery need no limit, because there are no more of them than
 * deliveries. */
int call_new(struct engine *engine, enum call_kind kind, const char *id, struct call **ret_call)
{
	if (engine->calls.bytes >= DW_UNANSWERED_MAX) {
		(void)engine_fail(engine, DW_ELIMIT,
				  "calls of %d MiB are not answered yet: wait for an answer",
				  DW_UNANSWERED_MAX / (1024 * 1024));
		return DW_ELIMIT;
	}
	return call_make(engine, kind, id, ret_call);
}

void call_free(struct engine *engine, struct call *call)
{
	if (call->prev_open)
		call->prev_open->next_open = call->next_open;
	else
		engine->calls.open = call->next_open;
	if (call->next_open)
		call->next_open->prev_open = call->prev_open;
	patience_end(&engine->patience, call);
	engine->calls.count--;
	engine->calls.internal_count -= call->internal;
	engine->calls.bytes -= call->bytes;
	op_free(&engine->alloc, call->op);
	alloc_free(&engine->alloc, call->extra);
	alloc_free(&engine->alloc, call);
}

static void charge(struct calls *calls, struct call *call, size_t bytes)
{
	call->bytes += bytes;
	calls->bytes += bytes;
}

void call_charge(struct calls *calls, struct call *call, const dw_op *op)
{
	charge(calls, call, sizeof(struct ticket) + op->body_size + (op->id ? call->id_size : 0));
}

void call_charge_anew(struct calls *calls, struct call *call, const dw_op *op, const dw_op *before)
{
	/* If the body has become smaller, the difference wraps around. */
	charge(calls, call, op->body_size - before->body_size);
}

void calls_free(struct engine *engine)
{
	struct call *call;

	while ((call = engine->calls.open)) {
		if (call->fresh && index_find(&engine->timers.index, call->id) != call->fresh)
			alloc_free(&engine->alloc, call->fresh);
		call_free(engine, call);
	}
	assert(engine->calls.count == 0 && engine->calls.bytes == 0 &&
	       engine->calls.internal_count == 0);
}

/* ---- Answering ----------------------------------------------------------------------------- */

/* drop_fresh frees the timer of a put that was not stored. */
static void drop_fresh(struct engine *engine, struct call *call)
{
	struct timer *fresh = call->fresh;

	call->fresh = NULL;
	if (!fresh)
		return;
	fresh->storing = false;
	if (index_find(&engine->timers.index, call->id) != fresh)
		timer_release(engine, fresh);
}

void call_answer(struct engine *engine, struct call *call, int status)
{
	call->status = status;
	patience_end(&engine->patience, call);
	drop_fresh(engine, call);
	events_push(engine, &call->notice);
}

void call_answer_stored(struct engine *engine, struct call *call, const dw_op *op)
{
	call->level = op->level;
	call_answer(engine, call, op->status);
}

void call_answer_stale(struct engine *engine, struct call *call)
{
	if (call)
		call_answer(engine, call, DW_ESTALE);
}

int call_ask(struct engine *engine, struct call *call, dw_op *op)
{
	if (!op) {
		call_free(engine, call);
		return engine_fail(engine, DW_ENOMEM, "no memory for the call");
	}
	call_charge(&engine->calls, call, op);
	ticket_of(op)->call = call;
	op->asked = call->asked;
	submit_push(&engine->submit, op, false);
	engine_touch(engine);
	return DW_OK;
}

void call_answer_ask(struct engine *engine, dw_op *op)
{
	struct call *call = ticket_of(op)->call;

	call->op = op;
	call_answer_stored(engine, call, op);
}

bool call_has(const dw_op *op)
{
	const struct call *call = ticket_of_const(op)->call;

	return call && call->op == op;
}

/* leave takes the call out of the list of calls that wait for its id. Most earlier calls are
 * answered by now, so the search is short. */
static void leave(struct timer *timer, const struct call *call)
{
	struct call **link = &timer->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
}

static void give_up(struct engine *engine, struct call *call)
{
	struct timer *timer = index_find(&engine->timers.index, call->id);

	assert(timer);
	if (timer->settling == call) { /* the engine still sends the verdict */
		timer->settling = NULL;
		call_answer(engine, call, DW_EUNKNOWN);
	} else {
		leave(timer, call);
		call_answer(engine, call, DW_ESTORE);
	}
}

void calls_give_up(struct engine *engine)
{
	for (int i = 0; i < GIVEN_UP_A_TURN; i++) {
		struct call *call = patience_over(engine);

		if (!call)
			return;
		give_up(engine, call);
	}
}

void calls_fail(struct engine *engine, struct timer *timer)
{
	struct call **link = &timer->calls;

	while (*link) {
		struct call *call = *link;

		if (call->internal) {
			link = &call->next;
			continue;
		}
		*link = call->next;
		call_answer(engine, call, DW_ESTORE);
	}
}
