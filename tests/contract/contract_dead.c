/* Dead letters: set aside, listed, made timers again, dropped. */
#include "contract/contract.h"

#include <stdio.h>

#include "support/cmocka.h"

static dw_op *about_dead(dw_op_kind kind, const char *id, uint64_t generation, dw_usec due)
{
	struct alloc alloc = alloc_default();
	dw_op *op = op_new(&alloc, kind, id, NULL, 0);

	assert_non_null(op);
	op->head.generation = generation;
	op->head.due = due;
	op->limit = 100;
	return op;
}

/* bury sets a new timer of id aside after one delivery and one retry; its generation. */
static uint64_t bury(struct contract *c, const char *id, dw_reason reason)
{
	uint64_t generation = contract_claim(c, id);
	dw_op *retry = ask_about(DW_OP_RETRY, id, generation, 1);
	dw_op *op = ask_about(DW_OP_BURY, id, generation, 1);

	retry->head.due = 500;
	retry->flags = DW_OP_VERDICT;
	assert_int_equal(ask_status(&c->owner, retry), DW_OK);
	op->reason = reason;
	assert_int_equal(ask_status(&c->owner, op), DW_OK);
	return generation;
}

static void dead_scan_shows_what_was_buried_in_that_order(void **state)
{
	struct contract *c = *state;
	uint64_t first;
	dw_op *op;

	first = bury(c, "z", DW_REASON_LATE);
	c->now += 7;
	(void)bury(c, "a", DW_REASON_CRASHED);
	op = ask_done(&c->owner, about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0));
	assert_int_equal(op->row_count, 2);
	assert_string_equal(op->rows->id, "z");
	assert_int_equal(op->rows->status, DW_OK);
	assert_int_equal(op->rows->head.generation, first);
	assert_int_equal(op->rows->head.due, 500);
	assert_int_equal(op->rows->head.attempt, 1);
	assert_int_equal(op->rows->head.retries, 1);
	assert_int_equal(op->rows->reason, DW_REASON_LATE);
	assert_int_equal(op->rows->at, CONTRACT_START);
	assert_true(op->rows->body_size > 0);
	assert_string_equal(op->rows->next->id, "a");
	assert_int_equal(op->rows->next->reason, DW_REASON_CRASHED);
	assert_int_equal(op->rows->next->at, CONTRACT_START + 7);
	ask_free(op);
}

static void dead_scan_of_an_id_shows_its_last_letter(void **state)
{
	struct contract *c = *state;
	uint64_t last;
	dw_op *op;

	(void)bury(c, "a", DW_REASON_LATE);
	(void)bury(c, "ab", DW_REASON_LATE);
	c->now += 7;
	last = bury(c, "a", DW_REASON_CRASHED);
	(void)bury(c, "b", DW_REASON_LATE);
	op = ask_done(&c->owner, about_dead(DW_OP_DEAD_SCAN, "a", 0, 0));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, 1);
	assert_string_equal(op->rows->id, "a");
	assert_int_equal(op->rows->status, DW_OK);
	assert_int_equal(op->rows->head.generation, last);
	assert_int_equal(op->rows->reason, DW_REASON_CRASHED);
	assert_int_equal(op->rows->at, CONTRACT_START + 7);
	ask_free(op);
	op = ask_done(&c->owner, about_dead(DW_OP_DEAD_SCAN, "abc", 0, 0));
	assert_int_equal(op->status, DW_ENOENT);
	assert_int_equal(op->row_count, 0);
	ask_free(op);
}

static void dead_scan_goes_by_pages_and_topics(void **state)
{
	static const char *const ids[] = {"c", "b", "a"};
	struct contract *c = *state;
	dw_cursor after = {0};
	dw_op *op;

	for (size_t i = 0; i < 3; i++)
		(void)bury(c, ids[i], DW_REASON_LATE);
	for (size_t i = 0; i < 4; i++) {
		op = about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0);
		op->after = after;
		op->limit = 1;
		op->topic = "topic";
		op = ask_done(&c->owner, op);
		assert_int_equal(op->row_count, i < 3);
		if (i < 3) {
			assert_string_equal(op->rows->id, ids[i]);
			after = (dw_cursor){.generation = op->rows->number, .started = 1};
		}
		ask_free(op);
	}
	op = about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0);
	op->topic = "another";
	op = ask_done(&c->owner, op);
	assert_int_equal(op->row_count, 0);
	ask_free(op);
}

/* A topic without letters among very many: a step looks at some of them, and the next goes on. */
static void dead_scan_of_a_topic_goes_by_steps(void **state)
{
	enum { LETTERS = 2 * DW_SCAN_LOOKS + 100 };
	struct contract *c = *state;
	dw_cursor after = {0};
	unsigned flags, steps = 0;
	char id[16];

	for (unsigned i = 0; i < LETTERS; i++) {
		(void)snprintf(id, sizeof id, "%u", i);
		(void)bury(c, id, DW_REASON_LATE);
	}
	do {
		dw_op *op = about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0);

		op->after = after;
		op->topic = "another";
		op = ask_done(&c->owner, op);
		assert_int_equal(op->status, DW_OK);
		assert_int_equal(op->row_count, 0);
		assert_in_range(op->after.looked - after.looked, 1, 2 * DW_SCAN_LOOKS);
		after = op->after;
		flags = op->flags;
		ask_free(op);
		steps++;
	} while (flags & DW_OP_PART);
	assert_in_range(steps, 2, 5);
	assert_in_range(after.looked, LETTERS, LETTERS + 1000);
}

static void requeue_makes_the_next_generation_of_it(void **state)
{
	struct contract *c = *state;
	uint64_t dead = bury(c, "a", DW_REASON_RETRIES);
	dw_op *op = ask_done(&c->owner, about_dead(DW_OP_REQUEUE, "a", 0, 900));
	dw_head head;

	assert_int_equal(op->status, DW_OK);
	assert_true(op->head.generation > dead);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.generation, op->head.generation);
	assert_true(op->rows->body_size > 0);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.generation, op->head.generation);
	assert_int_equal(head.due, 900);
	assert_int_equal(head.state, DW_PENDING);
	assert_int_equal(head.attempt, 1); /* goes on counting */
	assert_int_equal(head.retries, 0);
	assert_int_equal(contract_status(&c->owner).dead, 0);
	assert_int_equal(contract_status(&c->owner).pending, 1);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 1)),
			 DW_OK);
	ask_free(op);
}

static void requeue_replaces_nothing_and_needs_a_letter(void **state)
{
	struct contract *c = *state;
	uint64_t dead = bury(c, "a", DW_REASON_RETRIES);
	uint64_t taken = ask_put_one(&c->owner, "a", 700);
	dw_head head;

	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_REQUEUE, "a", dead, 900)),
			 DW_EEXIST);
	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_REQUEUE, "a", dead + 1, 900)),
			 DW_ENOENT);
	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_REQUEUE, "b", 0, 900)), DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.generation, taken);
	assert_int_equal(contract_status(&c->owner).dead, 1);
}

static void dead_letters_of_one_id_are_told_by_their_generation(void **state)
{
	struct contract *c = *state;
	uint64_t first = bury(c, "a", DW_REASON_RETRIES);
	uint64_t second = bury(c, "a", DW_REASON_LATE);
	dw_op *op;

	assert_int_equal(contract_status(&c->owner).dead, 2);
	op = ask_done(&c->owner, about_dead(DW_OP_REQUEUE, "a", 0, 900));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
	op = ask_done(&c->owner, about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0));
	assert_int_equal(op->row_count, 1); /* the last one was taken */
	assert_int_equal(op->rows->head.generation, first);
	ask_free(op);
	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_DROP, "a", second, 0)), DW_ENOENT);
	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_DROP, "a", first, 0)), DW_OK);
}

static void drop_forgets_one_id_or_all(void **state)
{
	struct contract *c = *state;
	dw_op *op;

	(void)bury(c, "a", DW_REASON_RETRIES);
	(void)bury(c, "b", DW_REASON_RETRIES);
	(void)bury(c, "a", DW_REASON_RETRIES);
	(void)bury(c, "c", DW_REASON_RETRIES);
	op = ask_done(&c->owner, about_dead(DW_OP_DROP, "a", 0, 0));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 2);
	ask_free(op);
	assert_int_equal(contract_status(&c->owner).dead, 2);
	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_DROP, "a", 0, 0)), DW_ENOENT);
	op = ask_done(&c->owner, about_dead(DW_OP_DROP, NULL, 0, 0));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 2);
	ask_free(op);
	assert_int_equal(contract_status(&c->owner).dead, 0);
	assert_int_equal(ask_status(&c->owner, about_dead(DW_OP_DROP, NULL, 0, 0)), DW_OK);
}

static void old_dead_letters_go_with_a_burial_or_a_report(void **state)
{
	struct contract *c = *state;
	dw_op *op;

	(void)bury(c, "a", DW_REASON_RETRIES);
	c->now += DW_DAYS(DW_DEAD_DAYS);
	(void)bury(c, "b", DW_REASON_RETRIES);
	assert_int_equal(contract_status(&c->owner).dead, 2);
	c->now += 1;
	op = ask_done(&c->owner, ask_plain(DW_OP_REPORT));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 1);
	ask_free(op);
	assert_int_equal(contract_status(&c->owner).dead, 1);
	c->now += DW_DAYS(DW_DEAD_DAYS);
	(void)bury(c, "c", DW_REASON_RETRIES);
	if (c->kind->served) /* a burial looks at its own shard only */
		assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_REPORT)), DW_OK);
	op = ask_done(&c->owner, about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0));
	assert_int_equal(op->row_count, 1);
	assert_string_equal(op->rows->id, "c");
	ask_free(op);
}

static void client_lists_requeues_and_drops(void **state)
{
	struct contract *c = *state;
	dw_op *inbox = ask_plain(DW_OP_INBOX);
	dw_op *op;

	(void)bury(c, "a", DW_REASON_RETRIES);
	(void)bury(c, "b", DW_REASON_RETRIES);
	ask_send(&c->owner, inbox);
	op = ask_done(&c->client, about_dead(DW_OP_DEAD_SCAN, NULL, 0, 0));
	assert_int_equal(op->row_count, 2);
	ask_free(op);
	op = ask_done(&c->client, about_dead(DW_OP_REQUEUE, "a", 0, 900));
	assert_int_equal(op->status, DW_OK);
	inbox = ask_await(&c->owner, inbox);
	assert_int_equal(inbox->row_count, 1);
	assert_string_equal(inbox->rows->id, "a");
	assert_int_equal(inbox->rows->head.generation, op->head.generation);
	assert_int_equal(inbox->rows->head.due, 900);
	ask_free(op);
	ask_free(inbox);
	assert_int_equal(ask_status(&c->client, about_dead(DW_OP_DROP, NULL, 0, 0)), DW_OK);
	assert_int_equal(contract_status(&c->client).dead, 0);
}

const struct contract_case contract_dead[] = {
    CONTRACT_CASE(dead_scan_shows_what_was_buried_in_that_order, false),
    CONTRACT_CASE(dead_scan_of_an_id_shows_its_last_letter, false),
    CONTRACT_CASE(dead_scan_goes_by_pages_and_topics, false),
    CONTRACT_CASE(dead_scan_of_a_topic_goes_by_steps, false),
    CONTRACT_CASE(requeue_makes_the_next_generation_of_it, false),
    CONTRACT_CASE(requeue_replaces_nothing_and_needs_a_letter, false),
    CONTRACT_CASE(dead_letters_of_one_id_are_told_by_their_generation, false),
    CONTRACT_CASE(drop_forgets_one_id_or_all, false),
    CONTRACT_CASE(old_dead_letters_go_with_a_burial_or_a_report, false),
    CONTRACT_CASE(client_lists_requeues_and_drops, true),
    CONTRACT_CASES_END,
};
