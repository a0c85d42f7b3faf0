#include "sim/core/sim.h"
#include "timer/ended.h"

/* is_end: the operation has ended what was stored. */
static bool is_end(const dw_op *op, const struct name *name, const struct generation *was)
{
	return was && name->stored != was &&
	       (op->kind == DW_OP_SETTLE || op->kind == DW_OP_CANCEL || op->kind == DW_OP_BURY);
}

static dw_end end_of(const dw_op *op)
{
	if (op->kind == DW_OP_SETTLE)
		return DW_END_DONE;
	return op->kind == DW_OP_CANCEL ? DW_END_CANCELLED : DW_END_DEAD;
}

/* check compares the end in the store with the one that must be there: exactly that one. */
static void check(struct sim *sim, const struct name *name)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_row *row = sim->view.ended(sim->view.user, name->id);
	struct ended_names names;
	dw_ended ended;

	if (row && !ended_read(row->body, row->body_size, &ended, &names))
		broken(sim, "end", "the end of %s is damaged", name->id);
	else if (row && !name->kept.of)
		broken(sim, "end", "%s has an end, and has not ended", name->id);
	else if (!row && name->kept.of)
		broken(sim, "end", "the end of %s is not kept", name->id);
	else if (row && !promises_is(name->kept.of, ended.generation))
		broken(sim, "end", "the end of %s is that of another generation", name->id);
	else if (row && ended.end != name->kept.end)
		broken(sim, "end", "the end of %s is another one", name->id);
	rows_free(&alloc, row);
}

void ends_applied(struct sim *sim, const dw_op *op, struct name *name, const struct generation *was)
{
	if (op->kind == DW_OP_PUT && op->status == DW_OK && op->flags & DW_OP_ONCE &&
	    name->kept.of && !name->kept.unsure)
		broken(sim, "once", "%s was put again, and its end is kept", name->id);
	if (is_end(op, name, was) && was->asked->keeps) {
		name->kept.of = was;
		name->kept.end = end_of(op);
		name->kept.unsure = false;
	}
	if (!name->kept.unsure)
		check(sim, name);
}

void ends_lost(struct sim *sim)
{
	for (struct name *name = sim->promises.first; name; name = name->next)
		name->kept.unsure = true;
}
