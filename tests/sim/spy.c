/* What passes between an engine and its store, told to the model. */
#include "sim/town.h"

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
	}
	spy->real->type->submit(spy->real, batch);
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
			spy->process->losses++;
		order_collected(sim, op);
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

	if (spy->process->sim->bug == BUG_LATE_START)
		return DW_NEVER;
	return spy->real->type->lease(spy->real);
}

static int is_lost(const dw_store *store, const char *id)
{
	const struct spy *spy = const_spy_of(store);

	return spy->real->type->is_lost(spy->real, id);
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
				     .is_lost = is_lost};
	spy->store.type = &spy->type;
}
