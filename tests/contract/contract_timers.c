/* What happens to one timer: every row of the table of operations. */
#include "contract/contract.h"

#include <string.h>

#include "support/cmocka.h"

/* ---- Put ---- */

static void put_of_new_id_stores_it(void **state)
{
	struct contract *c = *state;
	dw_op *op = ask_done(&c->owner, ask_put_full("a", "t", 500, "payload"));
	dw_op *get = ask_done(&c->owner, ask_get("a"));

	assert_int_equal(op->status, DW_OK);
	assert_true(op->head.generation >= CONTRACT_START);
	assert_int_equal(get->status, DW_OK);
	assert_int_equal(get->rows->head.generation, op->head.generation);
	assert_int_equal(get->rows->head.due, 500);
	assert_int_equal(get->rows->head.state, DW_PENDING);
	assert_int_equal(get->rows->head.attempt, 0);
	assert_int_equal(get->rows->head.open, 0);
	assert_int_equal(get->rows->body_size, op->body_size);
	assert_memory_equal(get->rows->body, op->body, op->body_size);
	ask_free(op);
	ask_free(get);
}

static void put_with_new_of_taken_id_answers_eexist(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_put("a", 700, DW_OP_NEW)), DW_EEXIST);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.generation, generation);
	assert_int_equal(head.due, 500);
	assert_int_equal(ask_status(&c->owner, ask_put("b", 700, DW_OP_NEW)), DW_OK);
}

static void put_again_replaces_with_a_later_generation(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second = ask_put_one(&c->owner, "a", 700);
	dw_op *scan = ask_done(&c->owner, ask_scan(NULL, 10, NULL));

	assert_true(second > first);
	assert_int_equal(scan->row_count, 1);
	assert_int_equal(scan->rows->head.due, 700);
	ask_free(scan);
}

static void put_when_the_clock_steps_back_still_grows(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second;

	c->now = 5;
	second = ask_put_one(&c->owner, "b", 500);
	assert_true(second > first);
	if (c->kind->served)
		return;
	assert_int_equal(second, first + 1);
	c->now = CONTRACT_START * 2LL;
	assert_int_equal(ask_put_one(&c->owner, "c", 500), CONTRACT_START * 2LL);
}

static void put_claimed_is_claimed_at_once(void **state)
{
	struct contract *c = *state;
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_put("a", 500, DW_OP_CLAIMED), &head), DW_OK);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.state, DW_CLAIMED);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", head.generation, 1)),
			 DW_OK);
}

static void put_over_claimed_by_the_owner_is_open(void **state)
{
	struct contract *c = *state;
	dw_head head;

	contract_claim(c, "a");
	assert_int_equal(ask_head(&c->owner, ask_put("a", 900, 0), &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(head.attempt, 0);
	assert_int_equal(ask_head(&c->owner, ask_put("a", 901, 0), &head), DW_OK);
	assert_int_equal(head.open, 1); /* of an open one, too */
	assert_int_equal(ask_head(&c->owner, ask_put("a", 902, DW_OP_WITHDRAWN), &head), DW_OK);
	assert_int_equal(head.open, 0);
}

static void put_over_claimed_with_withdrawn_is_not_open(void **state)
{
	struct contract *c = *state;
	dw_head head;

	contract_claim(c, "a");
	assert_int_equal(ask_head(&c->owner, ask_put("a", 900, DW_OP_WITHDRAWN), &head), DW_OK);
	assert_int_equal(head.open, 0);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.open, 0);
	assert_int_equal(head.state, DW_PENDING);
}

/* ---- Claim ---- */

static void claim_of_pending_counts_the_attempt(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.crashes, 0);
	assert_int_equal(head.open, 0);
	assert_int_equal(head.due, 500);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.state, DW_CLAIMED);
	assert_int_equal(head.attempt, 1);
}

static void claim_repeated_answers_the_same(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.crashes, 0);
	assert_int_equal(head.open, 0);
}

static void claim_of_a_replaced_generation_shows_the_stored_one(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second = ask_put_one(&c->owner, "a", 600);
	dw_op *op = ask_done(&c->owner, ask_about(DW_OP_CLAIM, "a", first, 0));
	dw_head head;

	assert_int_equal(op->status, DW_ESTALE);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.generation, second);
	assert_int_equal(op->rows->head.due, 600);
	assert_true(op->rows->body_size > 0);
	assert_int_equal(op->head.generation, first); /* what was asked stays */
	ask_free(op);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.state, DW_PENDING);
}

/* A put stored as claimed whose answer was lost: the scan brings it, as claimed by oneself. */
static void claim_of_ones_own_claim_counts_on_without_a_crash(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0)), DW_OK);
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 0);
	assert_int_equal(head.open, 0);
}

static void claim_of_another_attempt_is_stale(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1)),
			 DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 2)),
			 DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "x", generation, 0)),
			 DW_ENOENT);
}

/* claim_known claims what a GET has found, as known; the status. */
static int claim_known(struct contract *c, const dw_op *get, dw_head *ret_head)
{
	const dw_row *row = get->rows;
	dw_op *op = ask_about(DW_OP_CLAIM, row->id, row->head.generation, 0);

	op->flags = DW_OP_KNOWN;
	op->head = row->head;
	op->body = row->body;
	op->body_size = row->body_size;
	return ask_head(&c->owner, op, ret_head);
}

static int settle_known(struct contract *c, const char *id, uint64_t generation)
{
	dw_op *op = ask_about(DW_OP_SETTLE, id, generation, 1);

	op->flags = DW_OP_KNOWN;
	op->head.due = 500;
	op->topic = "topic";
	return ask_status(&c->owner, op);
}

static void claim_and_settle_of_what_is_known_are_as_ever(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);
	dw_op *known = ask_done(&c->owner, ask_get("a"));
	dw_op *get;
	dw_head head;

	for (int i = 0; i < 2; i++) { /* the second one repeats the first */
		assert_int_equal(claim_known(c, known, &head), DW_OK);
		assert_int_equal(head.attempt, 1);
		assert_int_equal(head.state, DW_CLAIMED);
	}
	get = ask_done(&c->owner, ask_get("a"));
	assert_int_equal(get->rows->head.state, DW_CLAIMED);
	assert_int_equal(get->rows->head.attempt, 1);
	assert_int_equal(get->rows->head.generation, generation);
	assert_int_equal(get->rows->body_size, known->rows->body_size);
	assert_memory_equal(get->rows->body, known->rows->body, get->rows->body_size);
	ask_free(get);
	assert_int_equal(settle_known(c, "a", generation), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
	assert_int_equal(claim_known(c, known, &head), DW_ENOENT);
	ask_free(known);
}

static void claim_and_settle_of_what_a_client_has_replaced_are_stale(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	dw_op *known = ask_done(&c->owner, ask_get("a"));
	dw_head head;

	assert_int_equal(ask_status(&c->client, ask_put("a", 700, 0)), DW_OK);
	assert_int_equal(claim_known(c, known, &head), DW_ESTALE);
	assert_int_equal(settle_known(c, "a", first), DW_ESTALE);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(claim_known(c, known, &head), DW_ENOENT);
	assert_int_equal(settle_known(c, "a", first), DW_ENOENT);
	ask_free(known);
}

static void claim_after_a_crash_counts_it_and_is_open(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_head head;

	contract_crash(c);
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 1);
	assert_int_equal(head.open, 1);
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 1);
}

/* ---- Settle, retry, bury ---- */

static void settle_deletes_and_repeated_answers_enoent(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)),
			 DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
}

static void verdict_of_an_earlier_delivery_changes_nothing(void **state)
{
	static const dw_op_kind kinds[] = {DW_OP_SETTLE, DW_OP_RETRY, DW_OP_BURY};
	struct contract *c = *state;
	uint64_t old = contract_claim(c, "a");
	uint64_t generation = contract_claim(c, "a");

	for (size_t i = 0; i < 3; i++) {
		dw_op *by_attempt = ask_done(&c->owner, ask_about(kinds[i], "a", generation, 2));
		dw_op *by_generation = ask_done(&c->owner, ask_about(kinds[i], "a", old, 1));

		assert_int_equal(by_attempt->status, DW_ESTALE);
		assert_int_equal(by_generation->status, DW_ESTALE);
		assert_int_equal(by_generation->rows->head.generation, generation);
		assert_int_equal(by_generation->rows->head.state, DW_CLAIMED);
		ask_free(by_attempt);
		ask_free(by_generation);
		assert_int_equal(ask_status(&c->owner, ask_about(kinds[i], "x", old, 1)),
				 DW_ENOENT);
	}
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)), DW_OK);
}

static void retry_with_verdict_counts_and_is_pending(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_head head;

	for (int i = 0; i < 2; i++) { /* repeated blindly, it counts once */
		assert_int_equal(
		    ask_status(&c->owner, contract_retry(generation, 1, 900, DW_OP_VERDICT)),
		    DW_OK);
		assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
		assert_int_equal(head.state, DW_PENDING);
		assert_int_equal(head.due, 900);
		assert_int_equal(head.attempt, 1);
		assert_int_equal(head.retries, 1);
		assert_int_equal(head.generation, generation);
	}
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 0);
}

static void retry_without_verdict_gives_the_claim_back(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->owner, contract_retry(generation, 1, 500, 0)), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.state, DW_PENDING);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.retries, 0);
	/* a late copy of the claim does not claim again */
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0)),
			 DW_ESTALE);
}

static void bury_moves_to_the_dead_letters(void **state)
{
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "a", generation, 1)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "a", generation, 1)),
			 DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
	assert_int_equal(contract_status(&c->owner).dead, 1);
	assert_int_equal(contract_status(&c->owner).claimed, 0);
}

/* ---- Put of a generation ---- */

static void expect_generation(struct contract *c, dw_op *op, uint64_t generation)
{
	ask_done(&c->owner, op);
	assert_int_equal(op->status, DW_ESTALE);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.generation, generation);
	assert_string_equal(op->rows->id, "a");
	ask_free(op);
}

static void put_of_a_generation_replaces_only_that_one(void **state)
{
	struct contract *c = *state;
	uint64_t first;
	dw_op *op = ask_put("a", 500, DW_OP_EXACT);
	dw_head head;

	op->head.generation = 5;
	assert_int_equal(ask_status(&c->owner, op), DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
	assert_int_equal(ask_head(&c->owner, ask_put("a", 500, DW_OP_EXACT), &head), DW_OK);
	first = head.generation;
	expect_generation(c, ask_put("a", 600, DW_OP_EXACT), first);
	op = ask_put("a", 600, DW_OP_EXACT);
	op->head.generation = first - 1;
	expect_generation(c, op, first);
	op = ask_put("a", 700, DW_OP_EXACT);
	op->head.generation = first;
	assert_int_equal(ask_head(&c->owner, op, &head), DW_OK);
	assert_true(head.generation > first);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.due, 700);
}

/* A delivery ends the generation, or leaves it; a client hears both in the same words. */
static void put_of_a_generation_by_a_client(void **state)
{
	struct contract *c = *state;
	uint64_t first = contract_claim(c, "a");
	dw_op *op = ask_put("a", 600, DW_OP_EXACT);
	dw_head head;

	ask_done(&c->client, op);
	assert_int_equal(op->status, DW_ESTALE);
	assert_int_equal(op->rows->head.state, DW_CLAIMED);
	ask_free(op);
	op = ask_put("a", 700, DW_OP_EXACT);
	op->head.generation = first;
	assert_int_equal(ask_head(&c->client, op, &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(contract_status(&c->owner).inbox, 1);
}

/* ---- Move ---- */

static void move_of_pending_is_the_next_generation(void **state)
{
	struct contract *c = *state;
	uint64_t first = contract_claim(c, "a");
	dw_op *scan;
	dw_head head;

	ask_put_one(&c->owner, "b", 600);
	assert_int_equal(ask_status(&c->owner, contract_retry(first, 1, 500, DW_OP_VERDICT)),
			 DW_OK);
	assert_int_equal(ask_head(&c->owner, ask_move("a", 700, first, 0), &head), DW_OK);
	assert_true(head.generation > first);
	assert_int_equal(head.due, 700);
	assert_int_equal(head.state, DW_PENDING);
	assert_int_equal(head.attempt, 1); /* it goes on counting */
	assert_int_equal(head.retries, 0); /* counted afresh */
	assert_int_equal(head.open, 0);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", first, 1)), DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 1)),
			 DW_OK);
	scan = ask_done(&c->owner, ask_scan(NULL, 10, NULL)); /* behind b now */
	assert_int_equal(scan->row_count, 2);
	assert_string_equal(scan->rows->next->id, "a");
	assert_true(scan->rows->next->body_size > 0);
	assert_int_equal(scan->rows->next->status, DW_OK);
	ask_free(scan);
}

static void move_answers_by_state(void **state)
{
	struct contract *c = *state;
	uint64_t generation;
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_move("a", 700, 0, 0)), DW_ENOENT);
	generation = contract_claim(c, "a");
	assert_int_equal(ask_status(&c->owner, ask_move("a", 700, generation, 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.generation, generation);
	assert_int_equal(head.due, 500);
	assert_int_equal(head.state, DW_CLAIMED);
	assert_int_equal(
	    ask_head(&c->owner, ask_move("a", 700, generation, DW_OP_WITHDRAWN), &head), DW_OK);
	assert_int_equal(head.open, 0);
	assert_int_equal(contract_status(&c->owner).pending, 1);
	assert_int_equal(contract_status(&c->owner).claimed, 0);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)),
			 DW_ESTALE);
}

/* The owner knew another generation: it is shown what it moved, and a client is not. */
static void move_of_an_unknown_generation_shows_it(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	dw_op *known = ask_done(&c->owner, ask_move("a", 700, first, 0));
	dw_op *unknown = ask_done(&c->owner, ask_move("a", 800, first, 0));

	assert_int_equal(known->row_count, 0);
	assert_int_equal(unknown->status, DW_OK);
	assert_int_equal(unknown->row_count, 1);
	assert_int_equal(unknown->rows->head.generation, unknown->head.generation);
	assert_int_equal(unknown->rows->head.due, 800);
	assert_true(unknown->rows->body_size > 0);
	ask_free(known);
	ask_free(unknown);
}

static void move_by_a_client_reaches_the_inbox(void **state)
{
	struct contract *c = *state;
	dw_op *inbox = ask_plain(DW_OP_INBOX);
	dw_head head;

	ask_put_one(&c->owner, "a", 500);
	ask_send(&c->owner, inbox);
	assert_int_equal(ask_head(&c->client, ask_move("a", 700, 0, 0), &head), DW_OK);
	inbox = ask_await(&c->owner, inbox);
	assert_int_equal(inbox->row_count, 1);
	assert_int_equal(inbox->rows->gone, 0);
	assert_int_equal(inbox->rows->head.generation, head.generation);
	assert_int_equal(inbox->rows->head.due, 700);
	ask_free(inbox);
}

/* Claim g1; client puts g2 (open), moves it: g3 is open, too, so its cancel cannot promise. */
static void move_by_a_client_is_late_for_claimed_and_keeps_open(void **state)
{
	struct contract *c = *state;
	uint64_t first = contract_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->client, ask_move("a", 700, 0, 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->client, "a", &head), DW_OK);
	assert_int_equal(head.generation, first); /* unchanged */
	assert_int_equal(ask_status(&c->client, ask_put("a", 900, 0)), DW_OK);
	assert_int_equal(ask_head(&c->client, ask_move("a", 950, 0, 0), &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_status(&c->client, ask_move("a", 1, 0, 0)), DW_ENOENT);
}

static void move_of_a_dead_owners_claim_is_ok(void **state)
{
	struct contract *c = *state;
	dw_head head;

	contract_claim(c, "a");
	contract_crash(c);
	assert_int_equal(ask_head(&c->owner, ask_move("a", 700, 0, 0), &head), DW_OK);
	assert_int_equal(head.state, DW_PENDING);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.open, 1);
}

/* ---- All ---- */

const struct contract_case contract_timers[] = {
    CONTRACT_CASE(put_of_new_id_stores_it, false),
    CONTRACT_CASE(put_with_new_of_taken_id_answers_eexist, false),
    CONTRACT_CASE(put_again_replaces_with_a_later_generation, false),
    CONTRACT_CASE(put_when_the_clock_steps_back_still_grows, false),
    CONTRACT_CASE(put_claimed_is_claimed_at_once, false),
    CONTRACT_CASE(put_over_claimed_by_the_owner_is_open, false),
    CONTRACT_CASE(put_over_claimed_with_withdrawn_is_not_open, false),
    CONTRACT_CASE(claim_of_pending_counts_the_attempt, false),
    CONTRACT_CASE(claim_repeated_answers_the_same, false),
    CONTRACT_CASE(claim_of_a_replaced_generation_shows_the_stored_one, false),
    CONTRACT_CASE(claim_of_another_attempt_is_stale, false),
    CONTRACT_CASE(claim_of_ones_own_claim_counts_on_without_a_crash, false),
    CONTRACT_CASE(claim_and_settle_of_what_is_known_are_as_ever, false),
    CONTRACT_CASE(claim_and_settle_of_what_a_client_has_replaced_are_stale, true),
    CONTRACT_CASE(claim_after_a_crash_counts_it_and_is_open, true),
    CONTRACT_CASE(settle_deletes_and_repeated_answers_enoent, false),
    CONTRACT_CASE(verdict_of_an_earlier_delivery_changes_nothing, false),
    CONTRACT_CASE(retry_with_verdict_counts_and_is_pending, false),
    CONTRACT_CASE(retry_without_verdict_gives_the_claim_back, false),
    CONTRACT_CASE(bury_moves_to_the_dead_letters, false),
    CONTRACT_CASE(put_of_a_generation_replaces_only_that_one, false),
    CONTRACT_CASE(put_of_a_generation_by_a_client, true),
    CONTRACT_CASE(move_of_pending_is_the_next_generation, false),
    CONTRACT_CASE(move_answers_by_state, false),
    CONTRACT_CASE(move_of_an_unknown_generation_shows_it, false),
    CONTRACT_CASE(move_by_a_client_reaches_the_inbox, true),
    CONTRACT_CASE(move_by_a_client_is_late_for_claimed_and_keeps_open, true),
    CONTRACT_CASE(move_of_a_dead_owners_claim_is_ok, true),
    CONTRACT_CASES_END,
};
