/* Timers whose claims were sent late, on a store of several shards: they start in the order of
 * their deadlines, in whatever order the shards answer. */
#include "support/cmocka.h"

#include <stdio.h>

#include "support/leased.h"

enum { MANY = 40 };

/* put_over_shards puts timers that are due one microsecond after the other, each in another shard
 * than the one before. */
static void put_over_shards(struct harness *h)
{
	for (int i = 0; i < MANY; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%c%02d", 'a' + i % LEASED_SHARDS, i); /* it fits */
		(void)harness_put(h, id, DW_SECONDS(10) + i);
	}
	harness_turn(h);
}

/* keep_claims lets time pass until the timers are claimed, and answers no claim. */
static void keep_claims(struct leased *leased, dw_usec duration)
{
	leased->keeps = true;
	harness_jump(leased->harness, duration);
	assert_int_equal(leased->asked[DW_OP_CLAIM], MANY);
}

/* answer_shard answers the claims of one shard, and what belongs to no shard. */
static void answer_shard(struct leased *leased, unsigned shard)
{
	struct op_queue others = {0};
	dw_op *op;

	for (size_t left = leased->kept.count; left > 0; left--) {
		op = op_queue_pop(&leased->kept);
		op_queue_push(!op->id || op->id[0] == (char)('a' + shard) ? &leased->kept : &others,
			      op);
	}
	leased_speak(leased);
	leased->keeps = true;
	leased->kept = others;
	harness_turn(leased->harness);
}

static void expect_in_order(const struct harness *h)
{
	assert_int_equal(h->start_count, MANY);
	for (size_t i = 1; i < MANY; i++)
		assert_true(h->starts[i - 1].due < h->starts[i].due);
}

static void overdue_timers_of_all_shards_start_in_order(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_over_shards(h);
	keep_claims(&leased, DW_SECONDS(20));
	for (unsigned i = LEASED_SHARDS; i-- > 1;) {
		answer_shard(&leased, i);
		assert_int_equal(h->start_count, 0);
	}
	answer_shard(&leased, 0);
	expect_in_order(h);
	leased_end(&leased);
}

/* A shard that does not answer holds up the others for a moment, and not for good. */
static void shard_without_an_answer_is_waited_for_a_moment(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_over_shards(h);
	keep_claims(&leased, DW_SECONDS(20));
	for (unsigned i = LEASED_SHARDS; i-- > 1;)
		answer_shard(&leased, i);
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_MILLISECONDS(20));
	assert_int_equal(h->start_count, MANY - MANY / LEASED_SHARDS);
	answer_shard(&leased, 0);
	assert_int_equal(h->start_count, MANY);
	leased_end(&leased);
}

/* A timer that was claimed in time is not late because another one's claim is not answered. */
static void timer_claimed_in_time_waits_for_nobody(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	put_over_shards(h);
	keep_claims(&leased, DW_SECONDS(10) - DW_MILLISECONDS(5));
	answer_shard(&leased, 1);
	harness_pass(h, DW_MILLISECONDS(6));
	assert_int_equal(h->start_count, MANY / LEASED_SHARDS);
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(h->start_count, MANY);
	leased_end(&leased);
}

/* Who waits for others starts at once when these are cancelled. */
static void cancelled_timers_are_not_waited_for(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	(void)harness_put(h, "b", DW_SECONDS(1) + 1);
	harness_turn(h);
	leased.keeps = true;
	harness_jump(h, DW_SECONDS(2));
	answer_shard(&leased, 1);
	assert_int_equal(h->start_count, 0);
	assert_int_equal(harness_cancel(h, "a"), DW_OK);
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_starts_of(h, "b"), 1);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(overdue_timers_of_all_shards_start_in_order),
	    cmocka_unit_test(shard_without_an_answer_is_waited_for_a_moment),
	    cmocka_unit_test(timer_claimed_in_time_waits_for_nobody),
	    cmocka_unit_test(cancelled_timers_are_not_waited_for),
	};
	return cmocka_run_group_tests_name("engine_late", tests, NULL, NULL);
}
