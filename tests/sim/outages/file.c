#include "sim/outages/file.h"

#include "sim/core/sim.h"
#include "store/fallback/row.h"
#include "store/store.h"
#include "timer/record.h"

#define SLOWEST DW_MILLISECONDS(20)

static struct file *file_of(dw_store *store)
{
	return (struct file *)store;
}

static void wake(struct file *file)
{
	instance_wake(file->instance);
}

static void plan_next(struct file *file)
{
	dw_usec delay = (dw_usec)draw(file->sim, chance(file->sim, 500) ? SLOWEST : 3000);

	file->at = file->written.first ? file->sim->clocks.steady + 1 + delay : DW_NEVER;
}

/* carry_out: on the table; it answers at once. */
static void carry_out(struct file *file, dw_op *op)
{
	op->next = NULL;
	if (op->kind == DW_OP_MOVE)
		op->flags |= DW_OP_WITHDRAWN; /* the table does not know that its owner changed */
	file->table->type->submit(file->table, op);
	op_queue_append(&file->answered, file->table->type->collect(file->table));
}

static void fail(struct file *file, dw_op *op, int status)
{
	trace(file->sim, "disk fails", op->id, status, op->kind);
	op->status = status;
	op->next = NULL;
	op_queue_push(&file->answered, op);
}

/* early_delete: a planted bug: what the journal reads is gone. */
static void early_delete(struct file *file, const dw_op *page)
{
	struct alloc alloc = memory_alloc(&file->sim->table_account);

	for (const dw_row *row = page->rows; row; row = row->next) {
		dw_op *op = op_new(&alloc, DW_OP_CANCEL, row->id, NULL, 0);

		op->flags = DW_OP_WITHDRAWN;
		file->table->type->submit(file->table, op);
		op_free(&alloc, file->table->type->collect(file->table));
	}
}

/* is_ending: a row that says cancel. */
static bool is_ending(const dw_op *op)
{
	struct record record;

	return op->kind == DW_OP_PUT && record_decode(op->body, op->body_size, &record) == DW_OK &&
	       ((const unsigned char *)record.data)[1] == DW_OP_CANCEL;
}

/* write: a failed one has been done, or has not. */
static void write(struct file *file, dw_op *op)
{
	struct sim *sim = file->sim;

	if (op->kind != DW_OP_SCAN && chance(sim, sim->faults.over ? 0 : file->fails)) {
		if (op->kind == DW_OP_PUT && !(op->flags & DW_OP_VITAL) && chance(sim, 5000))
			fail(file, op, DW_EFULL);
		else
			fail(file, op, DW_ESTORE);
		return;
	}
	trace(sim, "disk", op->id ? op->id : "", op->kind, (int64_t)op->head.generation);
	if (sim->bug == BUG_BASE_LOST && is_ending(op))
		op->kind = DW_OP_CANCEL;
	carry_out(file, op);
	if (sim->bug == BUG_ROW_EARLY && op->kind == DW_OP_SCAN && !file->at_once)
		early_delete(file, op);
}

/* group: a commit takes what has gathered. */
static void group(struct file *file)
{
	dw_op *op;

	while ((op = op_queue_pop(&file->written)))
		write(file, op);
	plan_next(file);
	wake(file);
}

void file_work(struct file *file)
{
	if (file->sim->clocks.steady >= file->at)
		group(file);
}

static void refuse_all(struct file *file, dw_op *list)
{
	while (list) {
		dw_op *next = list->next;

		list->status = DW_ECLOSED;
		list->next = NULL;
		op_queue_push(&file->answered, list);
		list = next;
	}
}

static void file_submit(dw_store *store, dw_op *batch)
{
	struct file *file = file_of(store);

	if (file->instance->dead) { /* a dead process writes nothing */
		refuse_all(file, batch);
		return;
	}
	op_queue_append(&file->written, batch);
	if (file->at_once)
		group(file);
	else if (file->at == DW_NEVER)
		plan_next(file);
}

static dw_op *file_collect(dw_store *store)
{
	return op_queue_take(&file_of(store)->answered);
}

/* file_stop: of a process that was killed, some are on the disk, in their order. */
static int file_stop(dw_store *store, dw_usec patience)
{
	struct file *file = file_of(store);
	uint64_t kept =
	    file->instance->dead ? draw(file->sim, 1 + file->written.count) : UINT64_MAX;
	dw_op *op;

	(void)patience;
	while ((op = op_queue_pop(&file->written))) {
		if (kept > 0) {
			kept--;
			write(file, op);
		} else {
			trace(file->sim, "disk loses", op->id ? op->id : "", op->kind, 0);
			op->status = DW_ECLOSED;
			op->next = NULL;
			op_queue_push(&file->answered, op);
		}
	}
	file->at = DW_NEVER;
	return DW_OK;
}

static void file_close(dw_store *store)
{
	struct file *file = file_of(store);
	struct alloc alloc = memory_alloc(&file->sim->table_account);
	dw_op *op;

	while ((op = op_queue_pop(&file->answered)))
		op_free(&alloc, op);
}

static const dw_store_class file_class = {.size = sizeof file_class,
					  .name = "disk",
					  .submit = file_submit,
					  .collect = file_collect,
					  .stop = file_stop,
					  .free = file_close};

/* unasked: the table answers at once, and nobody has to be woken. */
static void unasked(void *user)
{
	(void)user;
}

void file_init(struct file *file, struct sim *sim, struct instance *instance)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct clock clock = clocks_port(sim);
	dw_store_env env = {.size = sizeof env,
			    .role = DW_OWNER,
			    .token = 1,
			    .now = clock.wall,
			    .now_user = clock.user,
			    .resize = alloc.resize,
			    .resize_user = alloc.user,
			    .wake = unasked,
			    .steady = clock.steady,
			    .steady_user = clock.user};

	*file =
	    (struct file){.store = {&file_class}, .sim = sim, .instance = instance, .at = DW_NEVER};
	file->fails = some(sim, 100);
	if (memory_store_open(&file->table, &env) != DW_OK)
		broken(sim, "sim", "the disk does not open");
}

void file_free(struct file *file)
{
	(void)file->table->type->stop(file->table, 0);
	file->table->type->free(file->table);
}

dw_store *file_open(struct file *file)
{
	file->at = DW_NEVER;
	file->at_once = true;
	return &file->store;
}

bool file_is_empty(struct file *file)
{
	struct alloc alloc = memory_alloc(&file->sim->table_account);
	dw_op *op = op_new(&alloc, DW_OP_SCAN, NULL, NULL, 0);
	bool empty;

	op->flags = DW_OP_BY_GENERATION;
	op->limit = 2;
	file->table->type->submit(file->table, op);
	op = file->table->type->collect(file->table);
	empty = op->row_count == 0 || (op->row_count == 1 && row_is_origin(op->rows));
	op_free(&alloc, op);
	return empty && !file->written.first;
}
