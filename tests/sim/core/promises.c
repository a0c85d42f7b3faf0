#include "sim/core/sim.h"

#include <string.h>

struct name *promises_name(struct sim *sim, const char *id)
{
	struct promises *promises = &sim->promises;
	struct name *name;

	for (name = promises->first; name; name = name->next)
		if (strcmp(name->id, id) == 0)
			return name;
	if (promises->name_count == NAMES_MAX || strlen(id) >= sizeof name->id) {
		broken(sim, "sim", "no room for the id %s", id);
		return promises->names;
	}
	name = &promises->names[promises->name_count];
	name->number = promises->name_count++;
	if (name->number > 0)
		name[-1].next = name;
	else
		promises->first = name;
	memcpy(name->id, id, strlen(id) + 1);
	return name;
}

void promises_name_all(struct sim *sim, uint32_t count)
{
	char id[] = "t00";

	for (uint32_t i = 0; i < count; i++) {
		id[1] = (char)('0' + i / 10);
		id[2] = (char)('0' + i % 10);
		(void)promises_name(sim, id);
	}
}

struct generation *promises_add(struct sim *sim, struct generation made)
{
	struct promises *promises = &sim->promises;
	struct generation *generation = &promises->generations[promises->generation_count];

	if (promises->generation_count == GENERATIONS_MAX) {
		broken(sim, "sim", "no room for a generation of %s", made.name->id);
		return NULL;
	}
	promises->generation_count++;
	*generation = made;
	generation->before = made.name->last;
	generation->made_at = generation->since = sim->clocks.steady;
	made.name->last = made.name->stored = generation;
	return generation;
}

bool promises_is(const struct generation *generation, uint64_t number)
{
	return generation->number == number || (generation->was && generation->was == number);
}

struct generation *promises_find(const struct name *name, uint64_t number)
{
	struct generation *generation = name->last;

	if (name->stored && promises_is(name->stored, number))
		return name->stored;
	while (generation && !promises_is(generation, number))
		generation = generation->before;
	return generation;
}

struct generation *promises_dead(const struct name *name)
{
	struct generation *generation = name->last;

	while (generation && generation->fate != FATE_DEAD)
		generation = generation->before;
	return generation;
}

struct generation *promises_made_by(const struct name *name, const struct asked *asked, bool lost)
{
	struct generation *generation = name->last;

	while (generation && (generation->asked != asked || generation->moved_to != 0 ||
			      generation->loss.lost != lost))
		generation = generation->before;
	return generation;
}

uint64_t promises_last_number(const struct name *name)
{
	return name->last ? name->last->number : 0;
}

void promises_raise(struct name *name, uint64_t number)
{
	if (name->floor < number)
		name->floor = number;
}

void promises_lower(struct name *name, uint64_t number)
{
	uint64_t *floors[] = {&name->floor, &name->cancel_floor, &name->purge_floor};

	for (size_t i = 0; i < sizeof floors / sizeof *floors; i++)
		if (*floors[i] >= number)
			*floors[i] = number - 1;
}
