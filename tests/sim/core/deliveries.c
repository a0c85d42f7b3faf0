#include "sim/core/sim.h"

#include <string.h>

static bool definite(int status)
{
	return status < 0 && status != DW_EUNKNOWN;
}

/* is_replaced: another one is the owner of an emptied shard by now. */
static bool is_replaced(const struct sim *sim, const dw_firing *firing)
{
	return sim->view.is_replaced && sim->view.is_replaced(sim->view.user, firing->id);
}

/* check_promises that do not need to know the earlier starts. */
static void check_promises(struct sim *sim, const struct generation *generation,
			   const dw_firing *firing)
{
	const struct asked *asked = &sim->model.asked[generation->asked];
	dw_usec early = usec_sub(generation->due, clocks_wall(sim));

	if (is_replaced(sim, firing))
		return;
	if (early > 0)
		broken(sim, "I1", "%s started %lld us before its deadline", firing->id,
		       (long long)early);
	/* What was set back has the deadline of then, and its owner the one that it knows. */
	if ((firing->due != generation->due && !generation->reset) ||
	    (firing->topic[0] != '?' && firing->topic[0] != (char)('a' + asked->topic)))
		broken(sim, "I11", "%s started with another deadline or topic", firing->id);
	if (generation->number <= sim->model.names[generation->name].floor)
		broken(sim, "I3", "%s started after a confirmed cancel or replacement", firing->id);
	if (generation->fate == FATE_SETTLED)
		broken(sim, "I4", "%s started after it was settled", firing->id);
	if (generation->fate == FATE_DEAD || generation->fate == FATE_BURIED)
		broken(sim, "I4", "%s started after it was set aside", firing->id);
	/* The server was set back while the answer was on its way, and the client put it again:
	 * what stands in its way, because the owner has brought it back, is its own. */
	if (definite(asked->status) && !(asked->status == DW_EEXIST && generation->pushed))
		broken(sim, "I10", "%s started and its put was answered %d", firing->id,
		       asked->status);
}

static void check_repetition(struct sim *sim, const struct generation *generation,
			     const dw_firing *firing)
{
	if (is_replaced(sim, firing))
		return;
	if (firing->attempt <= generation->attempt)
		broken(sim, "I5", "the attempt of %s does not grow: %u after %u", firing->id,
		       (unsigned)firing->attempt, (unsigned)generation->attempt);
	if (generation->life != sim->at_work->life)
		return;
	if (!generation->licensed)
		broken(sim, "I5", "%s started twice without a reason", firing->id);
	if (generation->dropped == sim->at_work->life)
		broken(sim, "I3", "%s was retried after a cancel had dropped that", firing->id);
}

struct generation *model_start(struct sim *sim, const dw_firing *firing)
{
	uint32_t name = model_name(sim, firing->id);
	struct generation *generation = model_find(sim, name, firing->token->generation);
	uint64_t number = UINT64_MAX;

	sim->start_count++;
	if (!sim->view.may_start(sim->view.user, firing->id))
		broken(sim, "I6", "%s started without the lease", firing->id);
	if (!generation) {
		broken(sim, "I10", "%s started and this generation was never stored", firing->id);
		return NULL;
	}
	if (firing->data_size == DATA_SIZE)
		memcpy(&number, firing->data, DATA_SIZE);
	if (number != generation->asked)
		broken(sim, "I11", "%s started with other data", firing->id);
	check_promises(sim, generation, firing);
	check_repetition(sim, generation, firing);
	order_started(sim, generation);
	if (!is_replaced(sim, firing))
		generation->attempt = firing->attempt;
	generation->life = sim->at_work->life;
	generation->since = sim->clocks.steady;
	generation->starts++;
	generation->held = generation->licensed = false;
	generation->may_settle = generation->may_retry = false;
	return generation;
}

struct generation *model_rival_start(struct sim *sim, const dw_op *claim)
{
	uint32_t name = model_name(sim, claim->id);
	struct generation *generation = model_find(sim, name, claim->head.generation);
	const dw_firing firing = {
	    .id = claim->id, .topic = "?", .due = claim->head.due, .attempt = claim->head.attempt};

	if (!generation) {
		broken(sim, "I10", "%s started and this generation was never stored", claim->id);
		return NULL;
	}
	trace(sim, "rival start", claim->id, claim->head.due, claim->head.attempt);
	generation->life = 0; /* our own start, if there was one, was before the loss */
	check_promises(sim, generation, &firing);
	check_repetition(sim, generation, &firing);
	generation->attempt = claim->head.attempt;
	generation->since = sim->clocks.steady;
	generation->starts++;
	generation->held = generation->licensed = false;
	generation->may_settle = generation->may_retry = false;
	return generation;
}

void model_verdict(struct sim *sim, struct generation *generation, dw_verdict verdict,
		   dw_usec retry_in)
{
	if (!generation)
		return;
	generation->held = verdict == DW_HOLD;
	if (verdict == DW_DONE)
		generation->may_settle = true;
	if (verdict == DW_RETRY)
		generation->may_retry = true;
	generation->retry_floor = usec_add(clocks_wall(sim), usec_max(retry_in, 0));
	generation->floor_clock = sim->clocks.set_count;
}

void model_expired(struct sim *sim, const char *id)
{
	uint32_t name = model_name(sim, id);
	uint32_t at = sim->model.names[name].last;

	for (; at != NONE; at = sim->model.generations[at].before) {
		struct generation *generation = &sim->model.generations[at];

		if (!generation->held || generation->life != sim->at_work->life)
			continue;
		if (generation->fate == FATE_SETTLED && sim->model.names[name].loss.befallen_at)
			continue; /* an earlier one was brought back since, and is held */
		generation->may_retry = true;
		generation->retry_floor = clocks_wall(sim);
		return;
	}
	if (!sim->model.names[name].loss.befallen_at) /* or another owner has started it since */
		broken(sim, "I4", "a hold of %s ran out that was none", id);
}

void model_lost(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.generation_count; i++) {
		struct generation *generation = &sim->model.generations[i];

		if (sim->several && generation->life != sim->at_work->life)
			continue; /* another process */
		generation->held = false;
		generation->dropped = 0; /* of a void delivery */
		if (generation->life == sim->at_work->life)
			generation->life = 0;
	}
	order_forget(sim);
}
