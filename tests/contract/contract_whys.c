/* The text of dw_set_why(): stored with a retry or a burial, shown by every answer with the timer,
 * and gone with its count of retries. */
#include "contract/contract.h"

#include <string.h>

#include "support/cmocka.h"
#include "support/environment.h"

/* about: a RETRY or a BURY of an attempt that says a text, or nothing. */
static dw_op *about(dw_op_kind kind, const char *id, uint64_t generation, uint32_t attempt,
		    const char *why)
{
	struct alloc alloc = alloc_default();
	dw_op *op = op_new(&alloc, kind, id, why, strlen(why));

	assert_non_null(op);
	op->head.generation = generation;
	op->head.attempt = attempt;
	op->head.due = 500;
	return op;
}

static void retry(struct contract *c, const char *id, uint64_t generation, uint32_t attempt,
		  const char *why)
{
	dw_op *op = about(DW_OP_RETRY, id, generation, attempt, why);

	op->flags = DW_OP_VERDICT;
	assert_int_equal(ask_status(&c->owner, op), DW_OK);
}

static void claim(struct contract *c, const char *id, uint64_t generation, uint32_t attempt)
{
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, id, generation, attempt)),
			 DW_OK);
}

/* failed puts a timer whose first attempt has failed; its generation. */
static uint64_t failed(struct contract *c, const char *id, const char *why)
{
	uint64_t generation = contract_claim(c, id);

	retry(c, id, generation, 1, why);
	return generation;
}

static void expect_why(const dw_row *row, const char *why)
{
	assert_non_null(row);
	assert_int_equal(row->status, DW_OK);
	if (*why) {
		assert_non_null(row->why);
		assert_string_equal(row->why, why);
	} else {
		assert_null(row->why);
	}
}

/* expect checks what GET and both scans show of the only timer, and that its data is whole. */
static void expect(struct contract *c, const char *why)
{
	dw_op *op = ask_done(&c->owner, ask_get("a"));
	size_t body_size = op->rows ? op->rows->body_size : 0;

	expect_why(op->rows, why);
	ask_free(op);
	for (unsigned flags = 0; flags <= DW_OP_BY_GENERATION; flags += DW_OP_BY_GENERATION) {
		op = ask_scan(NULL, 10, NULL);
		op->flags = flags;
		op = ask_done(&c->owner, op);
		assert_int_equal(op->row_count, 1);
		expect_why(op->rows, why);
		assert_int_equal(op->rows->body_size, body_size);
		ask_free(op);
	}
}

/* expect_letter checks the only dead letter. */
static void expect_letter(struct contract *c, const char *why)
{
	dw_op *op = ask_done(&c->owner, ask_plain(DW_OP_DEAD_SCAN));

	assert_int_equal(op->row_count, 1);
	expect_why(op->rows, why);
	ask_free(op);
}

static void why_of_a_retry_is_shown_until_the_next_verdict(void **state)
{
	struct contract *c = *state;
	uint64_t generation = failed(c, "a", "the mail server is away");

	expect(c, "the mail server is away");
	claim(c, "a", generation, 1);
	expect(c, "the mail server is away");
	retry(c, "a", generation, 2, "\xc3\xa9");
	expect(c, "\xc3\xa9");
	claim(c, "a", generation, 2);
	retry(c, "a", generation, 3, "");
	expect(c, "");
}

static void why_stays_with_a_retry_that_does_not_count(void **state)
{
	struct contract *c = *state;
	uint64_t generation = failed(c, "a", "x");

	claim(c, "a", generation, 1);
	assert_int_equal(ask_status(&c->owner, about(DW_OP_RETRY, "a", generation, 2, "no")),
			 DW_OK);
	expect(c, "x");
}

static void why_of_a_repeated_retry_is_the_first_one(void **state)
{
	struct contract *c = *state;
	uint64_t generation = failed(c, "a", "x");

	retry(c, "a", generation, 1, "again");
	expect(c, "x");
}

static void why_has_every_length_up_to_its_limit(void **state)
{
	struct contract *c = *state;
	char why[DW_WHY_MAX + 1] = "";
	uint64_t generation = contract_claim(c, "a");
	uint32_t attempt = 1, step = (uint32_t)environment_step(100);

	for (uint32_t size = 1 + (DW_WHY_MAX - 1) % step; size <= DW_WHY_MAX; size += step) {
		memset(why, 'a' + (int)(size % 26), size);
		retry(c, "a", generation, attempt, why);
		if (size % 16 == 0 || size == DW_WHY_MAX)
			expect(c, why);
		claim(c, "a", generation, attempt++);
	}
	expect(c, why);
}

static void why_goes_when_the_retries_are_counted_afresh(void **state)
{
	struct contract *c = *state;
	uint64_t generation = failed(c, "a", "x");
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_move("a", 700, generation, 0), &head), DW_OK);
	expect(c, "");
	(void)failed(c, "a", "y");
	assert_int_equal(ask_status(&c->owner, ask_put("a", 700, 0)), DW_OK);
	expect(c, "");
	generation = failed(c, "a", "z");
	claim(c, "a", generation, 1);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 2)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_put("a", 700, 0)), DW_OK);
	expect(c, "");
}

static void why_is_a_part_of_what_a_move_shows(void **state)
{
	struct contract *c = *state;
	dw_op *op;

	(void)failed(c, "a", "x");
	op = ask_done(&c->owner, ask_move("a", 700, 0, 0));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, 1);
	assert_true(op->rows->body_size > 0);
	ask_free(op);
	expect(c, "");
}

static void why_of_a_burial_is_that_of_its_verdict(void **state)
{
	static const struct {
		dw_reason reason;
		const char *said, *shown;
	} cases[] = {{DW_REASON_RETRIES, "last", "last"}, {DW_REASON_GAVE_UP, "last", "last"},
		     {DW_REASON_RETRIES, "", ""},         {DW_REASON_GAVE_UP, "", ""},
		     {DW_REASON_LATE, "no", "first"},     {DW_REASON_CRASHED, "no", "first"},
		     {DW_REASON_CORRUPT, "", "first"}};
	struct contract *c = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t generation = failed(c, "a", "first");
		dw_op *bury = about(DW_OP_BURY, "a", generation, 2, cases[i].said);

		claim(c, "a", generation, 1);
		bury->reason = cases[i].reason;
		assert_int_equal(ask_status(&c->owner, bury), DW_OK);
		expect_letter(c, cases[i].shown);
		assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_DROP)), DW_OK);
	}
}

static void why_of_a_letter_goes_when_it_is_requeued(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_op *bury = about(DW_OP_BURY, "a", generation, 1, "given up");

	bury->reason = DW_REASON_GAVE_UP;
	assert_int_equal(ask_status(&c->owner, bury), DW_OK);
	expect_letter(c, "given up");
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_REQUEUE, "a", 0, 0)), DW_OK);
	expect(c, "");
}

static void why_is_kept_over_a_crash(void **state)
{
	struct contract *c = *state;
	uint64_t generation = failed(c, "a", "the last words");
	dw_op *bury;

	contract_crash(c);
	expect(c, "the last words");
	claim(c, "a", generation, 1);
	contract_crash(c);
	expect(c, "the last words");
	claim(c, "a", generation, 2);
	bury = about(DW_OP_BURY, "a", generation, 3, "");
	bury->reason = DW_REASON_CRASHED;
	assert_int_equal(ask_status(&c->owner, bury), DW_OK);
	contract_crash(c);
	expect_letter(c, "the last words");
}

static void why_goes_when_a_client_moves_the_timer(void **state)
{
	struct contract *c = *state;
	dw_op *inbox = ask_plain(DW_OP_INBOX);

	(void)failed(c, "a", "x");
	ask_send(&c->owner, inbox);
	assert_int_equal(ask_status(&c->client, ask_move("a", 900, 0, 0)), DW_OK);
	inbox = ask_await(&c->owner, inbox);
	expect_why(inbox->rows, "");
	ask_free(inbox);
	expect(c, "");
}

const struct contract_case contract_whys[] = {
    CONTRACT_CASE(why_of_a_retry_is_shown_until_the_next_verdict, false),
    CONTRACT_CASE(why_stays_with_a_retry_that_does_not_count, false),
    CONTRACT_CASE(why_of_a_repeated_retry_is_the_first_one, false),
    CONTRACT_CASE(why_has_every_length_up_to_its_limit, false),
    CONTRACT_CASE(why_goes_when_the_retries_are_counted_afresh, false),
    CONTRACT_CASE(why_is_a_part_of_what_a_move_shows, false),
    CONTRACT_CASE(why_of_a_burial_is_that_of_its_verdict, false),
    CONTRACT_CASE(why_of_a_letter_goes_when_it_is_requeued, false),
    CONTRACT_CASE(why_is_kept_over_a_crash, true),
    CONTRACT_CASE(why_goes_when_a_client_moves_the_timer, true),
    CONTRACT_CASES_END,
};
