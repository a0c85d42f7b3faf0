/* The store as a whole: emptied under a running engine, and looked through. */
#include "support/cmocka.h"

#include <string.h>

#include "support/harness.h"

static int purge(struct harness *h)
{
	assert_int_equal(engine_purge(h->engine, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	return harness_result(h, "").status;
}

static uint64_t timers_of(const struct harness *h)
{
	dw_stats stats = {.size = sizeof stats};

	engine_stats(h->engine, &stats);
	return stats.timers;
}

static void purge_drops_pending_and_claimed(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "pending", DW_HOURS(1));
	(void)harness_put(h, "claimed", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(19));
	assert_int_equal(timers_of(h), 2);
	assert_int_equal(purge(h), DW_OK);
	assert_int_equal(timers_of(h), 0);
	assert_int_equal(engine_check(h->engine), 0);
	harness_pass(h, DW_HOURS(2));
	assert_int_equal(h->start_count, 0);
	(void)harness_put(h, "pending", DW_SECONDS(1)); /* and goes on working */
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void purge_from(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	if (h->start_count == 1)
		assert_int_equal(engine_purge(h->engine, (struct done){harness_done, h}), DW_OK);
}

static void purge_inside_a_handler_ends_its_retry(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_RETRY;
	h->in_handler = purge_from;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "b", DW_SECONDS(1));
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(timers_of(h), 0);
	harness_free(h);
}

static void purge_ends_a_hold(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(purge(h), DW_OK);
	assert_int_equal(engine_settle(h->engine, &h->starts[0].token, DW_RETRY, 0,
				       (struct done){harness_done, h}),
			 DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_ESTALE);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void as_client(struct engine_env *env)
{
	env->role = DW_CLIENT;
}

static void purge_is_the_owners(void **state)
{
	struct harness *h = harness_new_with(as_client);

	(void)state;
	assert_int_equal(engine_purge(h->engine, (struct done){harness_done, h}), DW_EROLE);
	assert_non_null(strstr(engine_error(h->engine), "DW_OWNER"));
	harness_free(h);
}

static void on_check(dw *d, int status, const dw_check_report *report, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	*(dw_check_report *)user = *report;
}

static void check_reports_counts(void **state)
{
	struct harness *h = harness_new();
	dw_check_report report = {0};

	(void)state;
	(void)harness_put(h, "a", DW_HOURS(1));
	(void)harness_put(h, "b", DW_HOURS(1));
	assert_int_equal(engine_check_store(h->engine, on_check, &report), DW_OK);
	harness_turn(h);
	assert_int_equal(report.size, sizeof report);
	assert_int_equal(report.pending, 2);
	assert_int_equal(report.claimed + report.dead + report.inbox, 0);
	assert_int_equal(report.flaw_count, 0);
	assert_int_equal(report.flaws_shown, 0);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(purge_drops_pending_and_claimed),
	    cmocka_unit_test(purge_inside_a_handler_ends_its_retry),
	    cmocka_unit_test(purge_ends_a_hold),
	    cmocka_unit_test(purge_is_the_owners),
	    cmocka_unit_test(check_reports_counts),
	};

	return cmocka_run_group_tests_name("whole", tests, NULL, NULL);
}
