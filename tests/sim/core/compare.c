#include "sim/core/sim.h"

/* is_untouched: a newer version's timer is stored as that version wrote it. */
static bool is_untouched(const struct name *name, const dw_row *row)
{
	return row && row->status == DW_ENEWER && row->head.generation == name->newer &&
	       row->head.state == DW_PENDING && row->head.attempt == 0;
}

static void compare(struct sim *sim, const struct name *name)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	const struct generation *generation = name->stored;
	dw_row *row = sim->view.stored(sim->view.user, name->id);

	if (name->newer && !is_untouched(name, row))
		broken(sim, "newer", "%s, which a newer version stored, was changed", name->id);
	else if (!generation && row && !name->newer)
		broken(sim, "I3", "%s is in the store, but must not be", name->id);
	else if (generation && !row)
		broken(sim, "I2", "%s is not in the store any more", name->id);
	else if (generation && row->head.generation != generation->number)
		broken(sim, "I2", "another generation of %s is stored", name->id);
	else if (generation && row->head.due != generation->due && !name->loss.keeper &&
		 generation->fate == FATE_STORED)
		broken(sim, "I11", "another deadline of %s is stored", name->id);
	else if (generation && calls_of_body(sim, row->body, row->body_size) != generation->asked)
		broken(sim, "I11", "the data of %s is damaged", name->id);
	rows_free(&alloc, row);
}

void compare_all(struct sim *sim)
{
	for (const struct name *name = sim->promises.first; name; name = name->next)
		compare(sim, name);
}

void compare_say_what_is_left(struct sim *sim)
{
	for (const struct name *name = sim->promises.first; name; name = name->next) {
		if (name->stored)
			broken(sim, "I2", "%s has been due for %lld us and is not delivered",
			       name->id, (long long)(clocks_wall(sim) - name->stored->due));
	}
	broken(sim, "once", "%llu calls are not answered",
	       (unsigned long long)sim->calls.unanswered);
}

bool compare_is_over(const struct sim *sim)
{
	for (const struct name *name = sim->promises.first; name; name = name->next)
		if (name->stored || name->loss.owed)
			return false;
	return sim->calls.unanswered == 0;
}
