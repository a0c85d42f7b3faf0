/* Every kind of operation, submitted together with others of its kind: two, and more than a store
 * takes at once. All ids belong together, so that a store with shards has them in one. */
#include "contract/contract.h"

#include <stdio.h>

#include "support/cmocka.h"

enum { BATCH = 300, ID_SIZE = 32 };

struct batch {
	struct contract *c;
	size_t count;
	char ids[BATCH][ID_SIZE];
	dw_head heads[BATCH]; /* as last answered */
};

static void batch_init(struct batch *batch, struct contract *c, size_t count)
{
	*batch = (struct batch){.c = c, .count = count};
	for (size_t i = 0; i < count; i++)
		(void)snprintf(batch->ids[i], ID_SIZE, "{one}%03zu", i);
}

static dw_op *make(const struct batch *batch, dw_op_kind kind, size_t i)
{
	const dw_head *head = &batch->heads[i];
	const char *id = batch->ids[i];
	dw_op *op;

	switch (kind) {
	case DW_OP_PUT:
		return ask_put(id, 500, 0);
	case DW_OP_MOVE:
		return ask_move(id, 700, head->generation, 0);
	case DW_OP_CANCEL:
		return ask_cancel(id, 0);
	case DW_OP_GET:
		return ask_get(id);
	default:
		op = ask_about(kind, id, head->generation, head->attempt);
		op->head.due = 600;
		return op;
	}
}

/* together submits one operation of the kind for each id as one batch; each is answered so. */
static void together(struct batch *batch, struct ask *ask, dw_op_kind kind, int status)
{
	dw_op *ops[BATCH];

	for (size_t i = 0; i < batch->count; i++) {
		ops[i] = make(batch, kind, i);
		if (i > 0)
			ops[i - 1]->next = ops[i];
	}
	ask_send(ask, ops[0]);
	for (size_t i = 0; i < batch->count; i++) {
		const dw_op *op = ask_await(ask, ops[i]);

		if (op->status != status)
			fail_msg("kind %d, operation %zu of %zu: %d", (int)kind, i, batch->count,
				 op->status);
		if (kind == DW_OP_DROP && status == DW_OK)
			assert_int_equal(op->count, 1);
		if (kind == DW_OP_GET && status == DW_OK)
			batch->heads[i] = op->rows->head;
		else if (kind != DW_OP_DROP && kind != DW_OP_BURY)
			batch->heads[i] = op->head;
		ask_free(ops[i]);
	}
}

static void expect(const struct batch *batch, uint64_t pending, uint64_t claimed, uint64_t dead)
{
	dw_store_status status = contract_status(&batch->c->owner);

	assert_int_equal(status.pending, pending);
	assert_int_equal(status.claimed, claimed);
	assert_int_equal(status.dead, dead);
}

static void deliver(struct batch *batch)
{
	struct ask *owner = &batch->c->owner;

	together(batch, owner, DW_OP_PUT, DW_OK);
	together(batch, owner, DW_OP_CLAIM, DW_OK);
	expect(batch, 0, batch->count, 0);
	together(batch, owner, DW_OP_RETRY, DW_OK);
	together(batch, owner, DW_OP_GET, DW_OK);
	expect(batch, batch->count, 0, 0);
	together(batch, owner, DW_OP_CLAIM, DW_OK);
	together(batch, owner, DW_OP_SETTLE, DW_OK);
	together(batch, owner, DW_OP_SETTLE, DW_ENOENT);
	expect(batch, 0, 0, 0);
}

static void set_aside(struct batch *batch)
{
	struct ask *owner = &batch->c->owner;

	together(batch, owner, DW_OP_PUT, DW_OK);
	together(batch, owner, DW_OP_BURY, DW_OK);
	together(batch, owner, DW_OP_REQUEUE, DW_OK);
	together(batch, owner, DW_OP_GET, DW_OK);
	expect(batch, batch->count, 0, 0);
	together(batch, owner, DW_OP_BURY, DW_OK);
	expect(batch, 0, 0, batch->count);
	together(batch, owner, DW_OP_DROP, DW_OK);
	together(batch, owner, DW_OP_DROP, DW_ENOENT);
	expect(batch, 0, 0, 0);
}

static void change(struct batch *batch, struct ask *ask)
{
	together(batch, ask, DW_OP_PUT, DW_OK);
	together(batch, ask, DW_OP_MOVE, DW_OK);
	together(batch, ask, DW_OP_GET, DW_OK);
	for (size_t i = 0; i < batch->count; i++)
		assert_int_equal(batch->heads[i].due, 700);
	expect(batch, batch->count, 0, 0);
	together(batch, ask, DW_OP_CANCEL, DW_OK);
	together(batch, ask, DW_OP_CANCEL, DW_ENOENT);
	expect(batch, 0, 0, 0);
}

static void every_kind_is_done_in_batches(void **state)
{
	struct batch batch;

	for (size_t count = 2; count <= BATCH; count += BATCH - 2) {
		batch_init(&batch, *state, count);
		deliver(&batch);
		set_aside(&batch);
		change(&batch, &batch.c->owner);
	}
}

static void every_kind_of_a_client_is_done_in_batches(void **state)
{
	struct batch batch;

	for (size_t count = 2; count <= BATCH; count += BATCH - 2) {
		batch_init(&batch, *state, count);
		change(&batch, &batch.c->client);
		together(&batch, &batch.c->owner, DW_OP_PUT, DW_OK);
		assert_int_equal(contract_status(&batch.c->owner).inbox, count);
		together(&batch, &batch.c->owner, DW_OP_ACK, DW_OK);
		assert_int_equal(contract_status(&batch.c->owner).inbox, 0);
		together(&batch, &batch.c->owner, DW_OP_BURY, DW_OK);
		together(&batch, &batch.c->client, DW_OP_REQUEUE, DW_OK);
		together(&batch, &batch.c->owner, DW_OP_GET, DW_OK);
		together(&batch, &batch.c->owner, DW_OP_BURY, DW_OK);
		together(&batch, &batch.c->client, DW_OP_DROP, DW_OK);
		expect(&batch, 0, 0, 0);
	}
}

/* What is asked of one id twice in a batch is done one after the other. */
static void drops_of_one_id_are_done_in_their_order(void **state)
{
	struct contract *c = *state;
	uint64_t generations[3];
	dw_op *ops[3];

	for (size_t i = 0; i < 3; i++) {
		generations[i] = contract_claim(c, i < 2 ? "{one}a" : "{one}ab");
		assert_int_equal(
		    ask_status(&c->owner, ask_about(DW_OP_BURY, i < 2 ? "{one}a" : "{one}ab",
						    generations[i], 1)),
		    DW_OK);
	}
	ops[0] = ask_about(DW_OP_DROP, "{one}a", generations[1], 0);
	ops[1] = ask_about(DW_OP_DROP, "{one}a", 0, 0);
	ops[2] = ask_about(DW_OP_DROP, "{one}a", 0, 0);
	ops[0]->next = ops[1];
	ops[1]->next = ops[2];
	ask_send(&c->owner, ops[0]);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(ask_await(&c->owner, ops[i])->status, i < 2 ? DW_OK : DW_ENOENT);
		assert_int_equal(ops[i]->count, i < 2);
		ask_free(ops[i]);
	}
	assert_int_equal(contract_status(&c->owner).dead, 1);
}

/* acknowledge reads one page of the inbox and acknowledges it: so many rows. */
static size_t acknowledge(struct ask *owner)
{
	dw_op *op = ask_done(owner, ask_plain(DW_OP_INBOX));
	size_t count = op->row_count;

	assert_int_equal(op->status, DW_OK);
	for (const dw_row *row = op->rows; row; row = row->next)
		assert_int_equal(
		    ask_status(owner, ask_about(DW_OP_ACK, row->id, row->head.generation, 0)),
		    DW_OK);
	ask_free(op);
	return count;
}

/* No other client writes, which would be one more reason to read. */
static void inbox_of_three_pages_is_read_to_its_end(void **state)
{
	struct batch batch;
	size_t count = 0;

	batch_init(&batch, *state, BATCH);
	together(&batch, &batch.c->client, DW_OP_PUT, DW_OK);
	while (count < BATCH)
		count += acknowledge(&batch.c->owner);
	assert_int_equal(contract_status(&batch.c->owner).inbox, 0);
}

/* More than a store with shards reads of one at a time. */
static void scan_of_a_crowd_gives_all_of_it(void **state)
{
	struct contract *c = *state;
	struct batch batch;
	dw_op *op;

	batch_init(&batch, c, BATCH);
	for (char round = 'a'; round < 'e'; round++) {
		for (size_t i = 0; i < BATCH; i++)
			(void)snprintf(batch.ids[i], ID_SIZE, "{one}%03zu%c", i, round);
		together(&batch, &c->owner, DW_OP_PUT, DW_OK);
	}
	op = ask_done(&c->owner, ask_scan(NULL, 5 * BATCH, NULL));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, 4 * BATCH);
	ask_free(op);
}

const struct contract_case contract_batches[] = {
    CONTRACT_CASE(inbox_of_three_pages_is_read_to_its_end, true),
    CONTRACT_CASE(scan_of_a_crowd_gives_all_of_it, false),
    CONTRACT_CASE(every_kind_is_done_in_batches, false),
    CONTRACT_CASE(every_kind_of_a_client_is_done_in_batches, true),
    CONTRACT_CASE(drops_of_one_id_are_done_in_their_order, false),
    CONTRACT_CASES_END,
};
