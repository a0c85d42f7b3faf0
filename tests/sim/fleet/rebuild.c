#include "sim/fleet/rebuild.h"

#include "sim/fleet/fleet.h"

static struct generation *generation_before(struct sim *sim, const struct generation *generation)
{
	return generation->before == NONE ? NULL : &sim->model.generations[generation->before];
}

static bool is_put_right(struct sim *sim, const struct name *name)
{
	return name->loss.owed == NONE &&
	       (name->stored == NONE || sim->model.generations[name->stored].fate == FATE_STORED);
}

/* written_one: the generation that is pushed. Where the server was set back, a client that had asked
 * early may have been given the number of one that was lost: two writes of one id, whose callers
 * both had waited longer than other writers of the shard. The pushed one stands. */
static struct generation *written_one(struct sim *sim, uint32_t number, const dw_head *head)
{
	struct generation *generation = model_find(sim, number, head->generation);
	struct generation *older = generation ? generation_before(sim, generation) : NULL;

	/* A put that is done again gets the number that it has asked for again. */
	while (older && (older->number != head->generation || older->asked == generation->asked))
		older = generation_before(sim, older);
	if (!older || head->due == generation->due)
		return generation;
	generation->number--;
	generation->fate = FATE_REPLACED;
	return older;
}

/* rebuild_written: an owner that was fenced brings back all that it has not itself seen to end. */
void rebuild_written(struct fleet *fleet, const char *id, const dw_head *head,
		     const struct process *caller, bool fenced)
{
	struct sim *sim = fleet->sim;
	uint32_t number = model_name(sim, id);
	struct name *name = &sim->model.names[number];
	struct generation *generation = written_one(sim, number, head);
	struct generation *before = model_stored(sim, number);

	if (!generation) {
		broken(sim, "I10", "%s was written again and never was there", id);
		return;
	}
	if (before && before != generation && before->fate == FATE_STORED) {
		if (before->made_at > generation->made_at &&
		    !fleet->server.set_back[server_shard(&fleet->server, id)])
			broken(sim, "I2", "%s was put since, and an older one is written over it",
			       id);
		before->fate = FATE_REPLACED;
	}
	/* Settled, and its owner has not heard that yet: it settles it again, or ends before; or
	 * another owner has settled it, where a set-back had given the lease back. */
	if (!fenced && caller && generation->fate == FATE_SETTLED &&
	    generation->number > caller->observer.knowledge.ended[number]) {
		generation->fate = FATE_STORED;
		if (generation->attempt > head->attempt)
			generation->attempt = head->attempt;
	}
	if (generation->lost || generation->lost_to || generation->purged ||
	    (fenced && caller &&
	     generation->number > caller->observer.knowledge
				      .ended[number])) { /* whatever others have done meanwhile */
		if (fenced && generation->fate != FATE_STORED &&
		    generation->attempt > head->attempt)
			generation->attempt = head->attempt; /* and started */
		model_lower(name, generation->number);
		generation->lost = false;
		generation->lost_to = 0;
		generation->fate = FATE_STORED;
		generation->licensed = true;
	}
	generation->pushed = true;
	if (!generation->reset && head->due != generation->due &&
	    head->due != generation->due_before)
		broken(sim, "I11", "%s was written again with another deadline", id);
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	name->stored = (uint32_t)(generation - sim->model.generations);
	if (name->loss.owed != NONE &&
	    sim->model.generations[name->loss.owed].number <= generation->number)
		name->loss.owed = NONE;
	if (is_put_right(sim, name))
		name->loss.keeper = 0;
}

/* is_below an earlier one, because the server was set back before a client has made it. */
static bool is_below(const struct sim *sim, const struct generation *generation)
{
	uint32_t at = generation->before;

	while (at != NONE && sim->model.generations[at].number < generation->number)
		at = sim->model.generations[at].before;
	return at != NONE;
}

void rebuild_deleted(struct sim *sim, const char *id)
{
	struct name *name = &sim->model.names[model_name(sim, id)];
	struct generation *generation = model_stored(sim, model_name(sim, id));

	if (generation && generation->fate == FATE_STORED && !generation->reset &&
	    !generation->pushed && !generation->lost &&
	    generation->made_at < name->loss.befallen_at && /* not a client's since */
	    !is_below(sim, generation))
		broken(sim, "I2", "%s was deleted again and lives", id);
	if (generation && generation->fate == FATE_STORED)
		generation->fate = FATE_CANCELLED;
	name->stored = NONE;
	if (is_put_right(sim, name))
		name->loss.keeper = 0;
}

void rebuild_repaired(struct sim *sim, const char *id)
{
	sim->model.names[model_name(sim, id)].loss.keeper = 0;
}

/* is_replaced: what is owed, by a later one. */
static bool is_replaced(const struct sim *sim, const struct name *name)
{
	return name->stored != NONE && sim->model.generations[name->stored].number >
					   sim->model.generations[name->loss.owed].number;
}

/* rebuild_done: the engine has written again all that it knew of the shard. */
void rebuild_done(struct process *process, dw_store *real)
{
	struct sim *sim = process->instance.sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++)
		if (real->type->is_lost(real, sim->model.names[i].id))
			process->exposure
			    .shaken[server_shard(&process->fleet->server, sim->model.names[i].id)] =
			    false;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct name *name = &sim->model.names[i];

		if (!name->loss.keeper || name->loss.keeper != sim->at_work->life ||
		    name->loss.befallen_at > process->observer.knowledge.loss_told_at ||
		    !real->type->is_lost(real, name->id))
			continue;
		if (name->loss.owed != NONE && !is_replaced(sim, name))
			broken(sim, "I2", "%s was lost, and is not written again", name->id);
		if (is_put_right(sim, name))
			name->loss.keeper = 0;
	}
}
