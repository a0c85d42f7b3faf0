/* The store of one party. A crash loses operations that were not carried out, and answers that
 * were not delivered. */
#include "sim/queues/queues.h"

#include <string.h>

static struct desk *desk_of(dw_store *store)
{
	return (struct desk *)store;
}

static dw_usec delay(const struct desk *desk)
{
	struct sim *sim = desk->party->all->sim;

	return 20 + (dw_usec)draw(sim, chance(sim, sim->knobs.slow) ? 1500000 : 800);
}

static void start(struct desk *desk)
{
	if (desk->apply_at == DW_NEVER && desk->submitted.first)
		desk->apply_at = desk->party->all->sim->clocks.steady + delay(desk);
	if (desk->answer_at == DW_NEVER && desk->coming.first)
		desk->answer_at = desk->party->all->sim->clocks.steady + delay(desk);
}

/* ---- Carrying out -------------------------------------------------------------------------- */

static void tell_others(struct party *party)
{
	for (uint32_t i = 0; i < PARTIES; i++)
		if (&party->all->parties[i] != party)
			desk_news(party->all->parties[i].desk);
}

/* apply applies an operation. It returns false if the operation is an INBOX without news, which is
 * not answered yet. */
static bool apply(struct desk *desk, dw_op *op)
{
	struct party *party = desk->party;
	struct table_caller caller = {
	    .token = party->token, .role = party->role, .now = clocks_wall(party->all->sim)};
	dw_op wanted = *op;

	if (op->kind == DW_OP_OWN) {
		op->status = DW_OK;
		return true;
	}
	if (!queue_bugs_apply(party->all, op, &caller))
		return false;
	op->level = DW_STORED;
	judge_applied(party->all, op, &wanted, &caller);
	return true;
}

/* forget takes the results out of an answer that nobody hears. */
static void forget(struct desk *desk, dw_op *op, const dw_head *head)
{
	struct alloc alloc = memory_alloc(&desk->party->all->sim->table_account);

	rows_free(&alloc, op->rows);
	alloc_free(&alloc, op->store_status);
	op->rows = NULL;
	op->row_count = 0;
	op->store_status = NULL;
	op->count = 0;
	op->head = *head;
	op->status = DW_EUNKNOWN;
}

static void carry_out(struct desk *desk, dw_op *op)
{
	struct queues *all = desk->party->all;
	struct sim *sim = all->sim;
	bool unknown = chance(sim, all->unknown);
	dw_head head = op->head;

	if (op->kind != DW_OP_INBOX && chance(sim, sim->knobs.fail)) {
		op->status = DW_ESTORE;
	} else if (unknown && op->kind != DW_OP_INBOX && chance(sim, 5000)) {
		op->status = DW_EUNKNOWN;
	} else if (!apply(desk, op)) {
		if (!desk->parked) {
			desk->parked = op;
			return;
		}
		op->status = DW_EBUSY;
	} else if (unknown && op->kind != DW_OP_INBOX) {
		forget(desk, op, &head);
	}
	op_queue_push(&desk->coming, op);
}

void desk_news(struct desk *desk)
{
	dw_op *op = desk ? desk->parked : NULL;

	if (!op || !apply(desk, op))
		return;
	desk->parked = NULL;
	op_queue_push(&desk->coming, op);
	start(desk);
}

/* ---- Time ---------------------------------------------------------------------------------- */

dw_usec desk_next(const struct desk *desk)
{
	return usec_min(desk->apply_at, desk->answer_at);
}

void desk_work(struct desk *desk)
{
	struct sim *sim = desk->party->all->sim;
	dw_usec now = sim->clocks.steady;

	if (desk->answer_at <= now) {
		desk->answer_at = DW_NEVER;
		op_queue_append(&desk->answers, op_queue_take(&desk->coming));
		instance_wake(desk->party->instance);
	} else if (desk->apply_at <= now) {
		size_t count = 1 + (size_t)draw(sim, desk->submitted.count);

		desk->apply_at = DW_NEVER;
		while (count-- > 0)
			carry_out(desk, op_queue_pop(&desk->submitted));
		tell_others(desk->party);
	}
	start(desk);
}

/* ---- The engine's side --------------------------------------------------------------------- */

static void free_list(struct desk *desk, dw_op *op)
{
	struct alloc alloc = memory_alloc(&desk->party->instance->account);
	struct alloc of_table = memory_alloc(&desk->party->all->sim->table_account);

	while (op) {
		dw_op *next = op->next;

		rows_free(&of_table, op->rows);
		alloc_free(&of_table, op->store_status);
		op->rows = NULL;
		op->store_status = NULL;
		op_free(&alloc, op);
		op = next;
	}
}

static void desk_submit(dw_store *store, dw_op *batch)
{
	struct desk *desk = desk_of(store);

	if (desk->party->instance->dead) {
		free_list(desk, batch);
		return;
	}
	op_queue_append(&desk->submitted, batch);
	start(desk);
}

static dw_op *desk_collect(dw_store *store)
{
	return op_queue_take(&desk_of(store)->answers);
}

static int desk_stop(dw_store *store, dw_usec patience)
{
	struct desk *desk = desk_of(store);
	dw_op *op;

	(void)patience;
	op_queue_append(&desk->answers, op_queue_take(&desk->coming));
	if (desk->parked)
		op_queue_push(&desk->submitted, desk->parked);
	desk->parked = NULL;
	while ((op = op_queue_pop(&desk->submitted))) {
		op->status = DW_ECLOSED;
		op_queue_push(&desk->answers, op);
	}
	desk->apply_at = desk->answer_at = DW_NEVER;
	return DW_OK;
}

void desk_free(struct desk *desk)
{
	struct alloc alloc = memory_alloc(&desk->party->all->sim->table_account);

	free_list(desk, op_queue_take(&desk->submitted));
	free_list(desk, op_queue_take(&desk->coming));
	free_list(desk, op_queue_take(&desk->answers));
	free_list(desk, desk->parked);
	alloc_free(&alloc, desk);
}

static void desk_free_store(dw_store *store)
{
	desk_free(desk_of(store));
}

struct desk *desk_open(struct party *party)
{
	struct sim *sim = party->all->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct desk *desk = alloc_new(&alloc, sizeof *desk);

	desk->type = (dw_store_class){.size = sizeof desk->type,
				      .name = "simulated",
				      .submit = desk_submit,
				      .collect = desk_collect,
				      .stop = desk_stop,
				      .free = desk_free_store,
				      .keeps_topics = 1,
				      .look_every = DW_MILLISECONDS(20)};
	desk->store.type = &desk->type;
	desk->party = party;
	desk->apply_at = desk->answer_at = DW_NEVER;
	return desk;
}
