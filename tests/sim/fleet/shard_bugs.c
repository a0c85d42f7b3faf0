#include "sim/fleet/shard_bugs.h"

#include "sim/fleet/fleet.h"

static enum bug bug_of(const struct shard_bugs *bugs)
{
	return bugs->process->instance.sim->bug;
}

static unsigned shard_of(const struct shard_bugs *bugs, const dw_op *op)
{
	return server_shard(&bugs->process->fleet->server, op->id);
}

bool shard_bugs_begin(const struct sim *sim)
{
	return sim->bug == BUG_BEGIN_LATE && sim->program.in_start;
}

/* ---- Operations ----------------------------------------------------------------------------- */

void shard_bugs_submit(struct shard_bugs *bugs, dw_op *op)
{
	if (op->id)
		bugs->under_way[shard_of(bugs, op)]++;
	if (bug_of(bugs) == BUG_GAINED_ALL && op->kind == DW_OP_SCAN)
		op->flags &= ~DW_OP_SHARDS;
}

/* ---- Giving --------------------------------------------------------------------------------- */

void shard_bugs_answer(struct shard_bugs *bugs, dw_op *op)
{
	if (bug_of(bugs) == BUG_GIVE_DROPS && op->kind == DW_OP_GIVE && op->status == DW_ESTORE)
		op->status = DW_OK;
}

/* shard_bugs_surplus gives a shard in which a delivery runs. Its answer is dropped. */
void shard_bugs_surplus(struct shard_bugs *bugs, dw_store *real)
{
	struct alloc alloc = memory_alloc(&bugs->process->instance.account);
	int shard = peers_running(bugs->process->fleet, bugs->process);
	dw_op *op;

	if (bug_of(bugs) != BUG_GIVE_VERDICT || shard < 0 || bugs->given)
		return;
	op = op_new(&alloc, DW_OP_GIVE, NULL, NULL, 0);
	if (!op)
		return;
	op->limit = (size_t)shard;
	bugs->given = op;
	real->type->submit(real, op);
}

/* without_given takes the answer to that out of the others. */
static dw_op *without_given(struct shard_bugs *bugs, dw_op *answers)
{
	struct alloc alloc = memory_alloc(&bugs->process->instance.account);

	for (dw_op **at = &answers; *at; at = &(*at)->next) {
		if (*at != bugs->given)
			continue;
		*at = bugs->given->next;
		op_free(&alloc, bugs->given);
		bugs->given = NULL;
		break;
	}
	return answers;
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* waits: something is under way in a shard that is refused. */
static bool waits(const struct shard_bugs *bugs)
{
	const struct fleet *fleet = bugs->process->fleet;

	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (bugs->under_way[i] > 0 && refused_is(fleet, i, bugs->process->instance.number))
			return true;
	return false;
}

dw_op *shard_bugs_collect(struct shard_bugs *bugs, dw_op *answers)
{
	if (bugs->given)
		answers = without_given(bugs, answers);
	for (const dw_op *op = answers; op; op = op->next)
		if (op->id)
			bugs->under_way[shard_of(bugs, op)]--;
	if (bug_of(bugs) != BUG_ANSWER_WAITS)
		return answers;
	op_queue_append(&bugs->held, answers);
	return waits(bugs) ? NULL : op_queue_take(&bugs->held);
}

/* ---- News ----------------------------------------------------------------------------------- */

static bool say_lost(struct shard_bugs *bugs, dw_shard_news *ret_news)
{
	if (bugs->lost_next >= bugs->lost_end)
		return false;
	*ret_news = (dw_shard_news){.number = bugs->lost_next++, .state = DW_SHARD_FOREIGN};
	return true;
}

int shard_bugs_take(struct shard_bugs *bugs, dw_store *real, dw_shard_news *ret_news)
{
	if (say_lost(bugs, ret_news))
		return true;
	do
		if (!real->type->take_shard(real, ret_news))
			return false;
	while (bug_of(bugs) == BUG_REFUSED_OK && ret_news->state == DW_SHARD_REFUSED);
	if (bug_of(bugs) == BUG_LOST_ALL && ret_news->state == DW_SHARD_FOREIGN &&
	    engine_is_owner(bugs->process->instance.engine)) {
		bugs->lost_next = 0;
		bugs->lost_end = real->type->shards(real);
	}
	return true;
}
