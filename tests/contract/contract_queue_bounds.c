/* What bounds a queue beside its settings: the bytes of a take, and the memory of the store. */
#include "contract/contract_queue_ops.h"

#include "support/cmocka.h"

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
    CONTRACT_CASE(queue_that_was_emptied_counts_nothing, false),
    CONTRACT_CASES_END,
};
