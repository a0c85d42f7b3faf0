/* What bounds a queue beside its settings: the bytes of a take, and the memory of the store. */
#include "contract/contract_queue_ops.h"

#include "support/cmocka.h"

/* A store without memory takes no message. But its consumers go on, so it becomes empty. */
static void full_store_can_be_emptied(void **state)
{
	static const dw_verdict verdicts[] = {DW_HOLD, DW_RETRY, DW_DONE};
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "retries=9", 0), DW_OK);
	assert_int_equal(contract_push(c, "abcd"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	if (c->kind->fill) {
		c->kind->fill(c->place, true);
		assert_int_equal(contract_push(c, "e"), DW_EFULL);
	}
	contract_pass(c, 2 * HIDE);
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
		assert_int_equal(taken.count, 1);
		assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], verdicts[i], 1),
				 DW_OK);
	}
	contract_pass(c, 2 * HIDE);
	while (contract_length(c) > 0) {
		assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
		assert_true(taken.count > 0);
		for (size_t i = 0; i < taken.count; i++)
			assert_int_equal(
			    contract_answer_one(&c->owner, taken.tokens[i], DW_DONE, 0), DW_OK);
	}
	if (c->kind->fill)
		c->kind->fill(c->place, false);
	assert_int_equal(contract_push(c, "f"), DW_OK);
}

static void queue_that_was_emptied_counts_nothing(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(contract_length(c), 1);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_length(c), 0);
}

const struct contract_case contract_queue_bounds[] = {
    CONTRACT_CASE(full_store_can_be_emptied, false),
    CONTRACT_CASE(queue_that_was_emptied_counts_nothing, false),
    CONTRACT_CASES_END,
};
