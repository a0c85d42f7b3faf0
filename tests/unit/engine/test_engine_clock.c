/* A wall clock that is set by years: forward, as on a board that boots in 1970 and asks the network
 * for the time, back, and both, with timers in each of their states. */
#include "support/cmocka.h"

#include <stdio.h>

#include "base/usec.h"
#include "support/harness.h"

#define YEAR DW_DAYS(365)
#define MANY 2000

/* set_clock sets the wall clock alone, and lets the engine see it. */
static void set_clock(struct harness *h, dw_usec step)
{
	h->wall = usec_add(h->wall, step);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
}

static void put_many(struct harness *h, dw_usec apart)
{
	char id[16];

	for (int i = 0; i < MANY; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(harness_put(h, id, apart * (MANY - i)), DW_OK);
	}
	harness_turn(h);
}

static void assert_each_once_in_order(const struct harness *h)
{
	assert_int_equal(h->start_count, MANY);
	for (size_t i = 1; i < h->start_count; i++)
		assert_true(h->starts[i - 1].due < h->starts[i].due);
}

static void forward_a_year_fires_all_once_in_order(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	put_many(h, YEAR / MANY);
	set_clock(h, YEAR);
	assert_each_once_in_order(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_CLOCK_STEPPED), 1);
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(h->start_count, MANY);
	harness_free(h);
}

static void forward_from_1970_fires_all_once_in_order(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	set_clock(h, -h->wall);
	put_many(h, DW_SECONDS(10));
	set_clock(h, HARNESS_START + 50 * YEAR);
	assert_each_once_in_order(h);
	harness_free(h);
}

static void back_a_year_fires_nothing_until_the_time_comes(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	put_many(h, DW_MILLISECONDS(2)); /* some of them are claimed already */
	set_clock(h, -YEAR);
	harness_pass(h, DW_MINUTES(10));
	assert_int_equal(h->start_count, 0);
	/* What is new is in time by the clock as it is. */
	assert_int_equal(harness_put(h, "new", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_starts_of(h, "new"), 1);
	/* What was claimed before the step can still be cancelled. */
	assert_int_equal(harness_cancel(h, "1999"), DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "1999").status, DW_OK);
	h->start_count = 0;
	set_clock(h, YEAR);
	assert_int_equal(h->start_count, MANY - 1);
	assert_int_equal(harness_starts_of(h, "1999"), 0);
	harness_free(h);
}

static void back_and_forth_fires_each_once(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	put_many(h, DW_DAYS(1)); /* over five years and a half */
	for (int i = 0; i < 4; i++) {
		set_clock(h, YEAR * 3 / 2);
		set_clock(h, -YEAR);
	}
	set_clock(h, 6 * YEAR);
	assert_each_once_in_order(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_CLOCK_STEPPED), 9);
	harness_free(h);
}

static void back_a_year_does_not_prolong_a_hold(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	assert_int_equal(harness_put(h, "a", 0), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	set_clock(h, -YEAR);
	harness_pass(h, DW_SECONDS(31));
	assert_int_equal(harness_events_of(h, DW_EVENT_HOLD_EXPIRED), 1);
	harness_free(h);
}

static void forward_a_year_buries_what_is_too_late(void **state)
{
	struct harness *h = harness_new();
	dw_timer timer = {.size = sizeof timer,
			  .id = "reminder",
			  .topic = "t",
			  .due = usec_add(h->wall, DW_DAYS(1)),
			  .late_after_us = DW_HOURS(6)};

	(void)state;
	assert_int_equal(engine_put(h->engine, &timer, (struct done){0}), DW_OK);
	harness_turn(h);
	set_clock(h, YEAR);
	assert_int_equal(h->start_count, 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	harness_free(h);
}

static void back_to_the_beginning_of_time_is_told_in_words(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	h->wall = INT64_MIN; /* by a hook */
	harness_turn(h);
	assert_string_equal(h->message, "the wall clock was set 9223372036854775807 us back");
	assert_int_equal(h->start_count, 0);
	h->wall = HARNESS_START + DW_SECONDS(1);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(engine_check(h->engine), 0);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(forward_a_year_fires_all_once_in_order),
	    cmocka_unit_test(forward_from_1970_fires_all_once_in_order),
	    cmocka_unit_test(back_a_year_fires_nothing_until_the_time_comes),
	    cmocka_unit_test(back_and_forth_fires_each_once),
	    cmocka_unit_test(back_a_year_does_not_prolong_a_hold),
	    cmocka_unit_test(forward_a_year_buries_what_is_too_late),
	    cmocka_unit_test(back_to_the_beginning_of_time_is_told_in_words),
	};

	return cmocka_run_group_tests_name("engine_clock", tests, NULL, NULL);
}
