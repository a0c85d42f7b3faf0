#include "sim/fleet/fleet.h"

/* release: the keeper is released when it has put all right. */
static void release(struct name *name)
{
	if (!name->loss.owed && (!name->stored || name->stored->fate == FATE_STORED))
		name->loss.keeper = 0;
}

/* written_one: the generation that is written again. Where the server was set back, a client that
 * had asked early may have been given the number of one that was lost: two writes of one id, whose
 * callers both had waited longer than other writers of the shard. The one written again stands. */
static struct generation *written_one(const struct name *name, const dw_head *head)
{
	struct generation *generation = promises_find(name, head->generation);
	struct generation *older = generation ? generation->before : NULL;

	/* A put that is done again gets the number that it has asked for again. */
	while (older && (older->number != head->generation || older->asked == generation->asked))
		older = older->before;
	if (!older || head->due == generation->due)
		return generation;
	generation->number--;
	generation->fate = FATE_REPLACED;
	return older;
}

static void lower_attempt(struct generation *generation, const dw_head *head)
{
	if (generation->attempt > head->attempt)
		generation->attempt = head->attempt;
}

/* revive: it lives again, whatever others have done meanwhile. */
static void revive(struct generation *generation, const dw_head *head, bool fenced)
{
	if (fenced && generation->fate != FATE_STORED)
		lower_attempt(generation, head); /* and started */
	promises_lower(generation->name, generation->number);
	generation->loss.lost = false;
	generation->loss.keeper = 0;
	generation->fate = FATE_STORED;
	generation->licensed = true;
}

void rebuild_written(struct fleet *fleet, const char *id, const dw_head *head,
		     const struct process *caller, bool fenced)
{
	struct sim *sim = fleet->sim;
	struct name *name = promises_name(sim, id);
	struct generation *generation = written_one(name, head);
	struct generation *before = name->stored;
	bool unseen; /* the caller has not seen it end */

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
	unseen = caller && generation->number > caller->observer.knowledge.ended[name->number];
	/* It was settled, and its owner, which has not heard that yet, settles it again, or ends
	 * before; or another owner has settled it, where a set-back had given the lease back. */
	if (!fenced && unseen && generation->fate == FATE_SETTLED) {
		generation->fate = FATE_STORED;
		lower_attempt(generation, head);
	}
	if (generation->loss.lost || generation->loss.keeper || generation->purged ||
	    (fenced && unseen))
		revive(generation, head, fenced);
	generation->loss.pushed = true;
	if (!generation->loss.reset && head->due != generation->due &&
	    head->due != generation->due_before)
		broken(sim, "I11", "%s was written again with another deadline", id);
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	name->stored = generation;
	if (name->loss.owed && name->loss.owed->number <= generation->number)
		name->loss.owed = NULL;
	release(name);
}

/* is_below an earlier one, because the server was set back before a client has made it. */
static bool is_below(const struct generation *generation)
{
	const struct generation *each = generation->before;

	while (each && each->number < generation->number)
		each = each->before;
	return each;
}

void rebuild_deleted(struct sim *sim, const char *id)
{
	struct name *name = promises_name(sim, id);
	struct generation *stored = name->stored;

	if (stored && stored->fate == FATE_STORED) {
		if (!stored->loss.reset && !stored->loss.pushed && !stored->loss.lost &&
		    stored->made_at < name->loss.befallen_at && /* not a client's since */
		    !is_below(stored))
			broken(sim, "I2", "%s was deleted again and lives", id);
		stored->fate = FATE_CANCELLED;
	}
	name->stored = NULL;
	release(name);
}

void rebuild_repaired(struct sim *sim, const char *id)
{
	promises_name(sim, id)->loss.keeper = 0;
}

void rebuild_done(struct process *process, dw_store *real)
{
	struct sim *sim = process->instance.sim;

	for (struct name *name = sim->promises.first; name; name = name->next) {
		const struct generation *owed = name->loss.owed;

		if (!real->type->is_lost(real, name->id))
			continue;
		process->exposure.shaken[server_shard(&process->fleet->server, name->id)] = false;
		if (!name->loss.keeper || name->loss.keeper != sim->at_work->life ||
		    name->loss.befallen_at > process->observer.knowledge.loss_told_at)
			continue;
		if (owed && !(name->stored && name->stored->number > owed->number))
			broken(sim, "I2", "%s was lost, and is not written again", name->id);
		release(name);
	}
}
