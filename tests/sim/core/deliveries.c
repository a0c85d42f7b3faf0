#include "sim/core/sim.h"

static bool definite(int status)
{
	return status < 0 && status != DW_EUNKNOWN;
}

/* is_replaced: does another process own the shard, which this one cannot know yet? */
static bool is_replaced(const struct sim *sim, const dw_firing *firing)
{
	return sim->view.is_replaced && sim->view.is_replaced(sim->view.user, firing->id);
}

/* check_promises checks what does not depend on earlier starts. */
static void check_promises(struct sim *sim, const struct generation *generation,
			   const dw_firing *firing)
{
	const struct asked *asked = generation->asked;
	dw_usec early = usec_sub(generation->due, clocks_wall(sim));

	if (is_replaced(sim, firing))
		return;
	if (early > 0)
		broken(sim, "I1", "%s started %lld us before its deadline", firing->id,
		       (long long)early);
	/* After a set-back the store has an old deadline, and the owner uses the one it knows. */
	if ((firing->due != generation->due && !generation->loss.set_back) ||
	    (firing->topic[0] != '?' && firing->topic[0] != (char)('a' + asked->topic)))
		broken(sim, "I11", "%s started with another deadline or topic", firing->id);
	if (generation->number <= generation->name->floor)
		broken(sim, "I3", "%s started after a confirmed cancel or replacement", firing->id);
	if (generation->fate == FATE_SETTLED)
		broken(sim, "I4", "%s started after it was settled", firing->id);
	if (generation->fate == FATE_DEAD || generation->fate == FATE_DROPPED)
		broken(sim, "I4", "%s started after it was dead-lettered", firing->id);
	/* When the server is set back while the answer is on its way, the client repeats the put.
	 * The owner has rebuilt the timer meanwhile. Therefore the put meets its own timer. */
	if (definite(asked->status) && !(asked->status == DW_EEXIST && generation->loss.rebuilt))
		broken(sim, "I10", "%s started, but its put was answered %d", firing->id,
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
		broken(sim, "I3", "%s was retried after a cancel had ended its retries",
		       firing->id);
}

static void note_start(struct sim *sim, struct generation *generation, uint64_t life)
{
	generation->life = life;
	generation->since = sim->clocks.steady;
	generation->started = true;
	generation->held = generation->unstarted = generation->licensed = false;
	generation->may_settle = generation->may_retry = false;
}

/* of_data: of the generations with that number the one with that data, if there is one: after a
 * set-back the server may give a number again, and the owner may know the one that was lost. */
static struct generation *of_data(struct generation *found, const struct asked *asked)
{
	struct generation *each = found ? found->name->last : NULL;

	while (each && (!promises_is(each, found->number) || each->asked != asked))
		each = each->before;
	return each ? each : found;
}

/* started finds the generation, or reports that it was never stored. */
static struct generation *started(struct sim *sim, const char *id, uint64_t number)
{
	struct generation *generation = promises_find(promises_name(sim, id), number);

	if (!generation)
		broken(sim, "I10", "%s started with a generation that was never stored", id);
	return generation;
}

struct generation *delivery_started(struct sim *sim, const dw_firing *firing)
{
	const struct asked *asked = calls_of_data(sim, firing->data, firing->data_size);
	struct generation *generation;

	sim->promises.start_count++;
	if (!sim->view.may_start(sim->view.user, firing->id))
		broken(sim, "I6", "%s started without the lease", firing->id);
	generation = of_data(started(sim, firing->id, firing->token->generation), asked);
	if (!generation)
		return NULL;
	if (generation->asked != asked)
		broken(sim, "I11", "%s started with other data", firing->id);
	check_promises(sim, generation, firing);
	check_repetition(sim, generation, firing);
	order_started(sim, generation);
	if (!is_replaced(sim, firing))
		generation->attempt = firing->attempt;
	note_start(sim, generation, sim->at_work->life);
	return generation;
}

struct generation *delivery_started_by_other(struct sim *sim, const dw_op *claim)
{
	struct generation *generation = started(sim, claim->id, claim->head.generation);
	const dw_firing firing = {
	    .id = claim->id, .topic = "?", .due = claim->head.due, .attempt = claim->head.attempt};

	if (!generation)
		return NULL;
	trace(sim, "other start", claim->id, claim->head.due, claim->head.attempt);
	generation->life = 0; /* if we started it, that was before the loss */
	check_promises(sim, generation, &firing);
	check_repetition(sim, generation, &firing);
	generation->attempt = claim->head.attempt;
	note_start(sim, generation, 0);
	return generation;
}

void delivery_verdict(struct sim *sim, struct generation *generation, dw_verdict verdict,
		      dw_usec retry_in)
{
	if (!generation)
		return;
	generation->held = verdict == DW_HOLD || verdict == DW_HOLD_UNSTARTED;
	generation->unstarted = verdict == DW_HOLD_UNSTARTED;
	if (verdict == DW_DONE)
		generation->may_settle = true;
	if (verdict == DW_RETRY)
		generation->may_retry = true;
	generation->retry_floor = usec_add(clocks_wall(sim), usec_max(retry_in, 0));
	generation->floor_clock = sim->clocks.set_count;
}

void delivery_expired(struct sim *sim, const char *id)
{
	const struct name *name = promises_name(sim, id);

	for (struct generation *each = name->last; each; each = each->before) {
		if (!each->held || each->life != sim->at_work->life)
			continue;
		if (each->fate == FATE_SETTLED && name->loss.at)
			continue; /* an earlier one was rebuilt since, and is held */
		/* It expired some steps ago: retry_floor stays that of the hold. */
		each->may_retry = true;
		return;
	}
	if (!name->loss.at) /* otherwise another owner may have started it since */
		broken(sim, "I4", "a hold of %s expired, but it was not held", id);
}

static void lose_delivery(const struct sim *sim, struct generation *generation)
{
	if (sim->several && generation->life != sim->at_work->life)
		return; /* started by another process */
	generation->held = false;
	generation->dropped = 0; /* its delivery is void */
	if (generation->life == sim->at_work->life)
		generation->life = 0;
}

void deliveries_lost(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->promises.generation_count; i++)
		lose_delivery(sim, &sim->promises.generations[i]);
	order_forget(sim);
}

void deliveries_lost_of(struct sim *sim, struct name *name)
{
	for (struct generation *each = name->last; each; each = each->before)
		lose_delivery(sim, each);
	order_touched(name);
}
