/* The store as a whole: status, roles, order, reopening, stop. */
#include "contract/contract.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

static void status_counts_what_is_there(void **state)
{
	struct contract *c = *state;
	dw_store_status status = contract_status(&c->owner);

	assert_int_equal(status.pending + status.claimed + status.dead + status.inbox, 0);
	assert_int_equal(status.next_due, DW_NEVER);
	if (!c->kind->served)
		assert_int_equal(status.owner_since, CONTRACT_START);
	contract_claim(c, "claimed");
	ask_put_one(&c->owner, "b", 900);
	ask_put_one(&c->owner, "c", 800);
	status = contract_status(&c->owner);
	assert_int_equal(status.pending, 2);
	assert_int_equal(status.claimed, 1);
	assert_int_equal(status.next_due, 800);
}

/* expect_due compares the counts of the spans between the times. The answer counts all timers. */
static void expect_due(struct ask *ask, const dw_usec *times, size_t count,
		       const uint64_t *expected)
{
	struct alloc alloc = alloc_default();
	dw_op *op = op_new(&alloc, DW_OP_DUE, NULL, times, count * sizeof *times);

	op = ask_done(ask, op);
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->after.due, times[count - 1]);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->body_size, (count - 1) * sizeof *expected);
	assert_memory_equal(op->rows->body, expected, op->rows->body_size);
	ask_free(op);
}

static void due_counts_each_span_from_its_time_to_before_the_next(void **state)
{
	static const dw_usec dues[] = {99, 100, 199, 200, 200, 450, 999, 1000, 5000};
	static const dw_usec times[] = {100, 200, 300, 400, 1000};
	static const dw_usec all[] = {INT64_MIN, 100, 1000, DW_NEVER};
	static const uint64_t none[] = {0, 0, 0, 0};
	struct contract *c = *state;
	char id[24];

	expect_due(&c->owner, times, 5, none);
	for (size_t i = 0; i < sizeof dues / sizeof *dues; i++) {
		(void)snprintf(id, sizeof id, "due-%zu", i);
		ask_put_one(&c->owner, id, dues[i]);
	}
	expect_due(&c->owner, times, 5, (const uint64_t[]){2, 2, 0, 2});
	expect_due(&c->client, all, 4, (const uint64_t[]){1, 6, 2});
	expect_due(&c->client, times + 3, 2, (const uint64_t[]){2});
	assert_int_equal(ask_status(&c->owner, ask_cancel("due-5", 0)), DW_OK);
	expect_due(&c->owner, times, 5, (const uint64_t[]){2, 2, 0, 1});
}

static void due_counts_to_the_end_of_time(void **state)
{
	static const dw_usec times[] = {1, DW_NEVER - 1};
	struct contract *c = *state;

	ask_put_one(&c->owner, "far", (dw_usec)1 << 52);
	ask_put_one(&c->owner, "near", 1);
	expect_due(&c->owner, times, 2, (const uint64_t[]){2});
}

static void status_repeats_the_owners_report(void **state)
{
	struct contract *c = *state;
	struct alloc alloc = alloc_default();
	dw_op *report = op_new(&alloc, DW_OP_REPORT, NULL, "{\"fired\":3}", 11);
	dw_op *op;

	c->now = CONTRACT_START + 77;
	assert_int_equal(ask_status(&c->owner, report), DW_OK);
	op = ask_done(&c->owner, ask_plain(DW_OP_STATUS));
	assert_string_equal(op->store_status->owner_report, "{\"fired\":3}");
	if (!c->kind->served)
		assert_int_equal(op->store_status->owner_seen, CONTRACT_START + 77);
	assert_true(strlen(op->store_status->owner) > 0);
	ask_free(op);
}

static void client_may_not_do_what_owners_do(void **state)
{
	static const dw_op_kind kinds[] = {DW_OP_CLAIM, DW_OP_SETTLE, DW_OP_RETRY,
					   DW_OP_BURY,  DW_OP_ACK,    DW_OP_INBOX};
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->client, "a", 500);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		assert_int_equal(ask_status(&c->client, ask_about(kinds[i], "a", generation, 0)),
				 DW_EROLE);
	assert_int_equal(ask_status(&c->client, ask_put("b", 1, DW_OP_CLAIMED)), DW_EROLE);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", DW_OP_WITHDRAWN)), DW_EROLE);
	assert_int_equal(ask_status(&c->client, ask_move("a", 1, 0, DW_OP_WITHDRAWN)), DW_EROLE);
	assert_int_equal(contract_status(&c->client).pending, 1);
}

static void purge_empties_the_store_and_keeps_counting(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "claimed");
	dw_op *op;

	ask_put_one(&c->owner, "b", 900);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "claimed", generation, 1)),
			 DW_OK);
	generation = contract_claim(c, "claimed");
	op = ask_done(&c->owner, ask_plain(DW_OP_PURGE));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 3);
	ask_free(op);
	op = ask_done(&c->owner, ask_plain(DW_OP_CHECK));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 0);
	assert_int_equal(op->row_count, 0);
	assert_int_equal(op->store_status->pending + op->store_status->claimed, 0);
	assert_int_equal(op->store_status->dead, 0);
	ask_free(op);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "claimed", generation, 1)),
			 DW_ENOENT);
	c->now = 1;
	assert_true(ask_put_one(&c->owner, "b", 900) > generation);
}

static void purge_forgets_the_inbox(void **state)
{
	struct contract *c = *state;

	ask_put_one(&c->client, "a", 600);
	assert_int_equal(contract_status(&c->owner).inbox, 1);
	assert_int_equal(ask_status(&c->client, ask_plain(DW_OP_PURGE)), DW_EROLE);
	assert_int_equal(contract_status(&c->owner).pending, 1);
	assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_PURGE)), DW_OK);
	assert_int_equal(contract_status(&c->owner).inbox, 0);
}

static void check_counts_and_finds_no_flaw(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "dead");
	dw_op *op;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "dead", generation, 1)),
			 DW_OK);
	(void)contract_claim(c, "claimed");
	ask_put_one(&c->owner, "b", 900);
	ask_put_one(&c->owner, "c", 900);
	op = ask_done(&c->owner, ask_plain(DW_OP_CHECK));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 0);
	assert_int_equal(op->row_count, 0);
	assert_int_equal(op->store_status->pending, 2);
	assert_int_equal(op->store_status->claimed, 1);
	assert_int_equal(op->store_status->dead, 1);
	ask_free(op);
}

static void batch_is_carried_out_in_its_order(void **state)
{
	struct contract *c = *state;
	dw_op *first = ask_put("a", 500, 0);
	dw_op *again = ask_put("a", 600, DW_OP_NEW);
	dw_op *cancel = ask_cancel("a", 0);
	dw_op *last = ask_put("a", 700, DW_OP_NEW);
	dw_op *answers;

	first->next = again;
	again->next = cancel;
	cancel->next = last;
	ask_send(&c->owner, first);
	answers = ask_await(&c->owner, last);
	assert_int_equal(first->status, DW_OK);
	assert_int_equal(again->status, DW_EEXIST);
	assert_int_equal(cancel->status, DW_OK);
	assert_int_equal(answers->status, DW_OK);
	ask_free(first);
	ask_free(again);
	ask_free(cancel);
	ask_free(last);
}

static void generations_survive_a_reopening(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);

	c->now = 1;
	contract_crash(c);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	assert_true(ask_put_one(&c->owner, "a", 500) > first);
}

static void stop_answers_everything_once(void **state)
{
	enum { COUNT = 3000 };
	struct contract *c = *state;
	dw_op *ops[COUNT];
	dw_op *inbox = ask_plain(DW_OP_INBOX);
	char id[16];

	ask_send(&c->owner, inbox);
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ops[i] = ask_put(id, i, 0);
		ask_send(&c->owner, ops[i]);
	}
	ask_end(&c->owner); /* checks that as many came back */
	assert_int_equal(inbox->status, DW_ECLOSED);
	for (int i = 0; i < COUNT; i++) {
		assert_true(ops[i]->status == DW_OK || ops[i]->status == DW_ECLOSED);
		ask_free(ops[i]);
	}
	ask_free(inbox);
}

static void stop_leaves_what_was_confirmed(void **state)
{
	enum { COUNT = 500 };
	struct contract *c = *state;
	dw_op *ops[COUNT];
	char id[16];
	dw_head head;

	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ops[i] = ask_put(id, i, 0);
		ask_send(&c->owner, ops[i]);
	}
	contract_crash(c);
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(ask_stored(&c->owner, id, &head),
				 ops[i]->status == DW_OK ? DW_OK : DW_ENOENT);
		ask_free(ops[i]);
	}
}

const struct contract_case contract_whole[] = {
    CONTRACT_CASE(status_counts_what_is_there, false),
    CONTRACT_CASE(due_counts_each_span_from_its_time_to_before_the_next, true),
    CONTRACT_CASE(due_counts_to_the_end_of_time, false),
    CONTRACT_CASE(status_repeats_the_owners_report, false),
    CONTRACT_CASE(client_may_not_do_what_owners_do, true),
    CONTRACT_CASE(purge_empties_the_store_and_keeps_counting, false),
    CONTRACT_CASE(purge_forgets_the_inbox, true),
    CONTRACT_CASE(check_counts_and_finds_no_flaw, false),
    CONTRACT_CASE(batch_is_carried_out_in_its_order, false),
    CONTRACT_CASE(generations_survive_a_reopening, true),
    CONTRACT_CASE(stop_answers_everything_once, false),
    CONTRACT_CASE(stop_leaves_what_was_confirmed, true),
    CONTRACT_CASE(contract_random, false),
    CONTRACT_CASES_END,
};
