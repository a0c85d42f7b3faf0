/* What the model forgets when a process has lost the store, or is no more. */
#include "sim/fleet/fleet.h"

/* is_in_time: its lease is not over, and no shard that was set back is another's by now. */
static bool is_in_time(const struct town *town)
{
	const struct process *process = town->at_work;

	for (unsigned i = 0; i < town->shard_count; i++)
		if (town->set_back[i] && !town_has_lease(process, i))
			return false;
	return town->sim->clocks.steady < process->leased && !process->is_beaten;
}

void model_lost(struct sim *sim)
{
	if (sim->town)
		lost_keeper_ends(sim, is_in_time(sim->town));
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

	if (sim->town)
		lost_keeper_ends(sim, false);

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
