/* I8: timers start in the order of (deadline, generation), among those that are ready.
 *
 * A timer is READY from the moment the engine has taken the answer that it is claimed, until it
 * starts or something is asked for it: a put, a cancel, an operation of the engine; and not while
 * such a call waits. When X starts, no other timer may be ready, due and have a handler, and
 *	be due before X, or
 *	be due with X, of an earlier generation, and have become ready before X.
 * Equal deadlines need the last condition: a claim that failed comes back behind others.
 *
 * A failed allocation and a clock that is set make timers wait for reasons of their own; the model
 * then forgets who was ready. */
#include "sim/core/sim.h"

void order_forget(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->model.name_count; i++)
		sim->model.names[i].ready = NONE;
}

void order_touched(struct sim *sim, uint32_t name)
{
	sim->model.names[name].ready = NONE;
}

void order_submitted(struct sim *sim, const dw_op *op)
{
	if (op->id && op->kind != DW_OP_GET && op->kind != DW_OP_ACK)
		order_touched(sim, model_name(sim, op->id));
}

/* learnt: rows of a scan or of the inbox replace what the engine knew. */
static void learnt(struct sim *sim, const dw_row *row)
{
	for (; row; row = row->next) {
		struct name *name = &sim->model.names[model_name(sim, row->id)];

		if (name->learnt < row->head.generation)
			name->learnt = row->head.generation;
		if (name->ready != NONE &&
		    sim->model.generations[name->ready].number < row->head.generation)
			name->ready = NONE;
	}
}

void order_collected(struct sim *sim, const dw_op *op)
{
	struct generation *generation;
	struct name *name;

	learnt(sim, op->rows);
	if (op->kind == DW_OP_PURGE)
		order_forget(sim);
	if (op->reign != (sim->town ? town_losses(sim) : sim->disk->losses))
		return; /* a claim of before counts for nothing */
	if ((op->kind != DW_OP_CLAIM && op->kind != DW_OP_PUT) || op->status != DW_OK ||
	    op->head.state != DW_CLAIMED)
		return;
	name = &sim->model.names[model_name(sim, op->id)];
	generation = model_find(sim, model_name(sim, op->id), op->head.generation);
	if (!generation || generation->number < name->learnt)
		return;
	name->ready = (uint32_t)(generation - sim->model.generations);
	name->ready_since = ++sim->model.ready_count;
	name->ready_life = sim->life;
}

/* may_start: the ready timer could start now. */
static bool may_start(const struct sim *sim, const struct generation *ready, dw_usec wall)
{
	const struct asked *asked = &sim->model.asked[ready->asked];

	if (!sim->handled_any && !sim->handled[asked->topic])
		return false;
	return ready->due <= wall &&
	       (asked->late_after == 0 || usec_sub(wall, ready->due) <= asked->late_after);
}

void order_started(struct sim *sim, const struct generation *started)
{
	const struct name *own = &sim->model.names[started->name];
	dw_usec wall = clocks_wall(sim);

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		const struct name *name = &sim->model.names[i];
		const struct generation *ready;

		if (i == started->name || name->ready == NONE || name->open > 0 || name->mute ||
		    name->ready_life != sim->life)
			continue;
		ready = &sim->model.generations[name->ready];
		if (!may_start(sim, ready, wall))
			continue;
		if (ready->due < started->due ||
		    (ready->due == started->due && ready->number < started->number &&
		     name->ready_since < own->ready_since))
			broken(sim, "I8", "%s started before %s, which is due %lld us earlier",
			       own->id, name->id, (long long)(started->due - ready->due));
	}
	order_touched(sim, started->name);
}
