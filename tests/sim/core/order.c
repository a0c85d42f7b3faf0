#include "sim/core/sim.h"

/* stamp_now: a number that changes with every event that upsets the order. */
static uint64_t stamp_now(const struct sim *sim)
{
	return 1 + sim->clocks.set_count + sim->memory.fail_count + sim->order.forgotten;
}

void order_forget(struct sim *sim)
{
	sim->order.forgotten++;
}

void order_touched(struct name *name)
{
	name->ready.stamp = 0;
}

void order_submitted(struct sim *sim, const dw_op *op)
{
	if (op->id && op->kind != DW_OP_GET && op->kind != DW_OP_ACK)
		order_touched(promises_name(sim, op->id));
}

/* learn: rows of a scan or of the inbox replace what the engine knows. */
static void learn(struct sim *sim, const dw_row *row)
{
	for (; row; row = row->next) {
		struct readiness *ready = &promises_name(sim, row->id)->ready;

		if (ready->learnt < row->head.generation)
			ready->learnt = row->head.generation;
		if (ready->generation && ready->generation->number < row->head.generation)
			ready->stamp = 0;
	}
}

void order_collected(struct sim *sim, const dw_op *op, bool current)
{
	const struct generation *generation;
	struct readiness *ready;

	learn(sim, op->rows);
	if (op->kind == DW_OP_PURGE)
		order_forget(sim);
	if (!current)
		return;
	if ((op->kind != DW_OP_CLAIM && op->kind != DW_OP_PUT) || op->status != DW_OK ||
	    op->head.state != DW_CLAIMED)
		return;
	ready = &promises_name(sim, op->id)->ready;
	generation = promises_find(promises_name(sim, op->id), op->head.generation);
	if (!generation || generation->number < ready->learnt)
		return;
	ready->stamp = stamp_now(sim);
	ready->generation = generation;
	ready->life = sim->at_work->life;
}

static bool is_ready(const struct sim *sim, const struct name *name)
{
	return name->ready.stamp == stamp_now(sim) && name->ready.life == sim->at_work->life &&
	       name->open == 0 && !name->unreported;
}

/* may_start: the ready timer could start now. */
static bool may_start(const struct sim *sim, const struct generation *ready, dw_usec wall)
{
	const struct asked *asked = ready->asked;

	if (asked->rule.every > 0 && usec_sub(wall, ready->due) > asked->rule.missed_after)
		return false;
	return instance_handles(sim->at_work, asked->topic) && ready->due <= wall &&
	       (asked->late_after == 0 || usec_sub(wall, ready->due) <= asked->late_after);
}

/* gathers: the ready timer may wait for its batch, while other topics go on. */
static bool gathers(const struct sim *sim, const struct generation *ready,
		    const struct generation *started)
{
	return ready && sim->at_work->batched[ready->asked->topic] &&
	       ready->asked->topic != started->asked->topic;
}

void order_started(struct sim *sim, const struct generation *started)
{
	dw_usec wall = clocks_wall(sim);

	for (const struct name *name = sim->promises.first; name; name = name->next) {
		const struct generation *ready = name->ready.generation;

		if (name == started->name || gathers(sim, ready, started) || !is_ready(sim, name) ||
		    !may_start(sim, ready, wall))
			continue;
		if (ready->due < started->due ||
		    (ready->due == started->due && ready->number < started->number))
			broken(sim, "I8", "%s started before %s, which is due %lld us earlier",
			       started->name->id, name->id, (long long)(started->due - ready->due));
	}
	order_touched(started->name);
}
