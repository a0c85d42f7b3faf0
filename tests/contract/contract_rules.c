/* Timers with a rule: renewed for their next occurrence in one step. */
#include "contract/contract.h"

#include <string.h>

#include "support/cmocka.h"
#include "timer/record.h"

/* rule_op makes a PUT or NEXT of a timer with a rule, at an occurrence. */
static dw_op *rule_op(dw_op_kind kind, const char *id, dw_usec occurrence, const char *data)
{
	struct alloc alloc = alloc_default();
	struct record_rule rule = {
	    .text = "every 1s", .occurrence = occurrence, .start = occurrence, .until = DW_NEVER};
	unsigned char blocks[RECORD_BLOCKS_MAX];
	struct record record = {.id = id,
				.topic = "topic",
				.data = data,
				.data_size = (uint32_t)strlen(data),
				.blocks = blocks,
				.blocks_size = (uint16_t)record_rule_write(&rule, blocks),
				.id_size = (uint8_t)strlen(id),
				.topic_size = 5};
	dw_op *op = op_new(&alloc, kind, id, NULL, record_size(&record));

	assert_non_null(op);
	record_encode(&record, op_room(op));
	op->topic = "topic";
	op->head.due = occurrence;
	return op;
}

static dw_op *next(uint64_t generation, uint32_t attempt, dw_usec occurrence)
{
	dw_op *op = rule_op(DW_OP_NEXT, "a", occurrence, "data");

	op->head.generation = generation;
	op->head.attempt = attempt;
	return op;
}

/* next_known: the owner knows what is stored of "a", which is due at 500. */
static dw_op *next_known(uint64_t generation, dw_usec occurrence)
{
	dw_op *op = next(generation, 1, occurrence);

	op->flags = DW_OP_KNOWN;
	op->after.due = 500;
	return op;
}

/* claimed: a timer "a" with a rule, due at 500, that the owner has claimed; its generation. */
static uint64_t claimed(struct contract *c)
{
	dw_head head;

	assert_int_equal(ask_head(&c->owner, rule_op(DW_OP_PUT, "a", 500, "data"), &head), DW_OK);
	assert_int_equal(
	    ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, head.attempt)),
	    DW_OK);
	return head.generation;
}

/* assert_occurrence: "a" is stored at this occurrence. */
static void assert_occurrence(struct contract *c, dw_usec occurrence)
{
	dw_op *get = ask_done(&c->owner, ask_get("a"));
	struct record_rule rule;

	assert_int_equal(get->status, DW_OK);
	assert_true(record_rule(get->rows->body, &rule));
	assert_int_equal(rule.occurrence, occurrence);
	ask_free(get);
}

static void next_is_pending_at_its_next_occurrence(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head, stored;

	assert_int_equal(ask_status(&c->owner, contract_retry(generation, 1, 600, DW_OP_VERDICT)),
			 DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1)), DW_OK);
	assert_int_equal(ask_head(&c->owner, next(generation, 2, 1500), &head), DW_OK);
	assert_true(head.generation > generation);
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_OK);
	assert_int_equal(stored.generation, head.generation);
	assert_int_equal(stored.due, 1500);
	assert_int_equal(stored.state, DW_PENDING);
	assert_int_equal(stored.attempt, 0);
	assert_int_equal(stored.retries, 0);
	assert_int_equal(stored.crashes, 0);
	assert_int_equal(stored.open, 0);
	assert_occurrence(c, 1500);
	assert_int_equal(contract_status(&c->owner).pending, 1);
	assert_int_equal(contract_status(&c->owner).claimed, 0);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 0)),
			 DW_OK);
}

static void next_asked_twice_is_stale_and_shows_the_first(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head;
	dw_op *again;

	assert_int_equal(ask_head(&c->owner, next(generation, 1, 1500), &head), DW_OK);
	again = ask_done(&c->owner, next(generation, 1, 1500));
	assert_int_equal(again->status, DW_ESTALE);
	assert_int_equal(again->rows->head.generation, head.generation);
	assert_int_equal(again->rows->head.due, 1500);
	assert_int_equal(again->rows->body_size, again->body_size);
	assert_memory_equal(again->rows->body, again->body, again->body_size);
	ask_free(again);
	assert_int_equal(contract_status(&c->owner).pending, 1);
}

/* The verdict on another delivery renews nothing, whichever number is wrong. */
static void next_of_another_delivery_is_stale(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head stored;

	assert_int_equal(ask_status(&c->owner, next(generation, 0, 1500)), DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, next(generation, 2, 1500)), DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, next(generation + 1, 1, 1500)), DW_ESTALE);
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_OK);
	assert_int_equal(stored.state, DW_CLAIMED);
	assert_int_equal(stored.due, 500);
	assert_occurrence(c, 500);
}

static void next_of_what_is_known_is_as_ever(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head, stored;
	dw_op *op;

	assert_int_equal(ask_head(&c->owner, next_known(generation, 1500), &head), DW_OK);
	assert_true(head.generation > generation);
	assert_int_equal(head.due, 1500);
	assert_int_equal(head.attempt, 0);
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_OK);
	assert_int_equal(stored.generation, head.generation);
	assert_int_equal(stored.due, 1500);
	assert_int_equal(stored.state, DW_PENDING);
	assert_int_equal(stored.attempt, 0);
	assert_occurrence(c, 1500);
	op = ask_done(&c->owner, ask_scan(NULL, 10, "topic"));
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.due, 1500);
	ask_free(op);
	op = ask_done(&c->owner, next_known(generation, 1500)); /* it repeats the first */
	assert_int_equal(op->status, DW_ESTALE);
	assert_int_equal(op->rows->head.generation, head.generation);
	ask_free(op);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 0)),
			 DW_OK);
}

static void next_of_what_a_client_has_replaced_is_stale(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head;

	assert_int_equal(ask_status(&c->client, ask_put("a", 700, 0)), DW_OK);
	(void)ask_put_one(&c->owner, "b", 9000); /* later versions than the client's follow */
	assert_int_equal(ask_status(&c->owner, next_known(generation, 1500)), DW_ESTALE);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.due, 700);
	(void)ask_status(&c->client, ask_cancel("a", 0)); /* DW_ELATE: it was claimed */
	assert_int_equal(ask_status(&c->owner, next_known(generation, 1500)), DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
}

static void next_of_what_is_purged_makes_nothing(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_PURGE)), DW_OK);
	assert_int_equal(ask_status(&c->owner, next_known(generation, 1500)), DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
}

static void next_of_an_earlier_delivery_changes_nothing(void **state)
{
	struct contract *c = *state;
	uint64_t old = claimed(c);
	uint64_t generation;
	dw_head head;

	assert_int_equal(ask_status(&c->owner, next(old, 2, 1500)), DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, next(old + 1, 1, 1500)), DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", DW_OP_WITHDRAWN)), DW_OK);
	assert_int_equal(ask_status(&c->owner, next(old, 1, 1500)), DW_ENOENT);
	generation = ask_put_one(&c->owner, "a", 700);
	assert_int_equal(ask_status(&c->owner, next(old, 1, 1500)), DW_ESTALE);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.generation, generation);
	assert_int_equal(head.due, 700);
}

static void next_of_a_dead_occurrence_leaves_a_letter(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_op *op = next(generation, 1, 1500);
	struct record_rule rule;
	dw_head head;

	op->reason = DW_REASON_GAVE_UP;
	assert_int_equal(ask_head(&c->owner, op, &head), DW_OK);
	assert_occurrence(c, 1500);
	assert_int_equal(contract_status(&c->owner).dead, 1);
	assert_int_equal(contract_status(&c->owner).pending, 1);
	op = ask_plain(DW_OP_DEAD_SCAN);
	op->limit = 10;
	op = ask_done(&c->owner, op);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.generation, generation);
	assert_int_equal(op->rows->reason, DW_REASON_GAVE_UP);
	assert_true(record_rule(op->rows->body, &rule));
	assert_int_equal(rule.occurrence, 500);
	ask_free(op);
}

static void put_of_the_same_rule_keeps_the_occurrence(void **state)
{
	struct contract *c = *state;
	struct ask *const asks[] = {&c->owner, &c->client};
	uint64_t generation = claimed(c);
	dw_head head, stored;

	assert_int_equal(ask_head(&c->owner, next(generation, 1, 1500), &head), DW_OK);
	for (size_t i = 0; i < (c->kind->shared ? 2 : 1); i++) {
		dw_op *put = ask_done(asks[i], rule_op(DW_OP_PUT, "a", 7000, "data"));

		assert_int_equal(put->status, DW_OK);
		assert_true(put->flags & DW_OP_DONE);
		assert_int_equal(put->rows->head.generation, head.generation);
		assert_int_equal(put->rows->head.due, 1500);
		ask_free(put);
	}
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_OK);
	assert_int_equal(stored.generation, head.generation);
	assert_int_equal(ask_head(&c->owner, rule_op(DW_OP_PUT, "a", 7000, "other"), &head), DW_OK);
	assert_true(head.generation > stored.generation);
	assert_occurrence(c, 7000);
	assert_int_equal(ask_status(&c->owner, rule_op(DW_OP_PUT, "a", 7000, "other")), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_OK);
	assert_int_equal(stored.generation, head.generation);
}

static void cancel_of_a_claimed_rule_by_a_client_ends_it(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head;

	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->client, "a", &head), DW_ENOENT);
	assert_int_equal(ask_status(&c->owner, next(generation, 1, 1500)), DW_ENOENT);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
}

static void put_of_a_client_over_a_claimed_rule_stays(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c);
	dw_head head;
	dw_op *op;

	assert_int_equal(ask_head(&c->client, rule_op(DW_OP_PUT, "a", 7000, "new"), &head), DW_OK);
	assert_int_equal(head.open, 1);
	op = ask_done(&c->owner, next(generation, 1, 1500));
	assert_int_equal(op->status, DW_ESTALE);
	assert_int_equal(op->rows->head.generation, head.generation);
	ask_free(op);
	assert_occurrence(c, 7000);
}

static void move_of_a_rule_keeps_its_occurrence(void **state)
{
	struct contract *c = *state;
	dw_head head;

	assert_int_equal(ask_head(&c->owner, rule_op(DW_OP_PUT, "a", 500, "data"), &head), DW_OK);
	assert_int_equal(ask_status(&c->client, ask_move("a", 900, 0, 0)), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.due, 900);
	assert_occurrence(c, 500);
	assert_int_equal(ask_status(&c->client, rule_op(DW_OP_PUT, "a", 500, "data")), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.due, 900);
}

static void client_may_not_renew(void **state)
{
	struct contract *c = *state;

	assert_int_equal(ask_status(&c->client, next(1, 1, 1500)), DW_EROLE);
}

const struct contract_case contract_rules[] = {
    CONTRACT_CASE(next_is_pending_at_its_next_occurrence, false),
    CONTRACT_CASE(next_asked_twice_is_stale_and_shows_the_first, false),
    CONTRACT_CASE(next_of_another_delivery_is_stale, false),
    CONTRACT_CASE(next_of_what_is_known_is_as_ever, false),
    CONTRACT_CASE(next_of_what_a_client_has_replaced_is_stale, true),
    CONTRACT_CASE(next_of_what_is_purged_makes_nothing, false),
    CONTRACT_CASE(next_of_an_earlier_delivery_changes_nothing, false),
    CONTRACT_CASE(next_of_a_dead_occurrence_leaves_a_letter, false),
    CONTRACT_CASE(put_of_the_same_rule_keeps_the_occurrence, false),
    CONTRACT_CASE(cancel_of_a_claimed_rule_by_a_client_ends_it, true),
    CONTRACT_CASE(put_of_a_client_over_a_claimed_rule_stays, true),
    CONTRACT_CASE(move_of_a_rule_keeps_its_occurrence, true),
    CONTRACT_CASE(client_may_not_renew, true),
    CONTRACT_CASES_END,
};
