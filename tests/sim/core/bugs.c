#include "sim/core/sim.h"

#include <string.h>

#include "durawheel/wheel.h"

static const char *const names[BUG_COUNT] = {
    [BUG_ROUND_DOWN] = "round_down",         /* a deadline in whole milliseconds */
    [BUG_LEVEL_EDGE] = "level_edge",         /* a timer lost at the edge of a wheel's level */
    [BUG_STALE_SETTLE] = "stale_settle",     /* settle of whatever generation is stored */
    [BUG_PAGE_BOUNDARY] = "page_boundary",   /* the next page begins at the next deadline */
    [BUG_CLOCK_BACK] = "clock_back",         /* a clock set back is not noticed */
    [BUG_CANCEL_REVIVED] = "cancel_revived", /* cancel confirmed and not done */
    [BUG_ATTEMPT_RESET] = "attempt_reset",   /* every claim is the first one */
    [BUG_CLAIM_ANY] = "claim_any",           /* claim of whatever generation is stored */
    [BUG_ACK_BY_ID] = "ack_by_id",           /* acknowledges what was written since, too */
    [BUG_PUT_LOST] = "put_lost",             /* put confirmed and not done */
    [BUG_PUT_PHANTOM] = "put_phantom",       /* put refused and done */
    [BUG_SETTLE_LOST] = "settle_lost",       /* settle confirmed and not done */
    [BUG_WHEEL_ORDER] = "wheel_order",       /* the wheel counts in tenths of a second */
    [BUG_DATA_FLIPPED] = "data_flipped",     /* one byte of the data is another */
    [BUG_MOVE_LOST] = "move_lost",           /* move confirmed and not done */
    [BUG_MOVE_STARTED] = "move_started",     /* a client moves what the owner has claimed */
    [BUG_PURGE_LOST] = "purge_lost",         /* purge confirmed and not done */
    [BUG_AFTER_LEASE] = "after_lease",       /* the lease never ends */
    [BUG_FENCE_UNSEEN] = "fence_unseen",     /* owns again, and does not say what was between */

    [BUG_LATE_START] = "late_start",     /* starts what is due after the lease is over */
    [BUG_NO_HELLO] = "no_hello",         /* what lies in an old socket is carried out */
    [BUG_CLAIM_UNSEEN] = "claim_unseen", /* a claim names no version */
    [BUG_NEVER_OPEN] = "never_open",     /* a cancel forgets the earlier claim */
    [BUG_ACK_UNSEEN] = "ack_unseen",     /* the inbox is acknowledged by id only */
    [BUG_ATTEMPT_KEPT] = "attempt_kept", /* claiming what a dead owner had claimed */
    [BUG_PUSH_LOST] = "push_lost",       /* after a loss nothing is written again */
    [BUG_PUSH_FRESH] = "push_fresh",     /* what is written again was never attempted */
    [BUG_DELETE_LOST] = "delete_lost",   /* after a loss nothing is deleted again */
};

const char *bug_name(enum bug bug)
{
	return names[bug] ? names[bug] : "none";
}

enum bug bug_find(const char *name)
{
	for (int i = 1; i < BUG_COUNT; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return (enum bug)i;
	return BUG_NONE;
}

/* ---- Store --------------------------------------------------------------------------------- */

/* stored: the head of what is stored under the operation's id; false: nothing. */
static bool stored(struct sim *sim, const dw_op *op, const struct table_caller *caller,
		   dw_head *ret_head)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_op get = {.kind = DW_OP_GET, .id = op->id};
	bool found;

	(void)table_apply(sim->table, &get, caller);
	found = get.status == DW_OK;
	if (found)
		*ret_head = get.head;
	rows_free(&alloc, get.rows);
	return found;
}

/* skip answers without doing anything, now and then. */
static bool skip(struct sim *sim, dw_op *op, dw_op_kind kind)
{
	dw_head head;
	struct table_caller caller = {.role = DW_OWNER};

	if (op->kind != kind || !stored(sim, op, &caller, &head) || !chance(sim, 1000))
		return false;
	op->status = DW_OK;
	return true;
}

static bool apply_put(struct sim *sim, dw_op *op, const struct table_caller *caller)
{
	unsigned char *body = (unsigned char *)op + ((const char *)op->body - (const char *)op);

	if (sim->bug == BUG_ROUND_DOWN)
		op->head.due -= op->head.due % 1000;
	if (sim->bug == BUG_DATA_FLIPPED && op->body_size > 0 && chance(sim, 500))
		body[op->body_size - 1] ^= 1;
	if (sim->bug == BUG_PUT_LOST && chance(sim, 500)) {
		op->status = DW_OK;
		op->head.generation = UINT64_C(1) << 60;
		op->head.generation += sim->event_count;
		return true;
	}
	(void)table_apply(sim->table, op, caller);
	if (sim->bug == BUG_PUT_PHANTOM && op->status == DW_OK && chance(sim, 500))
		op->status = DW_ELIMIT;
	return true;
}

/* apply_any: the operation takes what is stored for what it was asked to take. */
static bool apply_any(struct sim *sim, dw_op *op, const struct table_caller *caller, bool attempt)
{
	dw_head wanted = op->head;
	dw_head head;

	if (stored(sim, op, caller, &head)) {
		op->head.generation = head.generation;
		if (attempt)
			op->head.attempt = head.attempt;
	}
	(void)table_apply(sim->table, op, caller);
	op->head.generation = wanted.generation;
	return true;
}

static bool apply_claim(struct sim *sim, dw_op *op, const struct table_caller *caller)
{
	(void)table_apply(sim->table, op, caller);
	if (op->status == DW_OK)
		op->head.attempt = 1;
	return true;
}

/* apply_move takes a client's word for an owner's, that the claim is withdrawn. */
static bool apply_move(struct sim *sim, dw_op *op, const struct table_caller *caller)
{
	struct table_caller owner = *caller;

	owner.role = DW_OWNER;
	op->flags |= DW_OP_WITHDRAWN;
	(void)table_apply(sim->table, op, &owner);
	return true;
}

bool bug_apply(struct sim *sim, dw_op *op, const struct table_caller *caller)
{
	if (op->kind == DW_OP_PUT && sim->bug != BUG_NONE)
		return apply_put(sim, op, caller);
	if (sim->bug == BUG_STALE_SETTLE && op->kind == DW_OP_SETTLE)
		return apply_any(sim, op, caller, true);
	if (sim->bug == BUG_CLAIM_ANY && op->kind == DW_OP_CLAIM)
		return apply_any(sim, op, caller, true);
	if (sim->bug == BUG_ATTEMPT_RESET && op->kind == DW_OP_CLAIM)
		return apply_claim(sim, op, caller);
	if (sim->bug == BUG_PAGE_BOUNDARY && op->kind == DW_OP_SCAN && op->after.started)
		op->after.generation = UINT64_MAX;
	if (sim->bug == BUG_ACK_BY_ID && op->kind == DW_OP_ACK)
		op->head.generation = UINT64_MAX;
	if (sim->bug == BUG_CANCEL_REVIVED && skip(sim, op, DW_OP_CANCEL))
		return true;
	if (sim->bug == BUG_MOVE_LOST && skip(sim, op, DW_OP_MOVE))
		return true;
	if (sim->bug == BUG_PURGE_LOST && op->kind == DW_OP_PURGE) {
		op->status = DW_OK;
		return true;
	}
	if (sim->bug == BUG_MOVE_STARTED && op->kind == DW_OP_MOVE && caller->role == DW_CLIENT)
		return apply_move(sim, op, caller);
	if (sim->bug == BUG_SETTLE_LOST && skip(sim, op, DW_OP_SETTLE))
		return true;
	return table_apply(sim->table, op, caller);
}

/* ---- Clock --------------------------------------------------------------------------------- */

dw_usec bug_wall(struct sim *sim, dw_usec wall)
{
	return sim->bug == BUG_CLOCK_BACK ? sim->clocks.wall_max : wall;
}

/* ---- Wheel --------------------------------------------------------------------------------- */

int __real_dw_wheel_add(dw_wheel *, int64_t deadline, dw_wheel_handle *);
int __wrap_dw_wheel_add(dw_wheel *, int64_t deadline, dw_wheel_handle *);

static enum bug of_wheel;

void bug_wheel(enum bug bug)
{
	of_wheel = bug;
}

/* The linker sends the engine's calls here (--wrap). */
int __wrap_dw_wheel_add(dw_wheel *wheel, int64_t deadline, dw_wheel_handle *ret_handle)
{
	if (of_wheel == BUG_LEVEL_EDGE && deadline % (1 << 18) == 0)
		deadline = INT64_MAX;
	if (of_wheel == BUG_WHEEL_ORDER && deadline < INT64_MAX - 100000)
		deadline += 100000 - deadline % 100000;
	return __real_dw_wheel_add(wheel, deadline, ret_handle);
}
