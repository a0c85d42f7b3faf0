#include "sim/core/sim.h"

void losses_lose(struct sim *sim, struct generation *generation)
{
	if (!generation || generation == model_stored(sim, generation->name))
		return;
	generation->lost = true;
	generation->lost_to = sim->model.names[generation->name].loss.keeper;
	trace(sim, "is lost", sim->model.names[generation->name].id, (int64_t)generation->number,
	      (int64_t)generation->lost_to);
}

bool losses_may_repeat(const struct sim *sim, const struct generation *done)
{
	int status = sim->model.asked[done->asked].status;

	return done->made_at <= sim->model.names[done->name].loss.befallen_at &&
	       (status == UNANSWERED || status == VOID || status == DW_EUNKNOWN);
}

void losses_changed(struct sim *sim, struct name *name, bool deleted)
{
	struct generation *owed =
	    name->loss.owed == NONE ? NULL : &sim->model.generations[name->loss.owed];

	name->loss.owed = NONE;
	if (deleted)
		losses_lose(sim, owed);
	else if (owed)
		owed->fate = FATE_REPLACED;
}

void losses_ended(struct sim *sim, const struct name *name)
{
	for (uint32_t at = name->last; at != NONE; at = sim->model.generations[at].before)
		if (sim->model.generations[at].lost &&
		    sim->model.generations[at].fate == FATE_STORED)
			sim->model.generations[at].fate = FATE_CANCELLED;
}

void losses_confirmed(struct sim *sim, struct generation *generation)
{
	struct name *name = &sim->model.names[generation->name];

	if (!generation->lost || generation->lost_to != sim->at_work->life ||
	    !sim->at_work->engine || !engine_is_owner(sim->at_work->engine) ||
	    &sim->model.generations[name->last] != generation)
		return;
	if (generation->fate != FATE_STORED)
		return; /* a client had ended it before the loss, and the keeper may know that */
	generation->lost = false;
	name->loss.keeper = sim->at_work->life;
	name->loss.owed = (uint32_t)(generation - sim->model.generations);
}
