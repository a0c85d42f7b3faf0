/* fault: what happens to the owner's process, to its connection and to a request on its way. */
#include "model/owner.h"
#include "model/steps.h"

void fault_restart(const struct model *model, const struct state *state, struct steps *steps)
{
	struct owner *owner = NULL;

	(void)model; /* always: a machine comes back, or nothing is promised */
	if (state->owner.up)
		return;
	owner = &steps_add(steps, state, "A is started again")->after->owner;
	owner->up = 1;
	owner->row.sent = owner->row.kind != ROW_NONE;
}

void fault_heal(const struct model *model, const struct state *state, struct steps *steps)
{
	(void)model; /* always, as a restart */
	if (state->owner.cut)
		steps_add(steps, state, "A reaches Redis again")->after->owner.cut = 0;
}

static struct owner *cut(const struct state *state, struct steps *steps, const char *text)
{
	struct state *after = steps_add(steps, state, text)->after;

	after->spent.faults++;
	after->owner.cut = 1;
	return &after->owner;
}

/* A request that has not been run may lie in the socket, and be run later. */
void fault_cut(const struct model *model, const struct state *state, struct steps *steps)
{
	struct owner *owner = NULL;

	if (!moves_may_fail(model, state) || !owner_reaches_redis(state))
		return;
	if (state->owner.stage == STAGE_SENT) {
		owner = cut(state, steps, "A is cut off; its request lies in the socket");
		owner->stage = STAGE_DOUBT;
		owner->request_late = 1;
	}
	owner = cut(state, steps, "A is cut off");
	if (owner->stage == STAGE_SENT)
		owner->stage = STAGE_DOUBT;
	else if (owner->stage == STAGE_RUN)
		owner->stage = STAGE_DOUBT_RUN;
}

void fault_kill(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (!moves_may_fail(model, state) || !state->owner.up)
		return;
	after = steps_add(steps, state, "A is killed")->after;
	after->spent.faults++;
	owner_die(&after->owner);
}

void fault_lose_request(const struct model *model, const struct state *state, struct steps *steps)
{
	if (state->owner.request_late && !model->quiet)
		steps_add(steps, state, "the request in the old socket is lost")
		    ->after->owner.request_late = 0;
}
