/* What is checked now and then and not at an event: that every timer is delivered, that a turn is
 * armed for it, that the table holds what the model says. */
#include "sim/core/sim.h"

/* A delivery and its settling are over so long after the deadline, when nothing disturbs: the
 * engine asks a failing store again after at most 5 s. */
#define PATIENCE DW_SECONDS(8)

static bool handled(const struct sim *sim, const struct generation *generation)
{
	return sim->handled_any || sim->handled[sim->model.asked[generation->asked].topic];
}

void model_watch(struct sim *sim)
{
	dw_usec bound = PATIENCE + DW_MILLISECONDS(sim->knobs.hold_ms);
	dw_usec wall = clocks_wall(sim);

	if (!sim->engine || sim->clocks.steady < sim->faults.disturbed_until + bound)
		return;
	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct generation *generation = model_stored(sim, i);

		if (generation && handled(sim, generation) &&
		    usec_add(generation->due, bound) < wall &&
		    generation->since + bound < sim->clocks.steady)
			broken(sim, "I2", "%s is due for %lld us and is %s", sim->model.names[i].id,
			       (long long)(wall - generation->due),
			       generation->life == sim->life ? "not settled" : "not started");
	}
}

void model_armed(struct sim *sim)
{
	dw_usec bound = PATIENCE + DW_MILLISECONDS(sim->knobs.hold_ms);
	dw_usec now = clocks_wall(sim);

	if (sim->woken || sim->closing || !disk_idle(sim->disk) || !disk_may_start(sim->disk))
		return;
	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct generation *generation = model_stored(sim, i);

		if (generation && handled(sim, generation) &&
		    sim->armed > usec_add(usec_max(generation->due, now), bound))
			broken(sim, "I2", "no turn is armed for %s", sim->model.names[i].id);
	}
}

/* look: the row that is stored, or NULL. */
static dw_row *look(struct sim *sim, const char *id)
{
	struct table_caller caller = {.role = DW_OWNER};
	dw_op get = {.kind = DW_OP_GET, .id = id};

	if (sim->town)
		return town_stored(sim, id);
	(void)table_apply(sim->table, &get, &caller);
	return get.rows;
}

static void compare(struct sim *sim, uint32_t number)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	const char *id = sim->model.names[number].id;
	struct generation *generation = model_stored(sim, number);
	dw_row *row = look(sim, id);

	if (!generation && row)
		broken(sim, "I3", "%s is in the store and should not be", id);
	else if (generation && !row)
		broken(sim, "I2", "%s is not in the store any more", id);
	else if (generation && row->head.generation != generation->number)
		broken(sim, "I2", "another generation of %s is stored", id);
	else if (generation && row->head.due != generation->due &&
		 !sim->model.names[number].keeper && generation->fate == FATE_STORED)
		broken(sim, "I11", "another deadline of %s is stored", id);
	else if (generation && model_asked_of(sim, row->body, row->body_size) != generation->asked)
		broken(sim, "I11", "the data of %s is damaged", id);
	rows_free(&alloc, row);
}

void model_compare(struct sim *sim)
{
	if (!sim->town)
		table_check(sim->table);
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
		if (sim->model.names[i].stored != NONE || sim->model.names[i].owed != NONE)
			return false;
	return sim->model.unanswered == 0;
}
