#include "sim/fleet/expected_losses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/fleet.h"
#include "sim/fleet/newer.h"

/* ---- The store, as it is ------------------------------------------------------------------- */

static bool is_in(const struct fleet *fleet, const struct name *name, unsigned shard)
{
	return server_shard(&fleet->server, name->id) == shard;
}

static bool head_of(struct fleet *fleet, const struct name *name, dw_head *ret_head)
{
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	dw_row *row = server_row(&fleet->server, name->id);
	bool found = row && row->status != DW_ENEWER;

	if (found)
		*ret_head = row->head;
	rows_free(&alloc, row);
	return found;
}

/* ---- Before -------------------------------------------------------------------------------- */

static void look_at(struct fleet *fleet, const struct name *name, const struct process *keeper)
{
	struct remembered *was = &fleet->before[name->number];
	double score;

	was->stored = head_of(fleet, name, &was->head);
	was->unacked = keeper && server_score(&fleet->server, name->id, &score);
	was->unread = was->unacked && (score < 0 ? -score : score) >
					  (double)keeper->observer.knowledge.known[name->number];
}

void losses_look(struct fleet *fleet, unsigned shard, const struct process *keeper)
{
	const struct name *name = fleet->sim->promises.first;

	for (; name; name = name->next)
		if (is_in(fleet, name, shard))
			look_at(fleet, name, keeper);
}

/* ---- After --------------------------------------------------------------------------------- */

/* free_again: the generation is stored, and that is the truth. */
static void free_again(struct generation *generation, const dw_head *head)
{
	promises_lower(generation->name, generation->number);
	generation->fate = FATE_STORED;
	generation->loss.lost = false;
	generation->loss.set_back = true;
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	if (generation->attempt > head->attempt)
		generation->attempt = head->attempt;
	generation->licensed = true;
}

/* stored_now: the generation that the server has; NULL: none. */
static struct generation *stored_now(struct fleet *fleet, const struct name *name,
				     dw_head *ret_head)
{
	struct generation *generation;

	if (!head_of(fleet, name, ret_head))
		return NULL;
	generation = promises_find(name, ret_head->generation);
	if (!generation)
		broken(fleet->sim, "sim", "%s came back as a generation that never existed",
		       name->id);
	return generation;
}

/* lose_all: the generations from this number on need not be rebuilt, but may be. */
static void lose_all(struct sim *sim, const struct name *name, uint64_t from)
{
	for (struct generation *each = name->last; each; each = each->before)
		if (each->number >= from &&
		    (each->fate == FATE_STORED || each->fate == FATE_REPLACED ||
		     each->fate == FATE_CANCELLED))
			losses_lose(sim, each);
}

/* without_keeper: the server's data is the truth. */
static void without_keeper(struct fleet *fleet, struct name *name)
{
	dw_head head = {0};

	name->loss.keeper = 0;
	name->loss.owed = NULL;
	name->stored = stored_now(fleet, name, &head);
	lose_all(fleet->sim, name, 0);
	if (name->stored)
		free_again(name->stored, &head);
}

/* lose_unread: the timers that the keeper did not know are lost. */
static void lose_unread(struct fleet *fleet, struct name *name, const struct process *keeper,
			struct generation *truth)
{
	uint64_t known = keeper->observer.knowledge.known[name->number];
	dw_head head = {0};
	struct generation *now = stored_now(fleet, name, &head);

	name->stored = now;
	name->loss.owed = NULL;
	name->loss.keeper = keeper->instance.life;
	losses_lose(fleet->sim, truth);
	/* What it believes is lost, too, also what it will learn from an answer on its way. */
	lose_all(fleet->sim, name, known);
	/* The keeper replaces or deletes an older generation, but not a purged one. Nor does it
	 * notice the loss when only a client's write was lost and another client wrote since. */
	if (now && (now->number >= known || now->purged || fleet->before[name->number].unacked))
		free_again(now, &head);
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

static bool is_believed(const struct generation *generation, const struct knowledge *knowledge)
{
	return generation->number == knowledge->known[generation->name->number] &&
	       generation->number > knowledge->ended[generation->name->number];
}

/* was_before: the generation may have ended before the keeper owned the shard, and the server was
 * set back to before that. So the keeper does not know that it has ended. */
static bool was_before(const struct fleet *fleet, const struct generation *generation,
		       const struct process *keeper)
{
	const struct name *name = generation->name;
	unsigned shard = server_shard(&fleet->server, name->id);

	return server_fence(&fleet->server, shard) < keeper->exposure.fence[shard] &&
	       generation->number > keeper->observer.knowledge.ended[name->number];
}

static void with_keeper(struct fleet *fleet, struct name *name, const struct process *keeper)
{
	const struct remembered *was = &fleet->before[name->number];
	struct generation *truth = name->loss.owed ? name->loss.owed : name->stored;
	dw_head head = {0};
	struct generation *now = stored_now(fleet, name, &head);
	bool as_before = is_as_before(was, now != NULL, &head);

	if (truth && truth->fate != FATE_STORED)
		truth = NULL;
	if (as_before && !truth && !was->unread)
		return;
	if (truth
		? truth != now && (was->unacked || !is_believed(truth, &keeper->observer.knowledge))
		: was->unread) {
		lose_unread(fleet, name, keeper, truth);
		return;
	}
	if (as_before)
		return;
	name->loss.keeper = keeper->instance.life;
	name->stored = now;
	name->loss.owed = truth == now ? NULL : truth;
	if (name->loss.owed)
		truth->loss.keeper = name->loss.keeper;
	/* The stored timer counts if its dead letter is lost; if its value was deleted and is back,
	 * or an earlier one is; or if it was purged, which nobody remembers. */
	if (now && !truth &&
	    (now->fate == FATE_DEAD || (name->loss.half_deleted && name->last->loss.lost) ||
	     now->purged || was_before(fleet, now, keeper)))
		free_again(now, &head);
}

/* ---- Dead letters: nobody rebuilds them ----------------------------------------------------- */

struct looking {
	struct fleet *fleet;
	unsigned shard;
};

static void dead_letter_found(void *user, const struct keyspace_field *field)
{
	const struct looking *looking = user;
	const char *colon = strrchr(field->key, ':');
	size_t size = strlen(field->name.at);
	struct generation *generation;

	if (!colon || strcmp(colon, ":d") != 0 || size + 1 >= field->name.size ||
	    server_shard(&looking->fleet->server, field->name.at) != looking->shard)
		return;
	generation = promises_find(promises_name(looking->fleet->sim, field->name.at),
				   strtoull(field->name.at + size + 1, NULL, 10));
	if (generation)
		generation->loss.dead_letter = true;
}

static void settle_dead_letters(struct fleet *fleet, unsigned shard)
{
	struct looking looking = {fleet, shard};
	struct promises *promises = &fleet->sim->promises;

	for (uint32_t i = 0; i < promises->generation_count; i++)
		promises->generations[i].loss.dead_letter = false;
	keyspace_dump(fleet->server.keyspace, dead_letter_found, &looking);
	for (uint32_t i = 0; i < promises->generation_count; i++) {
		struct generation *generation = &promises->generations[i];

		if (!is_in(fleet, generation->name, shard))
			continue;
		if (generation->loss.dead_letter)
			generation->fate = FATE_DEAD;
		else if (generation->fate == FATE_DEAD)
			generation->fate = FATE_DROPPED;
	}
}

void losses_settle(struct fleet *fleet, unsigned shard, const struct process *keeper)
{
	struct sim *sim = fleet->sim;

	for (struct name *name = sim->promises.first; name; name = name->next) {
		if (!is_in(fleet, name, shard))
			continue;
		name->loss.at = sim->clocks.steady;
		newer_look(fleet, name);
		if (keeper)
			with_keeper(fleet, name, keeper);
		else
			without_keeper(fleet, name);
	}
	settle_dead_letters(fleet, shard);
	for (unsigned i = 0; i < fleet->count; i++)
		fleet->processes[i].exposure.unowned[shard] |= !keeper;
	order_forget(sim);
	faults_disturb(sim, sim->clocks.steady);
}

/* ---- A deleted value ------------------------------------------------------------------------ */

void losses_look_at_value(struct fleet *fleet, struct name *name, const struct process *keeper)
{
	look_at(fleet, name, keeper);
	name->loss.half_deleted = true;
}

/* losses_value_deleted: the owner rebuilds the timer if it learns of that before the deadline. */
void losses_value_deleted(struct fleet *fleet, struct name *name, const struct process *keeper)
{
	struct generation *truth = name->loss.owed ? name->loss.owed : name->stored;

	name->stored = name->loss.owed = NULL;
	name->loss.keeper = keeper ? keeper->instance.life : 0;
	losses_lose(fleet->sim, truth);
	if (truth)
		truth->loss.keeper = 0;
}

/* ---- An ownership that the server has forgotten -------------------------------------------- */

void losses_give_grace(struct fleet *fleet, unsigned shard)
{
	for (unsigned i = 0; i < fleet->count; i++) {
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
	for (unsigned i = 0; i < fleet->count; i++)
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
	       !process->exposure.superseded;
}

void losses_owner_told(struct process *process)
{
	process->exposure.superseded = false;
	memset(process->exposure.unowned, 0, sizeof process->exposure.unowned);
}

void losses_keeper_ends(struct fleet *fleet, bool in_time)
{
	struct sim *sim = fleet->sim;

	for (struct name *name = sim->promises.first; name; name = name->next) {
		if (!name->loss.keeper || name->loss.keeper != sim->at_work->life)
			continue;
		if (in_time && name->loss.owed)
			broken(sim, "I2", "%s was lost, and its owner ended without rebuilding it",
			       name->id);
		without_keeper(fleet, name);
	}
	for (uint32_t i = 0; i < sim->promises.generation_count; i++)
		if (sim->promises.generations[i].loss.keeper == sim->at_work->life)
			sim->promises.generations[i].loss.keeper = 0;
}

void losses_shard_given_up(struct fleet *fleet, unsigned shard)
{
	struct sim *sim = fleet->sim;

	for (struct name *name = sim->promises.first; name; name = name->next) {
		if (!is_in(fleet, name, shard))
			continue;
		if (name->loss.keeper == sim->at_work->life)
			without_keeper(fleet, name);
		for (struct generation *each = name->last; each; each = each->before)
			if (each->loss.keeper == sim->at_work->life)
				each->loss.keeper = 0;
	}
	fleet->at_work->exposure.unowned[shard] = false;
}

/* losses_taken_over: a process took over the shard when its keeper's lease was over, or when a
 * lease that was set back ended sooner than its keeper thinks. The keeper will only step down. */
void losses_taken_over(struct fleet *fleet, unsigned shard)
{
	struct sim *sim = fleet->sim;

	for (unsigned i = 0; i < fleet->count; i++) {
		struct process *process = &fleet->processes[i];

		if (!fleet_has_lease(process, shard) &&
		    (sim->clocks.steady >= process->observer.knowledge.leased ||
		     fleet->server.set_back[shard]))
			process->exposure.superseded = true;
	}
	for (struct name *name = sim->promises.first; name; name = name->next) {
		const struct process *keeper =
		    name->loss.keeper ? process_of(fleet, name->loss.keeper) : NULL;

		if (keeper && keeper->exposure.superseded && !fleet_has_lease(keeper, shard) &&
		    is_in(fleet, name, shard))
			without_keeper(fleet, name);
	}
}

/* ---- A lower fence is no successor ---------------------------------------------------------- */

void losses_acquired(struct fleet *fleet, unsigned shard, const struct process *process,
		     uint64_t fence)
{
	for (unsigned i = 0; i < fleet->count; i++) {
		struct process *each = &fleet->processes[i];

		if (each == process) {
			each->exposure.fence[shard] = fence;
			each->exposure.gives_way[shard] = false;
		} else if (each->exposure.fence[shard] < fence)
			each->exposure.fence[shard] = 0;
	}
}

void losses_emptied(struct fleet *fleet, unsigned shard)
{
	for (unsigned i = 0; i < fleet->count; i++)
		fleet->processes[i].exposure.fence[shard] = 0;
}

void losses_gives_way(struct fleet *fleet, const struct process *process)
{
	struct exposure *exposure =
	    process ? &fleet->processes[process->instance.number].exposure : NULL;

	for (unsigned i = 0; exposure && i < SHARDS_MAX_SIM; i++)
		exposure->gives_way[i] = true;
}

bool losses_must_stay(const struct fleet *fleet)
{
	const struct process *process = fleet->at_work;

	for (unsigned i = 0; i < fleet->server.shard_count; i++) {
		uint64_t fence = process->exposure.fence[i];

		if (!fleet->server.set_back[i] || !fence || process->exposure.gives_way[i] ||
		    server_fence(&fleet->server, i) > fence)
			return false;
	}
	return fleet->sim->clocks.steady < process->observer.knowledge.leased;
}

void losses_renumbered(struct fleet *fleet, unsigned shard)
{
	struct sim *sim = fleet->sim;

	for (uint32_t i = 0; i < sim->promises.name_count; i++) {
		struct name *name = &sim->promises.names[i];
		dw_head head;

		if (name->newer)
			newer_look(fleet, name);
		if (!name->stored || !is_in(fleet, name, shard) || !head_of(fleet, name, &head) ||
		    head.generation <= name->stored->number)
			continue;
		trace(sim, "renumbered", name->id, (int64_t)name->stored->number,
		      (int64_t)head.generation);
		name->stored->was = name->stored->number;
		name->stored->number = head.generation;
		server_forget(&fleet->server);
	}
}
