/* The end of the lease: deliveries that the program has put into a queue of its own, and whose work
 * begins later; and what the handle says of its health. */
#include "support/cmocka.h"

#include "engine/call/numbers.h"
#include "support/leased.h"

/* start_in_queue: the program has put the delivery into a queue of its own. */
static struct harness *start_in_queue(struct leased *leased)
{
	struct harness *h = leased_begin(leased);

	h->verdict = DW_HOLD_UNSTARTED;
	(void)harness_put(h, "a", 0);
	leased->lease = h->steady + DW_SECONDS(1);
	harness_pass(h, DW_MILLISECONDS(100));
	assert_int_equal(h->start_count, 1);
	return h;
}

static void work_does_not_begin_after_the_end_of_the_lease(void **state)
{
	struct leased leased;
	struct harness *h = start_in_queue(&leased);

	(void)state;
	h->steady = leased.lease;
	assert_int_equal(engine_started(h->engine, &h->starts[0].token), DW_ESTALE);
	leased.lease = h->steady + 1;
	assert_int_equal(engine_started(h->engine, &h->starts[0].token), DW_OK);
	leased_end(&leased);
}

static void delivery_that_did_not_begin_spends_no_retry(void **state)
{
	struct leased leased;
	struct harness *h = start_in_queue(&leased);
	struct done nobody = {0};

	(void)state;
	leased.lease = DW_NEVER;
	assert_int_equal(engine_settle(h->engine, &h->starts[0].token, DW_RETRY, 0, nobody), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 2);
	assert_int_equal(harness_stats(h).retried, 0);
	assert_int_equal(engine_started(h->engine, &h->starts[1].token), DW_OK);
	assert_int_equal(engine_settle(h->engine, &h->starts[1].token, DW_RETRY, 0, nobody), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 3);
	assert_int_equal(harness_stats(h).retried, 1);
	leased_end(&leased);
}

/* What the handle says of its health follows the lease, without anything being asked. */
static void engine_is_not_healthy_after_the_end_of_the_lease(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.lease = h->steady + DW_SECONDS(1);
	harness_turn(h);
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	assert_true(h->armed <= h->wall + DW_SECONDS(1));
	h->steady += DW_SECONDS(1);
	h->wall += DW_SECONDS(1);
	harness_turn(h);
	assert_int_equal(engine_health(h->engine), HEALTH_LEASE);
	leased.lease = h->steady + 1;
	harness_turn(h);
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(work_does_not_begin_after_the_end_of_the_lease),
	    cmocka_unit_test(delivery_that_did_not_begin_spends_no_retry),
	    cmocka_unit_test(engine_is_not_healthy_after_the_end_of_the_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
