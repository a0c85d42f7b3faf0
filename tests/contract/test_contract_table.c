/* The contract on a bare table with several openings, as a simulation uses it. */
#include "contract/contract.h"

#include <stdlib.h>

#include "store/memory/table.h"
#include "support/cmocka.h"

struct place {
	struct timer_table *table;
	struct opening *openings;
};

struct opening {
	dw_store store;
	dw_store_env env;
	struct place *place;
	struct opening *next;
	struct op_queue answers;
	dw_op *parked;
};

static void *make_place(void)
{
	struct alloc alloc = alloc_default();
	struct place *place = calloc(1, sizeof *place);

	assert_non_null(place);
	place->table = table_new(&alloc);
	assert_non_null(place->table);
	return place;
}

static void free_place(void *place)
{
	table_free(((struct place *)place)->table);
	free(place);
}

static bool try_op(struct opening *opening, dw_op *op)
{
	struct table_caller caller = {.token = opening->env.token,
				      .role = opening->env.role,
				      .now = opening->env.now(opening->env.now_user)};

	op->level = DW_STORED;
	if (!table_apply(opening->place->table, op, &caller))
		return false;
	op_queue_push(&opening->answers, op);
	return true;
}

static void submit(dw_store *store, dw_op *batch)
{
	struct opening *self = (struct opening *)store;

	while (batch) {
		dw_op *next = batch->next;

		if (!try_op(self, batch))
			self->parked = batch;
		batch = next;
	}
	table_check(self->place->table);
	for (struct opening *each = self->place->openings; each; each = each->next)
		if (each->parked && try_op(each, each->parked)) {
			each->parked = NULL;
			each->env.wake(each->env.wake_user);
		}
}

static dw_op *collect(dw_store *store)
{
	return op_queue_take(&((struct opening *)store)->answers);
}

static int stop(dw_store *store, dw_usec patience)
{
	struct opening *self = (struct opening *)store;

	(void)patience;
	if (self->parked) {
		self->parked->status = DW_ECLOSED;
		op_queue_push(&self->answers, self->parked);
		self->parked = NULL;
	}
	return DW_OK;
}

static void free_store(dw_store *store)
{
	struct opening *self = (struct opening *)store;
	struct opening **at = &self->place->openings;

	while (*at != self)
		at = &(*at)->next;
	*at = self->next;
	free(self);
}

static const dw_store_class opening_class = {.size = sizeof opening_class,
					     .name = "table",
					     .submit = submit,
					     .collect = collect,
					     .stop = stop,
					     .free = free_store,
					     .loads_by_generation = 1};

static int open_store(void *place, const dw_store_env *env, dw_store **ret_store)
{
	struct opening *self = calloc(1, sizeof *self);

	assert_non_null(self);
	self->store.type = &opening_class;
	self->env = *env;
	self->place = place;
	self->next = self->place->openings;
	self->place->openings = self;
	if (env->role == DW_OWNER)
		assert_int_equal(table_own(self->place->table, "a test", env->now(env->now_user)),
				 DW_OK);
	*ret_store = &self->store;
	return DW_OK;
}

int main(void)
{
	static const struct contract_kind kind = {.name = "table",
						  .shared = true,
						  .make_place = make_place,
						  .free_place = free_place,
						  .open = open_store};

	return contract_run(&kind);
}
