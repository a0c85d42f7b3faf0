#include "engine/core.h"

#include <assert.h>

#include "port/driven.h"

/* next_link and prev_link return the links to the call's neighbours. If call is NULL, they return
 * the list's own first and last links. */
static struct call **next_link(struct patience *patience, struct call *call)
{
	return call ? &call->next_patient : &patience->first;
}

static struct call **prev_link(struct patience *patience, struct call *call)
{
	return call ? &call->prev_patient : &patience->last;
}

/* patience_begin searches from the end of the list, because usually the call is the latest one. */
void patience_begin(struct patience *patience, struct call *call)
{
	struct call *before = patience->last;

	assert(!call->patient);
	while (before && before->asked > call->asked)
		before = before->prev_patient;
	call->prev_patient = before;
	call->next_patient = before ? before->next_patient : patience->first;
	*next_link(patience, before) = call;
	*prev_link(patience, call->next_patient) = call;
	call->patient = true;
}

void patience_end(struct patience *patience, struct call *call)
{
	if (!call->patient)
		return;
	*next_link(patience, call->prev_patient) = call->next_patient;
	*prev_link(patience, call->next_patient) = call->prev_patient;
	call->patient = false;
}

/* ends returns the steady time at which the first call must be answered. */
static dw_usec ends(const struct engine *engine)
{
	if (!engine->patience.first)
		return DW_NEVER;
	return usec_add(engine->patience.first->asked, driven_patience(engine->store));
}

struct call *patience_over(const struct engine *engine)
{
	struct call *first = engine->patience.first;

	return first && engine_steady(engine) >= ends(engine) ? first : NULL;
}

dw_usec patience_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = ends(engine);

	return at == DW_NEVER ? at
			      : usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}
