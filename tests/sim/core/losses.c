#include "sim/core/sim.h"

void losses_lose(struct sim *sim, struct generation *generation)
{
	if (!generation || generation == generation->name->stored)
		return;
	generation->loss.lost = true;
	generation->loss.keeper = generation->name->loss.keeper;
	trace(sim, "is lost", generation->name->id, (int64_t)generation->number,
	      (int64_t)generation->loss.keeper);
}

bool losses_may_repeat(const struct generation *done)
{
	int status = done->asked->status;

	return done->made_at <= done->name->loss.at &&
	       (status == UNANSWERED || status == VOID || status == DW_EUNKNOWN);
}

void losses_changed(struct sim *sim, struct name *name, bool deleted)
{
	struct generation *owed = name->loss.owed;

	name->loss.owed = NULL;
	if (deleted)
		losses_lose(sim, owed);
	else if (owed)
		owed->fate = FATE_REPLACED;
}

void losses_ended(const struct name *name)
{
	for (struct generation *each = name->last; each; each = each->before)
		if (each->loss.lost && each->fate == FATE_STORED)
			each->fate = FATE_CANCELLED;
}

void losses_confirmed(struct sim *sim, struct generation *generation)
{
	const struct instance *instance = sim->at_work;
	struct name *name = generation->name;

	if (!generation->loss.lost || generation->loss.keeper != instance->life ||
	    !instance->engine || !engine_is_owner(instance->engine) || name->last != generation)
		return;
	if (generation->fate != FATE_STORED)
		return; /* a client ended it before the loss, and the keeper may know that */
	generation->loss.lost = false;
	name->loss.keeper = instance->life;
	name->loss.owed = generation;
}
