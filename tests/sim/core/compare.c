#include "sim/core/sim.h"

static void compare(struct sim *sim, uint32_t number)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	const char *id = sim->model.names[number].id;
	struct generation *generation = model_stored(sim, number);
	dw_row *row = sim->view.stored(sim->view.user, id);

	if (!generation && row)
		broken(sim, "I3", "%s is in the store and should not be", id);
	else if (generation && !row)
		broken(sim, "I2", "%s is not in the store any more", id);
	else if (generation && row->head.generation != generation->number)
		broken(sim, "I2", "another generation of %s is stored", id);
	else if (generation && row->head.due != generation->due &&
		 !sim->model.names[number].loss.keeper && generation->fate == FATE_STORED)
		broken(sim, "I11", "another deadline of %s is stored", id);
	else if (generation && model_asked_of(sim, row->body, row->body_size) != generation->asked)
		broken(sim, "I11", "the data of %s is damaged", id);
	rows_free(&alloc, row);
}

void model_compare(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.name_count; i++)
		compare(sim, i);
}

void model_say_what_is_left(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		const struct generation *generation = model_stored(sim, i);

		if (generation)
			broken(sim, "I2", "%s is due for %lld us and not delivered",
			       sim->model.names[i].id,
			       (long long)(clocks_wall(sim) - generation->due));
	}
	broken(sim, "once", "%llu calls are not answered",
	       (unsigned long long)sim->model.unanswered);
}

bool model_all_over(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.name_count; i++)
		if (sim->model.names[i].stored != NONE || sim->model.names[i].loss.owed != NONE)
			return false;
	return sim->model.unanswered == 0;
}
