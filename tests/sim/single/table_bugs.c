#include "sim/single/single.h"
#include "store/memory/table_scan.h"

/* stored: the head of the timer stored under the operation's id. False: there is no such timer. */
static bool stored(struct single *single, const dw_op *op, const struct table_caller *caller,
		   dw_head *ret_head)
{
	struct alloc alloc = memory_alloc(&single->sim->table_account);
	dw_op get = {.kind = DW_OP_GET, .id = op->id};
	bool found;

	(void)table_apply(single->table, &get, caller);
	found = get.status == DW_OK;
	if (found)
		*ret_head = get.head;
	rows_free(&alloc, get.rows);
	return found;
}

/* skip now and then answers DW_OK without doing anything. */
static bool skip(struct single *single, dw_op *op, dw_op_kind kind)
{
	dw_head head;
	struct table_caller caller = {.role = DW_OWNER};

	if (op->kind != kind || !stored(single, op, &caller, &head) || !chance(single->sim, 1000))
		return false;
	op->status = DW_OK;
	return true;
}

static bool apply_put(struct single *single, dw_op *op, const struct table_caller *caller)
{
	unsigned char *body = (unsigned char *)op + ((const char *)op->body - (const char *)op);

	if (single->sim->bug == BUG_ROUND_DOWN)
		op->head.due -= op->head.due % 1000;
	if (single->sim->bug == BUG_DATA_FLIPPED && op->body_size > 0 && chance(single->sim, 500))
		body[op->body_size - 1] ^= 1;
	if (single->sim->bug == BUG_PUT_LOST && chance(single->sim, 500)) {
		op->status = DW_OK;
		op->head.generation = UINT64_C(1) << 60;
		op->head.generation += single->sim->trace.event_count;
		return true;
	}
	(void)table_apply(single->table, op, caller);
	if (single->sim->bug == BUG_PUT_PHANTOM && op->status == DW_OK && chance(single->sim, 500))
		op->status = DW_ELIMIT;
	return true;
}

/* apply_any applies the operation to whatever generation is stored. */
static bool apply_any(struct single *single, dw_op *op, const struct table_caller *caller,
		      bool attempt)
{
	dw_head wanted = op->head;
	dw_head head;

	if (stored(single, op, caller, &head)) {
		op->head.generation = head.generation;
		if (attempt)
			op->head.attempt = head.attempt;
	}
	(void)table_apply(single->table, op, caller);
	op->head.generation = wanted.generation;
	return true;
}

static bool apply_claim(struct single *single, dw_op *op, const struct table_caller *caller)
{
	(void)table_apply(single->table, op, caller);
	if (op->status == DW_OK)
		op->head.attempt = 1;
	return true;
}

/* apply_move treats a client's move as an owner's that withdraws the claim. */
static bool apply_move(struct single *single, dw_op *op, const struct table_caller *caller)
{
	struct table_caller owner = *caller;

	owner.role = DW_OWNER;
	op->flags |= DW_OP_WITHDRAWN;
	(void)table_apply(single->table, op, &owner);
	return true;
}

/* apply_in_two settles the delivery and puts the next occurrence. Now and then the process dies
 * between the two. */
static bool apply_in_two(struct single *single, dw_op *op, const struct table_caller *caller)
{
	struct alloc alloc = memory_alloc(&single->sim->table_account);
	dw_op *settle = op_new(&alloc, DW_OP_SETTLE, op->id, NULL, 0);

	settle->head = op->head;
	if (!chance(single->sim, 500)) {
		op_free(&alloc, settle);
		return table_apply(single->table, op, caller);
	}
	(void)table_apply(single->table, settle, caller);
	trace(single->sim, "dies inside", op->id, 0, 0);
	op->status = DW_ESTORE;
	op_free(&alloc, settle);
	single->instance.dead = true;
	instance_wake(&single->instance);
	return true;
}

/* apply_end_early keeps the end of a timer, and does not settle it. */
static bool apply_end_early(struct single *single, dw_op *op, const struct table_caller *caller)
{
	struct timer_table *table = single->table;
	struct stored_end *end;
	dw_ended ended;
	dw_head head;

	if (!stored(single, op, caller, &head) || !chance(single->sim, 1000))
		return table_apply(table, op, caller);
	ended_of(op, DW_END_DONE, &head, caller->now, &ended);
	ended.until = DW_NEVER;
	end = ends_make(&table->ends, &table->alloc, op->id, &ended);
	if (end)
		ends_add(&table->ends, &table->alloc, end);
	op->status = DW_ESTORE;
	return true;
}

static bool apply_end_lost(struct single *single, dw_op *op, const struct table_caller *caller)
{
	bool answered = table_apply(single->table, op, caller);

	ends_clear(&single->table->ends, &single->table->alloc);
	return answered;
}

static bool apply_once_again(struct single *single, dw_op *op, const struct table_caller *caller)
{
	unsigned flags = op->flags;
	bool answered;

	op->flags &= ~DW_OP_ONCE;
	answered = table_apply(single->table, op, caller);
	op->flags |= flags & DW_OP_ONCE;
	return answered;
}

bool table_bugs_apply(struct single *single, dw_op *op, const struct table_caller *caller)
{
	if (single->sim->bug == BUG_ONCE_AGAIN && op->kind == DW_OP_PUT)
		return apply_once_again(single, op, caller);
	if (single->sim->bug == BUG_END_LOST && op->kind == DW_OP_SETTLE)
		return apply_end_lost(single, op, caller);
	if (single->sim->bug == BUG_END_EARLY && op->kind == DW_OP_SETTLE)
		return apply_end_early(single, op, caller);
	if (op->kind == DW_OP_PUT && single->sim->bug != BUG_NONE)
		return apply_put(single, op, caller);
	if (single->sim->bug == BUG_STALE_SETTLE && op->kind == DW_OP_SETTLE)
		return apply_any(single, op, caller, true);
	if (single->sim->bug == BUG_CLAIM_ANY && op->kind == DW_OP_CLAIM)
		return apply_any(single, op, caller, true);
	if (single->sim->bug == BUG_ATTEMPT_RESET && op->kind == DW_OP_CLAIM)
		return apply_claim(single, op, caller);
	if (single->sim->bug == BUG_NEXT_IN_TWO && op->kind == DW_OP_NEXT)
		return apply_in_two(single, op, caller);
	if (single->sim->bug == BUG_PAGE_BOUNDARY && op->kind == DW_OP_SCAN && op->after.started)
		op->after.generation = UINT64_MAX;
	if (single->sim->bug == BUG_ACK_BY_ID && op->kind == DW_OP_ACK)
		op->head.generation = UINT64_MAX;
	if (single->sim->bug == BUG_CANCEL_REVIVED && skip(single, op, DW_OP_CANCEL))
		return true;
	if (single->sim->bug == BUG_MOVE_LOST && skip(single, op, DW_OP_MOVE))
		return true;
	if (single->sim->bug == BUG_PURGE_LOST && op->kind == DW_OP_PURGE) {
		op->status = DW_OK;
		return true;
	}
	if (single->sim->bug == BUG_MOVE_STARTED && op->kind == DW_OP_MOVE &&
	    caller->role == DW_CLIENT)
		return apply_move(single, op, caller);
	if (single->sim->bug == BUG_SETTLE_LOST && skip(single, op, DW_OP_SETTLE))
		return true;
	return table_apply(single->table, op, caller);
}
