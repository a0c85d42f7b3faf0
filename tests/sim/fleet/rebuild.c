#include "sim/fleet/fleet.h"

/* release ends the duty of the keeper when no timer of the name is left to rebuild. */
static void release(struct name *name)
{
	if (!name->loss.owed && (!name->stored || name->stored->fate == FATE_STORED))
		name->loss.keeper = 0;
}

/* is_same_write: a put or a move that is done again has the same number. */
static bool is_same_write(const struct generation *one, const struct generation *other)
{
	return one->asked == other->asked && one->moved_to == other->moved_to;
}

/* written_one: the generation that is rebuilt. After a set-back a client's delayed write may get
 * the number of a lost generation: then two writes of one id have the same number. The rebuilt one
 * stands. */
static struct generation *written_one(const struct name *name, const dw_head *head)
{
	struct generation *generation = promises_find(name, head->generation);
	struct generation *other = name->last;

	if (!generation || head->due == generation->due)
		return generation;
	while (other && (other->number != head->generation || is_same_write(other, generation)))
		other = other->before;
	if (!other)
		return generation;
	generation->number--;
	generation->fate = FATE_REPLACED;
	return other;
}

static void lower_attempt(struct generation *generation, const dw_head *head)
{
	if (generation->attempt > head->attempt)
		generation->attempt = head->attempt;
}

/* revive: it is stored again, whatever others have done meanwhile. */
static void revive(struct generation *generation, const dw_head *head, bool fenced)
{
	if (fenced && generation->fate != FATE_STORED)
		lower_attempt(generation, head); /* another owner may have started it */
	promises_lower(generation->name, generation->number);
	generation->loss.lost = false;
	generation->loss.keeper = 0;
	generation->fate = FATE_STORED;
	generation->licensed = true;
}

/* replaces_newer: a newer version's timer is replaced or deleted only if it is older. */
static void replaces_newer(struct sim *sim, struct name *name, uint64_t version)
{
	if (name->newer && name->newer >= version)
		broken(sim, "newer", "the rebuild changed %s, which a newer version stored later",
		       name->id);
	name->newer = 0;
}

void rebuild_written(struct fleet *fleet, const char *id, const dw_head *head,
		     const struct process *caller, bool fenced)
{
	struct sim *sim = fleet->sim;
	struct name *name = promises_name(sim, id);
	struct generation *generation = written_one(name, head);
	struct generation *before = name->stored;
	bool unseen; /* the caller has not ended it itself */

	if (!generation) {
		broken(sim, "I10", "the rebuild wrote %s, which never existed", id);
		return;
	}
	replaces_newer(sim, name, head->generation);
	if (before && before != generation && before->fate == FATE_STORED) {
		if (before->made_at > generation->made_at &&
		    !fleet->server.set_back[server_shard(&fleet->server, id)])
			broken(sim, "I2", "the rebuild wrote an older timer over %s", id);
		before->fate = FATE_REPLACED;
	}
	unseen = caller && generation->number > caller->observer.knowledge.ended[name->number];
	/* It was settled, but its owner has not learnt that yet and will settle it again. Or
	 * another owner settled it, and a set-back gave the lease back. */
	if (!fenced && unseen && generation->fate == FATE_SETTLED) {
		generation->fate = FATE_STORED;
		lower_attempt(generation, head);
	}
	if (generation->loss.lost || generation->loss.keeper || generation->purged ||
	    (fenced && unseen))
		revive(generation, head, fenced);
	generation->loss.rebuilt = true;
	if (!generation->loss.set_back && head->due != generation->due &&
	    head->due != generation->due_before)
		broken(sim, "I11", "the rebuild wrote %s with another deadline", id);
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	name->stored = generation;
	if (name->loss.owed && name->loss.owed->number <= generation->number)
		name->loss.owed = NULL;
	release(name);
}

/* is_below: an earlier generation has a larger number, because the server was set back between
 * them. */
static bool is_below(const struct generation *generation)
{
	const struct generation *each = generation->before;

	while (each && each->number < generation->number)
		each = each->before;
	return each;
}

void rebuild_deleted(struct sim *sim, const char *id, uint64_t version)
{
	struct name *name = promises_name(sim, id);
	struct generation *stored = name->stored;

	replaces_newer(sim, name, version + 1);
	if (stored && stored->fate == FATE_STORED) {
		if (!stored->loss.set_back && !stored->loss.rebuilt && !stored->loss.lost &&
		    stored->made_at < name->loss.at && /* a client has not written it since */
		    !is_below(stored))
			broken(sim, "I2", "the rebuild deleted %s, which is alive", id);
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
		unsigned shard = server_shard(&process->fleet->server, name->id);

		if (!real->type->is_lost(real, name->id) || process->observer.refused[shard])
			continue;
		process->exposure.unowned[shard] = false;
		if (!name->loss.keeper || name->loss.keeper != sim->at_work->life ||
		    name->loss.at > process->observer.knowledge.told_of_loss_at)
			continue;
		if (owed && !(name->stored && name->stored->number > owed->number))
			broken(sim, "I2", "%s was lost and not rebuilt", name->id);
		release(name);
	}
}
