#include "sim/core/sim.h"

#include <string.h>

#include "timer/record.h"

void model_init(struct sim *sim)
{
	struct model *model = &sim->model;

	model->name_count = model->asked_count = model->generation_count = 0;
	model->unanswered = 0;
	model->purging = false;
}

uint32_t model_name(struct sim *sim, const char *id)
{
	struct model *model = &sim->model;
	struct name *name;

	for (uint32_t i = 0; i < model->name_count; i++)
		if (strcmp(model->names[i].id, id) == 0)
			return i;
	if (model->name_count == NAMES_MAX || strlen(id) >= sizeof name->id) {
		broken(sim, "sim", "no room for the id %s", id);
		return 0;
	}
	name = &model->names[model->name_count];
	*name = (struct name){.last = NONE, .stored = NONE, .owed = NONE};
	memcpy(name->id, id, strlen(id) + 1);
	return model->name_count++;
}

void model_lower(struct name *name, uint64_t number)
{
	uint64_t *floors[] = {&name->floor, &name->cancel_floor, &name->purge_floor};

	for (size_t i = 0; i < sizeof floors / sizeof *floors; i++)
		if (*floors[i] >= number)
			*floors[i] = number - 1;
}

bool model_is(const struct generation *generation, uint64_t number)
{
	return generation->number == number || (generation->was && generation->was == number);
}

struct generation *model_find(struct sim *sim, uint32_t name, uint64_t number)
{
	uint32_t at = sim->model.names[name].last;

	while (at != NONE && !model_is(&sim->model.generations[at], number))
		at = sim->model.generations[at].before;
	return at == NONE ? NULL : &sim->model.generations[at];
}

struct generation *model_stored(struct sim *sim, uint32_t name)
{
	uint32_t at = sim->model.names[name].stored;

	return at == NONE ? NULL : &sim->model.generations[at];
}

static uint64_t last_number(const struct sim *sim, const struct name *name)
{
	return name->last == NONE ? 0 : sim->model.generations[name->last].number;
}

void model_raise(struct name *name, uint64_t number)
{
	if (name->floor < number)
		name->floor = number;
}

/* ---- Operations ---------------------------------------------------------------------------- */

/* model_asked_of: the put that a body is of. */
uint32_t model_asked_of(struct sim *sim, const void *body, size_t size)
{
	struct record record;
	uint64_t number = 0;

	if (record_decode(body, size, &record) != DW_OK || record.data_size != DATA_SIZE)
		return NONE;
	memcpy(&number, record.data, DATA_SIZE);
	return number < sim->model.asked_count ? (uint32_t)number : NONE;
}

static void end(struct sim *sim, uint32_t name, enum fate fate)
{
	struct generation *generation = model_stored(sim, name);

	/* A settled one that was there again, because the server was set back, stays settled. */
	if (generation && !(generation->fate == FATE_SETTLED && fate == FATE_REPLACED))
		generation->fate = fate;
	sim->model.names[name].stored = NONE;
}

/* client_changes: a client replaces a timer. What the store has lost, and its owner has not put
 * right, it may have started; so that promises nothing. */
static void client_changes(struct sim *sim, struct name *name, const dw_op *op, dw_role role)
{
	uint64_t last = last_number(sim, name);

	if (role == DW_CLIENT && !op->head.open && !name->keeper)
		model_raise(name, last < op->head.generation ? last : op->head.generation - 1);
	if (name->befallen_at) /* versions may be smaller than they were before */
		model_lower(name, op->head.generation);
	if (name->owed != NONE)
		lost_changed(sim, name, false);
}

/* take_over: a put that is done again, because the server was set back, makes the generation that
 * it has made before, and its owner may have that under way. */
static void take_over(struct generation *generation, const struct generation *before)
{
	generation->life = before->life;
	generation->held = before->held;
	generation->may_settle = before->may_settle;
	generation->may_retry = before->may_retry;
	generation->retry_floor = before->retry_floor;
	generation->floor_clock = before->floor_clock;
	generation->licensed = true;
	generation->reset = true;
}

static void put_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	struct model *model = &sim->model;
	uint32_t asked = model_asked_of(sim, op->body, op->body_size);
	uint32_t number = model_name(sim, op->id);
	struct name *name = &model->names[number];
	const struct generation *done;
	const struct generation *again = model_find(sim, number, op->head.generation);

	if (asked == NONE || model->generation_count == GENERATIONS_MAX) {
		broken(sim, asked == NONE ? "I11" : "sim", "a put of %s is not as asked", op->id);
		return;
	}
	if (op->head.generation <= last_number(sim, name) && !name->befallen_at)
		broken(sim, "generation", "of %s does not grow", op->id);
	done = sim->town ? model_made_by(sim, number, &model->asked[asked]) : NULL;
	if (done && !lost_may_repeat(sim, done))
		broken(sim, "I9", "a put of %s was done twice", op->id);
	client_changes(sim, name, op, role);
	end(sim, number, FATE_REPLACED);
	model->generations[model->generation_count] =
	    (struct generation){.number = op->head.generation,
				.before = name->last,
				.name = number,
				.asked = asked,
				.due = model->asked[asked].due,
				.made_at = sim->clocks.steady,
				.since = sim->clocks.steady,
				.promised = role == DW_OWNER && !name->keeper,
				.claimed = op->head.state == DW_CLAIMED};
	name->last = name->stored = model->generation_count++;
	if (again && again->asked == asked)
		take_over(&model->generations[name->last], again);
}

/* goes_on: the old one, stored or dead, goes on as the next generation of the name, with the same
 * data and the attempts it had. */
static void goes_on(struct sim *sim, const dw_op *op, dw_role role, struct generation *old)
{
	struct model *model = &sim->model;
	uint32_t number = model_name(sim, op->id);
	struct name *name = &model->names[number];

	if (!old || model->generation_count == GENERATIONS_MAX) {
		broken(sim, old ? "sim" : "I3", "%s went on from nothing", op->id);
		return;
	}
	if (op->head.generation <= last_number(sim, name) && !name->befallen_at)
		broken(sim, "generation", "of %s does not grow", op->id);
	client_changes(sim, name, op, role);
	if ((op->head.attempt < old->attempt && !name->keeper) || op->head.retries != 0)
		broken(sim, "move", "of %s: attempt %u, retries %u", op->id, op->head.attempt,
		       op->head.retries);
	old->fate = old->fate == FATE_DEAD ? FATE_BURIED : FATE_REPLACED;
	model->generations[model->generation_count] =
	    (struct generation){.number = op->head.generation,
				.before = name->last,
				.name = number,
				.asked = old->asked,
				.due = op->head.due,
				.moved_to = op->head.due,
				.attempt = name->keeper ? op->head.attempt : old->attempt,
				.promised = role == DW_OWNER && !name->keeper,
				.made_at = sim->clocks.steady,
				.since = sim->clocks.steady};
	name->last = name->stored = model->generation_count++;
}

/* model_dead: the last generation of the name that has a dead letter, NULL: none. */
struct generation *model_dead(struct sim *sim, uint32_t name)
{
	uint32_t at = sim->model.names[name].last;

	while (at != NONE && sim->model.generations[at].fate != FATE_DEAD)
		at = sim->model.generations[at].before;
	return at == NONE ? NULL : &sim->model.generations[at];
}

static void requeue_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	uint32_t name = model_name(sim, op->id);
	struct generation *dead = model_dead(sim, name);

	if ((op->status == DW_ENOENT) != (dead == NULL))
		broken(sim, "dead", "a requeue of %s was answered %d", op->id, op->status);
	if (op->status == DW_OK && model_stored(sim, name))
		broken(sim, "dead", "a requeue of %s has replaced a timer", op->id);
	if (op->status == DW_OK)
		goes_on(sim, op, role, dead);
}

static void drop_applied(struct sim *sim, const dw_op *op)
{
	uint32_t name = model_name(sim, op->id);
	struct generation *dead = model_dead(sim, name);

	if ((op->status == DW_ENOENT) != (dead == NULL))
		broken(sim, "dead", "a drop of %s was answered %d", op->id, op->status);
	for (; dead; dead = model_dead(sim, name))
		dead->fate = FATE_BURIED;
}

void model_purged(struct sim *sim, uint32_t name)
{
	struct generation *dead;

	while ((dead = model_dead(sim, name)))
		dead->fate = FATE_BURIED;
	for (uint32_t at = sim->model.names[name].last; at != NONE;
	     at = sim->model.generations[at].before)
		sim->model.generations[at].purged = true;
	end(sim, name, FATE_CANCELLED);
	if (sim->model.names[name].owed != NONE)
		lost_changed(sim, &sim->model.names[name], true);
	if (sim->model.names[name].keeper && sim->model.names[name].keeper != sim->life)
		return;
	sim->model.names[name].purge_floor = last_number(sim, &sim->model.names[name]);
}

static void purge_applied(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.name_count; i++)
		model_purged(sim, i);
}

/* late_but_gone: a client's cancel of an open timer deletes it and promises nothing. */
static bool late_but_gone(struct sim *sim, const dw_op *op)
{
	struct table_caller caller = {.role = DW_CLIENT};
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op get = {.kind = DW_OP_GET, .id = op->id};
	bool gone;

	if (sim->town)
		get.rows = town_stored(sim, op->id);
	else
		(void)table_apply(sim->table, &get, &caller);
	gone = !get.rows;
	rows_free(&alloc, get.rows);
	return gone;
}

static void cancel_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	uint32_t number = model_name(sim, op->id);
	struct name *name = &sim->model.names[number];
	bool torn = name->torn && name->stored == NONE && name->last != NONE &&
		    sim->model.generations[name->last].lost;

	if (op->status == DW_OK || (op->status == DW_ELATE && late_but_gone(sim, op))) {
		end(sim, number, FATE_CANCELLED);
		if (role == DW_CLIENT)
			lost_ended(sim, name);
	}
	if (op->status != DW_ENOENT && name->owed != NONE && !model_stored(sim, number))
		lost_changed(sim, name, true);
	/* A client that finds no value where one was torn out knows nothing of a claim. */
	if ((op->status != DW_OK && op->status != DW_ENOENT) || name->keeper ||
	    (torn && role == DW_CLIENT))
		return;
	name->cancel_floor = last_number(sim, name);
	if (role == DW_CLIENT)
		model_raise(name, name->cancel_floor);
}

static void retry_applied(struct sim *sim, struct generation *generation, const dw_op *op,
			  const dw_head *wanted)
{
	bool verdict = (op->flags & DW_OP_VERDICT) != 0;
	bool by_two = generation->reset || generation->pushed;

	/* What was set back with the lease may have been started by two. */
	if (verdict && !generation->may_retry && !generation->licensed && !by_two)
		broken(sim, "I5", "%s is delivered again and nobody asked for it", op->id);
	if (verdict && wanted->due < generation->retry_floor && !by_two &&
	    generation->floor_clock == sim->clocks.set_count)
		broken(sim, "I1", "%s is delivered again before the time asked for", op->id);
	if (!verdict && wanted->due != generation->due)
		broken(sim, "I1", "a claim of %s was given back with another deadline", op->id);
	if (wanted->due != generation->due) /* or it is done again */
		generation->due_before = generation->due;
	generation->due = wanted->due;
	generation->claimed = false;
	generation->licensed = generation->licensed || verdict;
	generation->may_retry = false;
}

/* delivery_applied: what the owner asks about one generation, which must be the stored one. */
static void delivery_applied(struct sim *sim, const dw_op *op, const dw_head *wanted)
{
	uint32_t name = model_name(sim, op->id);
	struct generation *generation = model_find(sim, name, wanted->generation);

	if (!generation || generation != model_stored(sim, name)) {
		broken(sim, op->kind == DW_OP_CLAIM ? "I3" : "I4",
		       "operation %d of a stale generation of %s was done", (int)op->kind, op->id);
		return;
	}
	if (op->kind == DW_OP_CLAIM) {
		generation->claimed = true;
	} else if (op->kind == DW_OP_RETRY) {
		retry_applied(sim, generation, op, wanted);
	} else if (op->kind == DW_OP_BURY) {
		end(sim, name, FATE_DEAD);
		if (op->reason == DW_REASON_LATE &&
		    sim->model.asked[generation->asked].late_after == 0)
			broken(sim, "I2", "%s was set aside as late", op->id);
	} else {
		/* What was written again may have been started, and settled, before it was lost. */
		if (!generation->may_settle && !generation->pushed)
			broken(sim, "I2", "%s was settled and nobody asked for it", op->id);
		end(sim, name, FATE_SETTLED);
	}
}

void model_applied(struct sim *sim, const dw_op *op, const dw_head *wanted, dw_role role)
{
	switch (op->kind) {
	case DW_OP_PUT:
		if (op->status == DW_OK)
			put_applied(sim, op, role);
		return;
	case DW_OP_CANCEL:
		cancel_applied(sim, op, role);
		return;
	case DW_OP_MOVE:
		if (op->status == DW_OK)
			goes_on(sim, op, role, model_stored(sim, model_name(sim, op->id)));
		return;
	case DW_OP_REQUEUE:
		requeue_applied(sim, op, role);
		return;
	case DW_OP_PURGE:
		if (op->status == DW_OK)
			purge_applied(sim);
		return;
	case DW_OP_DROP:
		drop_applied(sim, op);
		return;
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
		if (op->status == DW_OK)
			delivery_applied(sim, op, wanted);
		return;
	default:
		return;
	}
}

/* ---- Deliveries ---------------------------------------------------------------------------- */

static bool definite(int status)
{
	return status < 0 && status != DW_EUNKNOWN;
}

/* check_promises that do not need to know the earlier starts. */
static void check_promises(struct sim *sim, const struct generation *generation,
			   const dw_firing *firing)
{
	const struct asked *asked = &sim->model.asked[generation->asked];
	dw_usec early = usec_sub(generation->due, clocks_wall(sim));

	if (sim->town && town_is_replaced(sim, firing->id))
		return; /* another one is the owner of an emptied shard by now */
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
	if (sim->town && town_is_replaced(sim, firing->id))
		return;
	if (firing->attempt <= generation->attempt)
		broken(sim, "I5", "the attempt of %s does not grow: %u after %u", firing->id,
		       (unsigned)firing->attempt, (unsigned)generation->attempt);
	if (generation->life != sim->life)
		return;
	if (!generation->licensed)
		broken(sim, "I5", "%s started twice without a reason", firing->id);
	if (generation->dropped == sim->life)
		broken(sim, "I3", "%s was retried after a cancel had dropped that", firing->id);
}

struct generation *model_start(struct sim *sim, const dw_firing *firing)
{
	uint32_t name = model_name(sim, firing->id);
	struct generation *generation = model_find(sim, name, firing->token->generation);
	uint64_t number = UINT64_MAX;

	sim->start_count++;
	if (!sim_may_start(sim, firing->id))
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
	if (!sim->town || !town_is_replaced(sim, firing->id))
		generation->attempt = firing->attempt;
	generation->life = sim->life;
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

		if (!generation->held || generation->life != sim->life)
			continue;
		if (generation->fate == FATE_SETTLED && sim->model.names[name].befallen_at)
			continue; /* an earlier one was brought back since, and is held */
		generation->may_retry = true;
		generation->retry_floor = clocks_wall(sim);
		return;
	}
	if (!sim->model.names[name].befallen_at) /* or another owner has started it since */
		broken(sim, "I4", "a hold of %s ran out that was none", id);
}
