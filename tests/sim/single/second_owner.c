#include "sim/single/single.h"

void second_owner_init(struct single *single)
{
	single->second_owner = (struct second_owner){.at = single->sim->clocks.steady};
}

static void apply(struct single *single, dw_op *op)
{
	struct sim *sim = single->sim;
	struct table_caller caller = {
	    .token = single->second_owner.token, .role = DW_OWNER, .now = clocks_wall(sim)};
	dw_head wanted = op->head;

	(void)table_bugs_apply(single, op, &caller); /* the second owner never reads the inbox */
	trace(sim, "other owner", op->id ? op->id : "", op->kind, op->status);
	operation_applied(sim, op, &wanted, DW_OWNER);
}

static void judge(struct single *single, const dw_op *claim, struct generation *generation)
{
	static const dw_op_kind kinds[] = {DW_OP_SETTLE, DW_OP_SETTLE, DW_OP_RETRY};
	struct sim *sim = single->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op *op;

	if (chance(sim, 2000)) /* it dies before the handler returns */
		return;
	op = op_new(&alloc, kinds[draw(sim, 3)], claim->id, NULL, 0);
	if (generation->asked->rule.every > 0) /* it knows no calendar */
		op->kind = DW_OP_RETRY;
	op->head = claim->head;
	if (op->kind == DW_OP_RETRY) {
		op->flags = DW_OP_VERDICT;
		op->head.due = usec_add(clocks_wall(sim), (dw_usec)draw(sim, DW_SECONDS(2)));
	}
	delivery_verdict(sim, generation, op->kind == DW_OP_SETTLE ? DW_DONE : DW_RETRY, 0);
	apply(single, op);
	op_free(&alloc, op);
}

static void fire(struct single *single, const dw_row *row)
{
	struct sim *sim = single->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op *claim = op_new(&alloc, DW_OP_CLAIM, row->id, NULL, 0);

	claim->head = row->head;
	apply(single, claim);
	if (claim->status == DW_OK && !chance(sim, 1000)) {
		struct generation *generation = delivery_started_by_other(sim, claim);

		if (generation)
			judge(single, claim, generation);
	}
	op_free(&alloc, claim);
}

static void take_over(struct single *single)
{
	struct sim *sim = single->sim;

	single->second_owner.owns = true;
	single->second_owner.count++;
	single->second_owner.token = rng_next(&sim->rng) | 1;
	single->second_owner.until = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(4));
	trace(sim, "other owns", "", single->second_owner.until, 0);
	(void)table_own(single->table, "the second owner",
			clocks_wall(sim)); /* this memory is endless */
}

static void let_go(struct single *single)
{
	struct sim *sim = single->sim;

	trace(sim, "other gone", "", 0, 0);
	single->second_owner.owns = false;
	single->second_owner.at = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(10));
	single->lease.until = sim->clocks.steady;
}

/* fire_due fires some of what is due. */
static void fire_due(struct single *single)
{
	struct sim *sim = single->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op *scan = op_new(&alloc, DW_OP_SCAN, NULL, NULL, 0);

	scan->limit = 1 + (size_t)draw(sim, 5);
	apply(single, scan);
	for (const dw_row *row = scan->rows; row; row = row->next)
		if (row->head.due <= clocks_wall(sim))
			fire(single, row);
	op_free(&alloc, scan);
}

dw_usec second_owner_next(const struct single *single)
{
	const struct sim *sim = single->sim;

	if (single->second_owner.owns)
		return usec_max(single->second_owner.at, sim->clocks.steady);
	if (single->knobs.takeover == 0 || sim->faults.over)
		return DW_NEVER;
	return usec_max(usec_max(single->second_owner.at, single->lease.until), sim->clocks.steady);
}

void second_owner_act(struct single *single)
{
	struct sim *sim = single->sim;

	faults_disturb(sim, sim->clocks.steady);
	if (!single->second_owner.owns && chance(sim, single->knobs.takeover))
		take_over(single);
	else if (single->second_owner.owns &&
		 (sim->faults.over || sim->clocks.steady >= single->second_owner.until))
		let_go(single);
	else if (single->second_owner.owns)
		fire_due(single);
	if (single->second_owner.owns)
		single->second_owner.at = sim->clocks.steady + 1 + (dw_usec)draw(sim, 200000);
	else
		single->second_owner.at =
		    usec_max(single->second_owner.at, sim->clocks.steady + 500000);
}
