/* What an operation makes of the row of its id. */
#include "store/fallback/merge.h"
#include "support/cmocka.h"

static const dw_replay now = {.floor = 900, .fence = 7};

static struct merge merged(dw_op_kind kind, unsigned flags, dw_head head, const struct row *row)
{
	dw_op op = {.kind = kind, .flags = flags, .head = head};

	return merge_op(&op, row, &now);
}

/* A put of the journal, of generation 500, that is claimed for the second time. */
static const struct row claimed_put = {
    .words = {.what = DW_OP_PUT, .attempt = 2, .flags = ROW_ABSENT, .floor = 500},
    .generation = 500,
    .claims = 2,
    .is_claimed = true,
};

/* The handler of the first delivery may answer when the second one has begun. */
static void verdict_on_another_delivery_of_a_put_is_stale(void **state)
{
	static const dw_op_kind verdicts[] = {DW_OP_SETTLE, DW_OP_RETRY};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		dw_head head = {.generation = 500, .attempt = 2};
		struct merge merge = merged(verdicts[i], DW_OP_VERDICT, head, &claimed_put);

		assert_int_not_equal(merge.effect, MERGE_REFUSE);
		for (head.attempt = 1; head.attempt <= 3; head.attempt += 2) {
			merge = merged(verdicts[i], DW_OP_VERDICT, head, &claimed_put);
			assert_int_equal(merge.effect, MERGE_REFUSE);
			assert_int_equal(merge.status, DW_ESTALE);
		}
		head = (dw_head){.generation = 501, .attempt = 2};
		merge = merged(verdicts[i], DW_OP_VERDICT, head, &claimed_put);
		assert_int_equal(merge.effect, MERGE_REFUSE);
	}
}

static void verdict_on_a_put_that_is_not_claimed_is_stale(void **state)
{
	struct row row = claimed_put;
	dw_head head = {.generation = 500, .attempt = 2};

	(void)state;
	row.is_claimed = false;
	assert_int_equal(merged(DW_OP_SETTLE, 0, head, &row).status, DW_ESTALE);
}

/* A row that ended a claim of this owner ends it for good, whatever comes after it. */
static void later_row_keeps_that_a_claim_was_taken_back(void **state)
{
	static const dw_op_kind later[] = {DW_OP_PUT, DW_OP_CANCEL, DW_OP_MOVE};
	const struct row row = {.words = {.what = DW_OP_RETRY,
					  .attempt = 3,
					  .flags = DW_REPLAY_WITHDRAWN | DW_REPLAY_LOCAL,
					  .base = 400,
					  .fence = 7}};
	dw_head head = {.generation = 400, .attempt = 3};

	(void)state;
	for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
		struct merge merge = merged(later[i], 0, head, &row);

		assert_int_equal(merge.effect, MERGE_WRITE);
		assert_true(merge.words.flags & DW_REPLAY_WITHDRAWN);
		assert_true(merge.words.flags & DW_REPLAY_LOCAL);
		assert_int_equal(merge.words.base, 400);
	}
	assert_false(merged(DW_OP_PUT, 0, head, NULL).words.flags & DW_REPLAY_WITHDRAWN);
	assert_true(merged(DW_OP_CANCEL, DW_OP_WITHDRAWN, head, NULL).words.flags &
		    DW_REPLAY_WITHDRAWN);
}

/* A row may be written by a client that has been an owner: its claims by that fence end, too. */
static void row_keeps_the_highest_fence(void **state)
{
	struct row row = {.words = {.what = DW_OP_CANCEL, .base = 400}};
	dw_head head = {.generation = 400};

	(void)state;
	for (row.words.fence = 0; row.words.fence < 15; row.words.fence += 7)
		assert_int_equal(merged(DW_OP_PUT, 0, head, &row).words.fence,
				 row.words.fence > now.fence ? row.words.fence : now.fence);
}

/* A retry that is asked for twice counts once, and one of a later claim again. */
static void retry_is_counted_once_a_delivery(void **state)
{
	struct row row = {.words = {.what = DW_OP_CLAIM, .attempt = 3, .base = 400}};
	dw_head head = {.generation = 400, .attempt = 3};

	(void)state;
	assert_int_equal(merged(DW_OP_RETRY, 0, head, &row).words.retries, 0);
	row.words = merged(DW_OP_RETRY, DW_OP_VERDICT, head, &row).words;
	assert_int_equal(row.words.retries, 1);
	row.words = merged(DW_OP_RETRY, DW_OP_VERDICT, head, &row).words;
	assert_int_equal(row.words.retries, 1);
	row.words = merged(DW_OP_CLAIM, 0, head, &row).words;
	head.attempt = 4;
	row.words = merged(DW_OP_RETRY, DW_OP_VERDICT, head, &row).words;
	assert_int_equal(row.words.retries, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(verdict_on_another_delivery_of_a_put_is_stale),
	    cmocka_unit_test(verdict_on_a_put_that_is_not_claimed_is_stale),
	    cmocka_unit_test(later_row_keeps_that_a_claim_was_taken_back),
	    cmocka_unit_test(row_keeps_the_highest_fence),
	    cmocka_unit_test(retry_is_counted_once_a_delivery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
