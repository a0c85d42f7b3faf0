#include "sim/fleet/expected_losses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/fleet.h"

/* ---- The store, as it is ------------------------------------------------------------------- */

static bool head_of(struct fleet *fleet, uint32_t name, dw_head *ret_head)
{
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	dw_row *row = server_row(&fleet->server, fleet->sim->model.names[name].id);
	bool found = row != NULL;

	if (found)
		*ret_head = row->head;
	rows_free(&alloc, row);
	return found;
}

static uint32_t index_of(const struct sim *sim, const struct generation *generation)
{
	return generation ? (uint32_t)(generation - sim->model.generations) : NONE;
}

static struct generation *generation_at(struct sim *sim, uint32_t at)
{
	return at == NONE ? NULL : &sim->model.generations[at];
}

/* ---- Before -------------------------------------------------------------------------------- */

static void look_at(struct fleet *fleet, uint32_t name, const struct process *keeper)
{
	struct remembered *was = &fleet->before[name];
	double score;

	was->stored = head_of(fleet, name, &was->head);
	was->unacked =
	    keeper &&
	    twin_score(
		fleet->server.twin,
		server_key(server_shard(&fleet->server, fleet->sim->model.names[name].id), "i"),
		fleet->sim->model.names[name].id, &score);
	was->unheard = was->unacked && (score < 0 ? -score : score) >
					   (double)keeper->observer.knowledge.known[name];
}

void losses_look(struct fleet *fleet, unsigned shard, const struct process *keeper)
{
	struct sim *sim = fleet->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++)
		if (server_shard(&fleet->server, sim->model.names[i].id) == shard)
			look_at(fleet, i, keeper);
}

/* ---- After --------------------------------------------------------------------------------- */

/* free_again: it is stored, and that counts. */
static void free_again(struct sim *sim, struct generation *generation, const dw_head *head)
{
	model_lower(&sim->model.names[generation->name], generation->number);
	generation->fate = FATE_STORED;
	generation->lost = false;
	generation->reset = true;
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	if (generation->attempt > head->attempt)
		generation->attempt = head->attempt;
	generation->licensed = true;
}

/* stored_now: the generation that the server has; NULL: none. */
static struct generation *stored_now(struct fleet *fleet, uint32_t name, dw_head *ret_head)
{
	struct sim *sim = fleet->sim;
	struct generation *generation;

	if (!head_of(fleet, name, ret_head))
		return NULL;
	generation = model_find(sim, name, ret_head->generation);
	if (!generation)
		broken(sim, "sim", "%s came back as something that never was",
		       sim->model.names[name].id);
	return generation;
}

/* lose_all: nobody has to bring back those from that number on, and somebody may. */
static void lose_all(struct sim *sim, const struct name *name, uint64_t from)
{
	for (uint32_t at = name->last; at != NONE; at = sim->model.generations[at].before) {
		struct generation *generation = &sim->model.generations[at];

		if (generation->number >= from &&
		    (generation->fate == FATE_STORED || generation->fate == FATE_REPLACED ||
		     generation->fate == FATE_CANCELLED))
			losses_lose(sim, generation);
	}
}

/* without_keeper: what is stored is the truth. */
static void without_keeper(struct fleet *fleet, uint32_t number)
{
	struct sim *sim = fleet->sim;
	struct name *name = &sim->model.names[number];
	dw_head head = {0};
	struct generation *now = stored_now(fleet, number, &head);

	name->loss.keeper = 0;
	name->loss.owed = NONE;
	name->stored = index_of(sim, now);
	lose_all(sim, name, 0);
	if (now)
		free_again(sim, now, &head);
}

/* unheard: what the keeper did not know is lost. */
static void unheard(struct fleet *fleet, uint32_t number, const struct process *keeper,
		    struct generation *truth)
{
	struct sim *sim = fleet->sim;
	struct name *name = &sim->model.names[number];
	uint64_t known = keeper->observer.knowledge.known[number];
	dw_head head = {0};
	struct generation *now = stored_now(fleet, number, &head);

	name->stored = index_of(sim, now);
	name->loss.owed = NONE;
	name->loss.keeper = keeper->instance.life;
	losses_lose(sim, truth);
	/* And what it believes, or will when an answer that is on its way has come. */
	lose_all(sim, name, known);
	/* What is older than what it believes it will replace, or delete: unless it was purged, or
	 * the owner does not see the loss, because only a client's write was lost, and another
	 * client has written since. */
	if (now && (now->number >= known || now->purged || fleet->before[number].unacked))
		free_again(sim, now, &head);
	else if (now && now->fate == FATE_STORED)
		now->fate = FATE_REPLACED;
}

static bool is_as_before(const struct remembered *was, bool stored, const dw_head *head)
{
	return was->stored == stored &&
	       (!stored ||
		(was->head.generation == head->generation && was->head.due == head->due &&
		 was->head.state == head->state && was->head.attempt == head->attempt));
}

static bool is_believed(const struct generation *generation, const struct process *keeper)
{
	return generation->number == keeper->observer.knowledge.known[generation->name] &&
	       generation->number > keeper->observer.knowledge.ended[generation->name];
}

static void with_keeper(struct fleet *fleet, uint32_t number, const struct process *keeper)
{
	struct sim *sim = fleet->sim;
	struct name *name = &sim->model.names[number];
	struct generation *truth = generation_at(sim, name->loss.owed);
	dw_head head = {0};
	struct generation *now = stored_now(fleet, number, &head);

	if (!truth)
		truth = model_stored(sim, number);
	if (truth && truth->fate != FATE_STORED)
		truth = NULL;
	if (is_as_before(&fleet->before[number], now != NULL, &head) && !truth &&
	    !fleet->before[number].unheard)
		return;
	if (truth ? truth != now && (fleet->before[number].unacked || !is_believed(truth, keeper))
		  : fleet->before[number].unheard) {
		unheard(fleet, number, keeper, truth);
		return;
	}
	if (is_as_before(&fleet->before[number], now != NULL, &head))
		return;
	name->loss.keeper = keeper->instance.life;
	name->stored = index_of(sim, now);
	name->loss.owed = truth == now ? NONE : index_of(sim, truth);
	if (truth && truth != now)
		truth->lost_to = name->loss.keeper;
	/* Its letter is lost, and it lives; its value was taken away, and is there again, or an
	 * earlier one is; and nobody remembers what a purge has deleted. */
	if (now && !truth &&
	    (now->fate == FATE_DEAD ||
	     (name->loss.torn && sim->model.generations[name->last].lost) || now->purged))
		free_again(sim, now, &head);
}

/* ---- Dead letters: nobody brings them back ------------------------------------------------- */

struct looking {
	struct fleet *fleet;
	unsigned shard;
};

static void letter_found(void *user, const struct twin_field *field)
{
	const struct looking *looking = user;
	struct sim *sim = looking->fleet->sim;
	const char *colon = strrchr(field->key, ':');
	size_t size = strlen(field->name);
	struct generation *generation;

	if (!colon || strcmp(colon, ":d") != 0 || size + 1 >= field->name_size ||
	    server_shard(&looking->fleet->server, field->name) != looking->shard)
		return;
	generation = model_find(sim, model_name(sim, field->name),
				strtoull(field->name + size + 1, NULL, 10));
	if (generation)
		generation->letter = true;
}

static void settle_letters(struct fleet *fleet, unsigned shard)
{
	struct looking looking = {fleet, shard};
	struct model *model = &fleet->sim->model;

	for (uint32_t i = 0; i < model->generation_count; i++)
		model->generations[i].letter = false;
	twin_dump(fleet->server.twin, letter_found, &looking);
	for (uint32_t i = 0; i < model->generation_count; i++) {
		struct generation *generation = &model->generations[i];

		if (server_shard(&fleet->server, model->names[generation->name].id) != shard)
			continue;
		if (generation->letter)
			generation->fate = FATE_DEAD;
		else if (generation->fate == FATE_DEAD)
			generation->fate = FATE_BURIED;
	}
}

void losses_settle(struct fleet *fleet, unsigned shard, const struct process *keeper)
{
	struct sim *sim = fleet->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		if (server_shard(&fleet->server, sim->model.names[i].id) != shard)
			continue;
		sim->model.names[i].loss.befallen_at = sim->clocks.steady;
		if (keeper)
			with_keeper(fleet, i, keeper);
		else
			without_keeper(fleet, i);
	}
	settle_letters(fleet, shard);
	for (unsigned i = 0; i < PROCESSES; i++)
		fleet->processes[i].exposure.shaken[shard] |= !keeper;
	order_forget(sim);
	faults_disturb(sim, sim->clocks.steady);
}

/* ---- A value that somebody has taken away -------------------------------------------------- */

void losses_tear(struct fleet *fleet, uint32_t name, const struct process *keeper)
{
	look_at(fleet, name, keeper);
	fleet->sim->model.names[name].loss.torn = true;
}

/* losses_torn: its owner brings it back if it hears of it before it wants to fire it. */
void losses_torn(struct fleet *fleet, uint32_t number, const struct process *keeper)
{
	struct sim *sim = fleet->sim;
	struct name *name = &sim->model.names[number];
	struct generation *truth = model_stored(sim, number);

	if (name->loss.owed != NONE)
		truth = generation_at(sim, name->loss.owed);
	name->stored = name->loss.owed = NONE;
	name->loss.keeper = keeper ? keeper->instance.life : 0;
	losses_lose(sim, truth);
	if (truth)
		truth->lost_to = 0;
}

/* ---- An ownership that the server has forgotten -------------------------------------------- */

void losses_give_grace(struct fleet *fleet, unsigned shard)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &fleet->processes[i];

		if (fleet_has_lease(process, shard))
			process->exposure.grace[shard] =
			    fleet->sim->clocks.steady + fleet->server.lease;
	}
}

bool losses_in_grace(const struct process *process, unsigned shard)
{
	return process->instance.sim->clocks.steady < process->exposure.grace[shard];
}

/* ---- The end of a keeper ------------------------------------------------------------------- */

static struct process *process_of(struct fleet *fleet, uint64_t life)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (fleet->processes[i].instance.life == life)
			return &fleet->processes[i];
	return NULL;
}

bool losses_in_time(const struct fleet *fleet)
{
	const struct process *process = fleet->at_work;

	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (fleet->server.set_back[i] && !fleet_has_lease(process, i))
			return false;
	return fleet->sim->clocks.steady < process->observer.knowledge.leased &&
	       !process->exposure.is_beaten;
}

void losses_owner_told(struct process *process)
{
	process->exposure.is_beaten = false;
	memset(process->exposure.shaken, 0, sizeof process->exposure.shaken);
}

void losses_keeper_ends(struct fleet *fleet, bool in_time)
{
	struct sim *sim = fleet->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct name *name = &sim->model.names[i];

		if (!name->loss.keeper || name->loss.keeper != sim->at_work->life)
			continue;
		if (in_time && name->loss.owed != NONE)
			broken(sim, "I2", "%s was lost, and its owner has gone without a word",
			       name->id);
		without_keeper(fleet, i);
	}
	for (uint32_t i = 0; i < sim->model.generation_count; i++)
		if (sim->model.generations[i].lost_to == sim->at_work->life)
			sim->model.generations[i].lost_to = 0;
}

/* losses_taken_over: by a process, after its keeper's lease was over, or while a lease that was set
 * back ended sooner than its keeper thought: its keeper will only step down. */
void losses_taken_over(struct fleet *fleet, unsigned shard)
{
	struct sim *sim = fleet->sim;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &fleet->processes[i];

		if (!fleet_has_lease(process, shard) &&
		    (sim->clocks.steady >= process->observer.knowledge.leased ||
		     fleet->server.set_back[shard]))
			process->exposure.is_beaten = true;
	}
	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		const struct name *name = &sim->model.names[i];
		const struct process *keeper =
		    name->loss.keeper ? process_of(fleet, name->loss.keeper) : NULL;

		if (keeper && keeper->exposure.is_beaten && !fleet_has_lease(keeper, shard) &&
		    server_shard(&fleet->server, name->id) == shard)
			without_keeper(fleet, i);
	}
}

void losses_renumbered(struct fleet *fleet, unsigned shard)
{
	struct sim *sim = fleet->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct generation *stored = model_stored(sim, i);
		dw_head head;

		if (!stored || server_shard(&fleet->server, sim->model.names[i].id) != shard ||
		    !head_of(fleet, i, &head) || head.generation <= stored->number)
			continue;
		trace(sim, "renumbered", sim->model.names[i].id, (int64_t)stored->number,
		      (int64_t)head.generation);
		stored->was = stored->number;
		stored->number = head.generation;
		server_forget(&fleet->server);
	}
}
