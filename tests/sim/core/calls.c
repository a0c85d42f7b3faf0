/* What was asked for, and what was answered. */
#include "sim/core/sim.h"

struct asked *model_ask(struct sim *sim, enum asked_kind kind, uint32_t name)
{
	struct asked *asked;

	if (sim->model.asked_count == ASKED_MAX)
		return NULL;
	asked = &sim->model.asked[sim->model.asked_count++];
	*asked = (struct asked){.sim = sim,
				.kind = kind,
				.name = name,
				.status = UNANSWERED,
				.callback = true,
				.life = sim->at_work->life};
	return asked;
}

/* accepted_settle: only a delivery that is held may be settled. */
static void accepted_settle(struct sim *sim, const struct asked *asked)
{
	struct generation *generation = model_find(sim, asked->name, asked->generation);

	if (sim->view.is_lost(sim->view.user) && !(sim->several && generation && generation->held))
		return; /* it will be void, unless the lease is renewed */
	if (!generation || !generation->held || generation->life != sim->at_work->life) {
		broken(sim, "I4", "a stale token of %s was accepted",
		       sim->model.names[asked->name].id);
		return;
	}
	if (asked->verdict == DW_DONE)
		generation->may_settle = true;
	else
		generation->may_retry = true;
	generation->retry_floor = usec_min(generation->retry_floor, clocks_wall(sim));
}

void model_cancelling(struct sim *sim, uint32_t name)
{
	struct generation *generation = model_stored(sim, name);

	if (!generation && sim->model.names[name].loss.owed != NONE)
		generation = &sim->model.generations[sim->model.names[name].loss.owed];
	/* The delivery goes on, and its retry is dropped: done, whatever its verdict. */
	if (generation && generation->life == sim->at_work->life)
		generation->may_settle = true;
}

void model_accepted(struct sim *sim, struct asked *asked, int status)
{
	if (status != DW_OK) {
		asked->status = status;
		return;
	}
	if (asked->kind == ASKED_SETTLE)
		accepted_settle(sim, asked);
	if (asked->kind == ASKED_PURGE)
		sim->model.purging = true;
	if (asked->kind == ASKED_CANCEL)
		model_cancelling(sim, asked->name);
	sim->model.unanswered += asked->callback;
	if (asked->name == NONE)
		return;
	sim->model.names[asked->name].open += asked->callback;
	sim->model.names[asked->name].mute |= !asked->callback;
	order_touched(sim, asked->name);
}

static struct generation *made_by(struct sim *sim, uint32_t name, const struct asked *asked,
				  bool lost)
{
	uint32_t at = sim->model.names[name].last;

	while (at != NONE && (&sim->model.asked[sim->model.generations[at].asked] != asked ||
			      sim->model.generations[at].moved_to != 0 ||
			      sim->model.generations[at].lost != lost))
		at = sim->model.generations[at].before;
	return at == NONE ? NULL : &sim->model.generations[at];
}

struct generation *model_made_by(struct sim *sim, uint32_t name, const struct asked *asked)
{
	return made_by(sim, name, asked, false);
}

/* put_answered: when the store has learnt later that it had been done, the answer may name what
 * became of it since. */
static void put_answered(struct sim *sim, struct asked *asked, const dw_result *result)
{
	uint32_t number = model_name(sim, result->id);
	struct generation *generation = model_made_by(sim, number, asked);

	if (!generation)
		generation = made_by(sim, number, asked, true);
	if (!generation) {
		broken(sim, "I2", "a put of %s was confirmed that was not stored", result->id);
		return;
	}
	if (result->generation == generation->number)
		losses_confirmed(sim, generation);
	if (generation->number > 0 && generation->promised && !generation->lost)
		model_raise(&sim->model.names[number], generation->number - 1);
}

static void cancel_answered(struct sim *sim, struct asked *asked, int status)
{
	struct name *name = &sim->model.names[asked->name];
	struct generation *generation = model_stored(sim, asked->name);

	if (status == DW_OK || status == DW_ENOENT)
		model_raise(name, name->cancel_floor);
	if (status == DW_ELATE && generation && generation->life == sim->at_work->life)
		generation->dropped = sim->at_work->life;
}

/* move_answered: the generation that was confirmed is there, with the deadline asked for, and ends
 * the duty to fire those before it. */
static void move_answered(struct sim *sim, const struct asked *asked, const dw_result *result)
{
	uint32_t at = sim->model.names[asked->name].last;
	struct generation *generation;

	/* Where the server was set back, another one may have been given its number. */
	while (at != NONE && (!model_is(&sim->model.generations[at], result->generation) ||
			      sim->model.generations[at].moved_to != asked->due))
		at = sim->model.generations[at].before;
	generation = at == NONE ? NULL : &sim->model.generations[at];
	if (!generation) {
		broken(sim, "I2", "a move of %s was confirmed that was not stored", result->id);
		return;
	}
	losses_confirmed(sim, generation);
	if (generation->promised && !generation->lost)
		model_raise(&sim->model.names[asked->name], generation->number - 1);
}

static void purge_answered(struct sim *sim, int status)
{
	sim->model.purging = false;
	if (status != DW_OK)
		return;
	for (uint32_t i = 0; i < sim->model.name_count; i++)
		model_raise(&sim->model.names[i], sim->model.names[i].purge_floor);
}

static void settle_answered(struct sim *sim, const struct asked *asked)
{
	struct generation *generation = model_find(sim, asked->name, asked->generation);

	/* Its value was taken away before: there was nothing to do, and it does not come back. */
	if (asked->verdict == DW_DONE && generation->lost &&
	    sim->model.names[asked->name].loss.torn) {
		generation->lost = false;
		generation->fate = FATE_SETTLED;
	}
	if (asked->verdict == DW_DONE && generation->fate != FATE_SETTLED && !generation->reset)
		broken(sim, "I4", "a settle of %s was confirmed and not done",
		       sim->model.names[asked->name].id);
}

void model_answered(struct sim *sim, struct asked *asked, int status, const dw_result *result)
{
	if (asked->life != sim->at_work->life || asked->status != UNANSWERED) {
		broken(sim, "once", "a call was answered twice (%d, %d)", asked->status, status);
		return;
	}
	if (sim->program.in_call)
		broken(sim, "once", "a call was answered from inside a call");
	asked->status = status;
	sim->model.unanswered--;
	if (asked->name != NONE)
		sim->model.names[asked->name].open--;
	if (result && status == DW_OK && result->level != DW_STORED)
		broken(sim, "level", "the level of a confirmation is %d", (int)result->level);
	if (asked->kind == ASKED_PUT && status == DW_OK)
		put_answered(sim, asked, result);
	if (asked->kind == ASKED_CANCEL)
		cancel_answered(sim, asked, status);
	if ((asked->kind == ASKED_MOVE || asked->kind == ASKED_REQUEUE) && status == DW_OK)
		move_answered(sim, asked, result);
	if (asked->kind == ASKED_PURGE)
		purge_answered(sim, status);
	if (asked->kind == ASKED_SETTLE && status == DW_OK)
		settle_answered(sim, asked);
}

void model_process_ended(struct sim *sim)
{
	struct model *model = &sim->model;

	for (uint32_t i = 0; i < model->asked_count; i++) {
		struct asked *asked = &model->asked[i];

		if (asked->status != UNANSWERED || asked->life != sim->at_work->life)
			continue;
		asked->status = VOID;
		model->unanswered -= asked->callback;
		if (asked->kind == ASKED_PURGE)
			model->purging = false;
		if (asked->name != NONE)
			model->names[asked->name].open -= asked->callback;
	}
	for (uint32_t i = 0; i < model->name_count; i++)
		model->names[i].mute = model->names[i].mute && sim->several;
	order_forget(sim);
}

unsigned model_unanswered(const struct sim *sim)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < sim->model.asked_count; i++) {
		const struct asked *asked = &sim->model.asked[i];

		count += asked->status == UNANSWERED && asked->callback &&
			 asked->life == sim->at_work->life;
	}
	return count;
}
