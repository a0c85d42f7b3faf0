/* What the model forgets when a process has lost the store, or is no more. */
#include "sim/sim.h"

void model_lost(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.generation_count; i++) {
		struct generation *generation = &sim->model.generations[i];

		if (sim->town && generation->life != sim->life)
			continue; /* another process */
		generation->held = false;
		generation->dropped = 0; /* of a void delivery */
		if (generation->life == sim->life)
			generation->life = 0;
	}
	order_forget(sim);
}

void model_process_ended(struct sim *sim)
{
	struct model *model = &sim->model;

	for (uint32_t i = 0; i < model->asked_count; i++) {
		struct asked *asked = &model->asked[i];

		if (asked->status != UNANSWERED || asked->life != sim->life)
			continue;
		asked->status = VOID;
		model->unanswered -= asked->callback;
		if (asked->kind == ASKED_PURGE)
			model->purging = false;
		if (asked->name != NONE)
			model->names[asked->name].open -= asked->callback;
	}
	for (uint32_t i = 0; i < model->name_count; i++)
		model->names[i].mute = model->names[i].mute && sim->town;
	order_forget(sim);
}
