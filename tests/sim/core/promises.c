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
	*name = (struct name){.last = NONE, .stored = NONE, .loss.owed = NONE};
	memcpy(name->id, id, strlen(id) + 1);
	return model->name_count++;
}

void model_name_all(struct sim *sim, uint32_t count)
{
	char id[] = "t00";

	for (uint32_t i = 0; i < count; i++) {
		id[1] = (char)('0' + i / 10);
		id[2] = (char)('0' + i % 10);
		(void)model_name(sim, id);
	}
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

	if (role == DW_CLIENT && !op->head.open && !name->loss.keeper)
		model_raise(name, last < op->head.generation ? last : op->head.generation - 1);
	if (name->loss.befallen_at) /* versions may be smaller than they were before */
		model_lower(name, op->head.generation);
	if (name->loss.owed != NONE)
		losses_changed(sim, name, false);
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
	if (op->head.generation <= last_number(sim, name) && !name->loss.befallen_at)
		broken(sim, "generation", "of %s does not grow", op->id);
	done = sim->several ? model_made_by(sim, number, &model->asked[asked]) : NULL;
	if (done && !losses_may_repeat(sim, done))
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
				.promised = role == DW_OWNER && !name->loss.keeper,
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
	if (op->head.generation <= last_number(sim, name) && !name->loss.befallen_at)
		broken(sim, "generation", "of %s does not grow", op->id);
	client_changes(sim, name, op, role);
	if ((op->head.attempt < old->attempt && !name->loss.keeper) || op->head.retries != 0)
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
				.attempt = name->loss.keeper ? op->head.attempt : old->attempt,
				.promised = role == DW_OWNER && !name->loss.keeper,
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
	if (sim->model.names[name].loss.owed != NONE)
		losses_changed(sim, &sim->model.names[name], true);
	if (sim->model.names[name].loss.keeper &&
	    sim->model.names[name].loss.keeper != sim->at_work->life)
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
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_row *row = sim->view.stored(sim->view.user, op->id);
	bool gone = !row;

	rows_free(&alloc, row);
	return gone;
}

static void cancel_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	uint32_t number = model_name(sim, op->id);
	struct name *name = &sim->model.names[number];
	bool torn = name->loss.torn && name->stored == NONE && name->last != NONE &&
		    sim->model.generations[name->last].lost;

	if (op->status == DW_OK || (op->status == DW_ELATE && late_but_gone(sim, op))) {
		end(sim, number, FATE_CANCELLED);
		if (role == DW_CLIENT)
			losses_ended(sim, name);
	}
	if (op->status != DW_ENOENT && name->loss.owed != NONE && !model_stored(sim, number))
		losses_changed(sim, name, true);
	/* A client that finds no value where one was torn out knows nothing of a claim. */
	if ((op->status != DW_OK && op->status != DW_ENOENT) || name->loss.keeper ||
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
