/* What passes between an engine and its store, told to the model. */
#include "sim/fleet/fleet.h"

#include <string.h>

static struct spy *spy_of(dw_store *store)
{
	return (struct spy *)store;
}

static const struct spy *const_spy_of(const dw_store *store)
{
	return (const struct spy *)store;
}

static void submit(dw_store *store, dw_op *batch)
{
	struct spy *spy = spy_of(store);
	struct sim *sim = spy->process->sim;

	for (dw_op *op = batch; op; op = op->next) {
		trace(sim, "submit", op->id ? op->id : "", op->kind * 10 + spy->process->number,
		      (int64_t)op->head.generation);
		order_submitted(sim, op);
		if (op->kind == DW_OP_LOSS)
			lost_all_pushed(spy->process, spy->real);
	}
	spy->real->type->submit(spy->real, batch);
}

static void lost(struct process *process)
{
	process->losses++;
	process->is_beaten = false;
	memset(process->shaken, 0, sizeof process->shaken);
	memset(process->known, 0, sizeof process->known);
}

static void hear_of(struct process *process, const char *id, uint64_t generation)
{
	uint32_t name = model_name(process->sim, id);

	if (process->known[name] < generation)
		process->known[name] = generation;
}

/* hear: what the engine, as the owner, learns of what is stored. */
static void hear(struct process *process, const dw_op *op)
{
	/* Of an audit, whose subject says that it is one, the engine takes in what is overdue. */
	bool listed = op->kind == DW_OP_SCAN ? op->call || op->subject : op->kind == DW_OP_GET;

	if (!engine_is_owner(process->sim->engine) || op->reign != process->losses || listed ||
	    op->kind == DW_OP_DEAD_SCAN)
		return;
	for (const dw_row *row = op->rows; row; row = row->next) {
		hear_of(process, row->id, row->head.generation);
		if (row->gone)
			process->dead[model_name(process->sim, row->id)] = row->head.generation;
	}
	if (op->id && op->status == DW_OK && op->kind != DW_OP_ACK)
		hear_of(process, op->id, op->head.generation);
	if (op->kind == DW_OP_LOSS && op->status == DW_OK) {
		process->told_at = process->sim->clocks.steady;
		order_forget(process->sim);
	}
	if ((op->status == DW_OK ||
	     (op->status == DW_ENOENT && (op->kind == DW_OP_SETTLE || op->kind == DW_OP_BURY))) &&
	    (op->kind == DW_OP_SETTLE || op->kind == DW_OP_BURY || op->kind == DW_OP_CANCEL))
		process->dead[model_name(process->sim, op->id)] = op->head.generation;
	if (op->status == DW_OK && op->kind == DW_OP_PURGE)
		memcpy(process->dead, process->known, sizeof process->dead);
}

/* collect: an operation that is answered so, and of this reign, is how the engine loses. */
static dw_op *collect(dw_store *store)
{
	struct spy *spy = spy_of(store);
	struct sim *sim = spy->process->sim;
	dw_op *all = spy->real->type->collect(spy->real);

	for (dw_op *op = all; op; op = op->next) {
		trace(sim, "answer", op->id ? op->id : "", op->kind * 10 + spy->process->number,
		      op->status);
		for (const dw_row *r = op->rows; r; r = r->next)
			trace(sim, "row", r->id, (int64_t)r->head.generation, r->gone);
		if (op->status == DW_EFENCED && op->reign == spy->process->losses)
			lost(spy->process);
		hear(spy->process, op);
		order_collected(sim, op, op->reign == spy->process->losses);
	}
	return all;
}

static int stop(dw_store *store, dw_usec patience)
{
	struct spy *spy = spy_of(store);

	return spy->real->type->stop(spy->real, patience);
}

static void free_store(dw_store *store)
{
	struct spy *spy = spy_of(store);

	spy->real->type->free(spy->real);
	spy->real = NULL;
}

static void turn(dw_store *store, dw_usec steady)
{
	struct spy *spy = spy_of(store);

	spy->real->type->turn(spy->real, steady);
}

static dw_usec due(const dw_store *store)
{
	const struct spy *spy = const_spy_of(store);

	return spy->real->type->due(spy->real);
}

static dw_usec lease(const dw_store *store)
{
	const struct spy *spy = const_spy_of(store);
	dw_usec until;

	if (spy->process->sim->bug == BUG_LATE_START)
		return DW_NEVER;
	until = spy->real->type->lease(spy->real);
	if (until != INT64_MIN)
		spy->process->leased = until;
	return until;
}

static int is_lost(const dw_store *store, const char *id)
{
	const struct spy *spy = const_spy_of(store);

	return spy->real->type->is_lost(spy->real, id);
}

static int trouble(const dw_store *store, char *ret_words, size_t size)
{
	const struct spy *spy = const_spy_of(store);

	return spy->real->type->trouble(spy->real, ret_words, size);
}

void spy_init(struct spy *spy, struct process *process, dw_store *real)
{
	*spy = (struct spy){.real = real, .process = process};
	spy->type = (dw_store_class){.size = sizeof spy->type,
				     .name = "spied on",
				     .level = DW_STORED,
				     .submit = submit,
				     .collect = collect,
				     .stop = stop,
				     .free = free_store,
				     .turn = turn,
				     .due = due,
				     .lease = lease,
				     .is_lost = is_lost,
				     .trouble = trouble};
	spy->store.type = &spy->type;
}
