/* The memory store: a table in this process. submit() does every operation at once, and the answer
 * waits to be collected. Nothing survives the process. Only one thread uses the store, as with the
 * engine. */
#include "store/store.h"

#include "base/alloc.h"
#include "port/op.h"
#include "store/memory/table.h"

struct memory_store {
	dw_store store; /* must be the first field: the engine's view of the store */
	dw_store_env env;
	struct alloc alloc;
	struct timer_table *table;
	struct op_queue answers;
	dw_op *parked; /* the INBOX operation that waits for news */
	bool stopped;
};

static struct memory_store *memory_of(dw_store *store)
{
	return (struct memory_store *)store;
}

static void answer(struct memory_store *memory, dw_op *op, int status)
{
	op->status = status;
	op_queue_push(&memory->answers, op);
}

static void take_op(struct memory_store *memory, dw_op *op)
{
	struct table_caller caller = {.token = memory->env.token,
				      .role = memory->env.role,
				      .now = memory->env.now(memory->env.now_user)};

	op->level = DW_ACCEPTED;
	if (memory->stopped)
		answer(memory, op, DW_ECLOSED);
	else if (op->kind == DW_OP_INBOX && memory->parked)
		answer(memory, op, DW_EBUSY); /* there is only one INBOX at a time */
	else if (table_apply(memory->table, op, &caller))
		op_queue_push(&memory->answers, op);
	else
		memory->parked = op;
}

static void memory_submit(dw_store *store, dw_op *batch)
{
	struct memory_store *memory = memory_of(store);
	size_t answered = memory->answers.count;

	while (batch) {
		dw_op *next = batch->next;

		batch->next = NULL;
		take_op(memory, batch);
		batch = next;
	}
	if (memory->answers.count > answered)
		memory->env.wake(memory->env.wake_user);
}

static dw_op *memory_collect(dw_store *store)
{
	return op_queue_take(&memory_of(store)->answers);
}

static int memory_stop(dw_store *store, dw_usec patience)
{
	struct memory_store *memory = memory_of(store);

	(void)patience; /* no operation is ever under way, so nothing is waited for */
	memory->stopped = true;
	if (memory->parked) {
		answer(memory, memory->parked, DW_ECLOSED);
		memory->parked = NULL;
		memory->env.wake(memory->env.wake_user);
	}
	return DW_OK;
}

static void memory_free(dw_store *store)
{
	struct memory_store *memory = memory_of(store);
	struct alloc alloc = memory->alloc;
	dw_op *op;

	while ((op = op_queue_pop(&memory->answers)))
		op_free(&alloc, op);
	op_free(&alloc, memory->parked);
	table_free(memory->table);
	alloc_free(&alloc, memory);
}

static const dw_store_class memory_class = {.size = sizeof memory_class,
					    .name = "memory",
					    .submit = memory_submit,
					    .collect = memory_collect,
					    .stop = memory_stop,
					    .free = memory_free,
					    .keeps_topics = 1};

int memory_store_open(dw_store **ret_store, const dw_store_env *env)
{
	struct alloc alloc = {.resize = env->resize, .user = env->resize_user};
	struct memory_store *memory = alloc_new(&alloc, sizeof *memory);

	if (!memory)
		return DW_ENOMEM;
	memory->store.type = &memory_class;
	memory->env = *env;
	memory->alloc = alloc;
	memory->table = table_new(&alloc);
	if (!memory->table)
		goto no_memory;
	if (env->role == DW_OWNER &&
	    table_own(memory->table, "this process", env->now(env->now_user)) != DW_OK)
		goto no_memory;
	*ret_store = &memory->store;
	return DW_OK;

no_memory:
	table_free(memory->table);
	alloc_free(&alloc, memory);
	return DW_ENOMEM;
}
