/* How long a caller waits. The store answers what it was asked within its patience; but a call that
 * waits behind another operation of its id has not been asked of the store, and a verdict is sent
 * until it is stored. Both are answered here, when the same patience is over. It counts from the
 * call's acceptance, or from the last change that the store has made: a store at work may have much
 * before it. */
#include "engine/internal.h"

#include <assert.h>

#include "port/driven.h"

#define ANSWERED_A_TURN 256

/* next_link, prev_link: the links to the call's neighbours; NULL stands for the ends. */
static struct call **next_link(struct engine *engine, struct call *call)
{
	return call ? &call->next_patient : &engine->patient;
}

static struct call **prev_link(struct engine *engine, struct call *call)
{
	return call ? &call->prev_patient : &engine->patient_last;
}

/* The list is in the order of acceptance; mostly the last one was accepted last. */
void patience_begin(struct engine *engine, struct call *call)
{
	struct call *before = engine->patient_last;

	assert(!call->patient);
	while (before && before->asked > call->asked)
		before = before->prev_patient;
	call->prev_patient = before;
	call->next_patient = before ? before->next_patient : engine->patient;
	*next_link(engine, before) = call;
	*prev_link(engine, call->next_patient) = call;
	call->patient = true;
}

void patience_end(struct engine *engine, struct call *call)
{
	if (!call->patient)
		return;
	*next_link(engine, call->prev_patient) = call->next_patient;
	*prev_link(engine, call->next_patient) = call->prev_patient;
	call->patient = false;
}

dw_usec patience_since(const struct engine *engine, const struct call *call)
{
	return usec_max(call->asked, engine->served_at);
}

/* ends: the steady time at which the first of them is answered. */
static dw_usec ends(const struct engine *engine)
{
	if (!engine->patient)
		return DW_NEVER;
	return usec_add(patience_since(engine, engine->patient), driven_patience(engine->store));
}

/* leave takes the call out of what waits for its id. Those that were called before it have mostly
 * been answered before it. */
static void leave(struct timer *timer, const struct call *call)
{
	struct call **link = &timer->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
}

static void answer(struct engine *engine, struct call *call)
{
	struct timer *timer = index_find(&engine->index, call->id);

	assert(timer);
	if (timer->settling == call) { /* the verdict goes on without it */
		timer->settling = NULL;
		call_answer(engine, call, DW_EUNKNOWN);
	} else {
		leave(timer, call);
		call_answer(engine, call, DW_ESTORE);
	}
}

void patience_round(struct engine *engine)
{
	for (int i = 0; i < ANSWERED_A_TURN && engine_steady(engine) >= ends(engine); i++)
		answer(engine, engine->patient);
}

dw_usec patience_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = ends(engine);

	return at == DW_NEVER ? at
			      : usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}

void patience_fail(struct engine *engine, struct timer *timer)
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
