/* Another owner of the same store. When the lease of ours is over it may take the store over, fires
 * for a while, and lets go. What it does at one moment is done at that moment: claim, start,
 * verdict; and now and then it dies between them. */
#include "sim/core/sim.h"

void rival_init(struct sim *sim)
{
	sim->rival = (struct rival){.at = sim->clocks.steady};
}

static void apply(struct sim *sim, dw_op *op)
{
	struct table_caller caller = {
	    .token = sim->rival.token, .role = DW_OWNER, .now = clocks_wall(sim)};
	dw_head wanted = op->head;

	(void)bug_apply(sim, op, &caller); /* it never asks for the inbox */
	trace(sim, "rival", op->id ? op->id : "", op->kind, op->status);
	model_applied(sim, op, &wanted, DW_OWNER);
}

static void judge(struct sim *sim, const dw_op *claim, struct generation *generation)
{
	static const dw_op_kind kinds[] = {DW_OP_SETTLE, DW_OP_SETTLE, DW_OP_RETRY};
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op *op;

	if (chance(sim, 2000)) /* its handler takes longer than it lives */
		return;
	op = op_new(&alloc, kinds[draw(sim, 3)], claim->id, NULL, 0);
	op->head = claim->head;
	if (op->kind == DW_OP_RETRY) {
		op->flags = DW_OP_VERDICT;
		op->head.due = usec_add(clocks_wall(sim), (dw_usec)draw(sim, DW_SECONDS(2)));
	}
	model_verdict(sim, generation, op->kind == DW_OP_SETTLE ? DW_DONE : DW_RETRY, 0);
	apply(sim, op);
	op_free(&alloc, op);
}

static void fire(struct sim *sim, const dw_row *row)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op *claim = op_new(&alloc, DW_OP_CLAIM, row->id, NULL, 0);

	claim->head = row->head;
	apply(sim, claim);
	if (claim->status == DW_OK && !chance(sim, 1000)) {
		struct generation *generation = model_rival_start(sim, claim);

		if (generation)
			judge(sim, claim, generation);
	}
	op_free(&alloc, claim);
}

static void take_over(struct sim *sim)
{
	sim->rival.owns = true;
	sim->rival.count++;
	sim->rival.token = rng_next(&sim->rng) | 1;
	sim->rival.until = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(4));
	trace(sim, "rival owns", "", sim->rival.until, 0);
	(void)table_own(sim->table, "the rival", clocks_wall(sim)); /* its memory is endless */
}

static void let_go(struct sim *sim)
{
	trace(sim, "rival gone", "", 0, 0);
	sim->rival.owns = false;
	sim->rival.at = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(10));
	sim->leased_until = sim->clocks.steady;
}

/* fire_due fires some of what is due. */
static void fire_due(struct sim *sim)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op *scan = op_new(&alloc, DW_OP_SCAN, NULL, NULL, 0);

	scan->limit = 1 + (size_t)draw(sim, 5);
	apply(sim, scan);
	for (const dw_row *row = scan->rows; row; row = row->next)
		if (row->head.due <= clocks_wall(sim))
			fire(sim, row);
	op_free(&alloc, scan);
}

dw_usec rival_next(const struct sim *sim)
{
	if (sim->rival.owns)
		return usec_max(sim->rival.at, sim->clocks.steady);
	if (sim->knobs.rival == 0 || sim->faults.over)
		return DW_NEVER;
	return usec_max(usec_max(sim->rival.at, sim->leased_until), sim->clocks.steady);
}

void rival_act(struct sim *sim)
{
	faults_disturb(sim, sim->clocks.steady);
	if (!sim->rival.owns && chance(sim, sim->knobs.rival))
		take_over(sim);
	else if (sim->rival.owns && (sim->faults.over || sim->clocks.steady >= sim->rival.until))
		let_go(sim);
	else if (sim->rival.owns)
		fire_due(sim);
	if (sim->rival.owns)
		sim->rival.at = sim->clocks.steady + 1 + (dw_usec)draw(sim, 200000);
	else
		sim->rival.at = usec_max(sim->rival.at, sim->clocks.steady + 500000);
}
