/* Cancels, of an owner and of clients. */
#include "contract/contract.h"

static void cancel_by_the_owner_follows_what_it_knows(void **state)
{
	struct contract *c = *state;

	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_ENOENT);
	ask_put_one(&c->owner, "a", 500);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_ENOENT);
	contract_claim(c, "b");
	assert_int_equal(ask_status(&c->owner, ask_cancel("b", 0)), DW_ELATE);
	assert_int_equal(ask_status(&c->owner, ask_cancel("b", DW_OP_WITHDRAWN)), DW_OK);
	contract_claim(c, "d");
	ask_put_one(&c->owner, "d", 900); /* open */
	assert_int_equal(ask_status(&c->owner, ask_cancel("d", 0)), DW_OK);
	assert_int_equal(contract_status(&c->owner).pending, 0);
	assert_int_equal(contract_status(&c->owner).claimed, 0);
}

static void cancel_of_a_dead_owners_claim_is_ok(void **state)
{
	struct contract *c = *state;

	contract_claim(c, "a");
	contract_crash(c);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
}

/* Claim g1; client puts g2; client cancels; g1 starts. So the cancel cannot promise. */
static void cancel_of_open_by_a_client_deletes_and_is_late(void **state)
{
	struct contract *c = *state;
	uint64_t first = contract_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->client, "a", &head), DW_OK);
	assert_int_equal(head.generation, first); /* claimed: unchanged */
	assert_int_equal(ask_head(&c->client, ask_put("a", 900, 0), &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->client, "a", &head), DW_ENOENT);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
}

/* Claim g1; client puts g2, cancels it, puts g3, cancels it; g1 starts. The deletion of g2 keeps
 * that g1 is open until the owner has seen it. */
static void put_after_an_open_deletion_is_open_until_it_is_seen(void **state)
{
	struct contract *c = *state;
	dw_head head;
	dw_op *inbox;

	(void)contract_claim(c, "a");
	assert_int_equal(ask_status(&c->client, ask_put("a", 900, 0)), DW_OK);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_head(&c->client, ask_put("a", 901, 0), &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	inbox = ask_done(&c->owner, ask_plain(DW_OP_INBOX));
	assert_int_equal(inbox->row_count, 1);
	assert_int_equal(
	    ask_status(&c->owner, ask_about(DW_OP_ACK, "a", inbox->rows->head.generation, 0)),
	    DW_OK);
	ask_free(inbox);
	assert_int_equal(ask_head(&c->client, ask_put("a", 902, 0), &head), DW_OK);
	assert_int_equal(head.open, 0);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_OK);
}

static void cancel_of_pending_by_a_client_is_ok(void **state)
{
	struct contract *c = *state;

	ask_put_one(&c->owner, "a", 500);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", 1, 0)), DW_ENOENT);
}

/* A cancel of one generation leaves every other one alone. */
static void cancel_of_a_generation_that_is_not_there(struct contract *c, struct ask *caller)
{
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second = ask_put_one(&c->owner, "a", 700);
	dw_head head;
	dw_op *cancel;

	for (int i = 0; i < 2; i++) {
		cancel = ask_cancel("a", DW_OP_EXACT);
		cancel->head.generation = i ? second + 1 : first;
		assert_int_equal(ask_status(caller, cancel), DW_ENOENT);
		assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
		assert_int_equal(head.generation, second);
		assert_int_equal(contract_status(&c->owner).inbox, 0);
	}
	cancel = ask_cancel("a", DW_OP_EXACT);
	cancel->head.generation = second;
	assert_int_equal(ask_status(caller, cancel), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
	cancel = ask_cancel("a", DW_OP_EXACT);
	cancel->head.generation = second;
	assert_int_equal(ask_status(caller, cancel), DW_ENOENT);
}

static void cancel_of_a_generation_by_the_owner(void **state)
{
	struct contract *c = *state;

	cancel_of_a_generation_that_is_not_there(c, &c->owner);
}

static void cancel_of_a_generation_by_a_client(void **state)
{
	struct contract *c = *state;

	cancel_of_a_generation_that_is_not_there(c, &c->client);
}

const struct contract_case contract_cancels[] = {
    CONTRACT_CASE(cancel_by_the_owner_follows_what_it_knows, false),
    CONTRACT_CASE(cancel_of_a_dead_owners_claim_is_ok, true),
    CONTRACT_CASE(cancel_of_open_by_a_client_deletes_and_is_late, true),
    CONTRACT_CASE(cancel_of_pending_by_a_client_is_ok, true),
    CONTRACT_CASE(put_after_an_open_deletion_is_open_until_it_is_seen, true),
    CONTRACT_CASE(cancel_of_a_generation_by_the_owner, false),
    CONTRACT_CASE(cancel_of_a_generation_by_a_client, true),
    CONTRACT_CASES_END,
};
