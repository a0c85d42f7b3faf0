/* The wall clock was far ahead for two seconds, and is right again: what was computed meanwhile
 * does not wait until then. What somebody has given does. */
#include "support/cmocka.h"

#include <stdio.h>

#include "base/usec.h"
#include "support/harness.h"
#include "support/leased.h"

#define AHEAD DW_DAYS(30)

static void put_rule(struct harness *h, const char *id, const dw_rule *rule)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .rule = rule};

	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, id).status, DW_OK);
}

static void set_clock(struct harness *h, dw_usec step)
{
	h->wall = usec_add(h->wall, step);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
}

/* set_clock_unseen: no owner sees the step. */
static void set_clock_unseen(struct harness *h, dw_usec step)
{
	h->wall = usec_add(h->wall, step);
	harness_restart(h);
}

static const dw_rule second = {.size = sizeof second, .every = DW_SECONDS(1)};
static const dw_rule daily = {.size = sizeof daily, .cron = "0 9 * * *"};

static void rules_go_on(struct harness *h, void (*set)(struct harness *, dw_usec))
{
	size_t before;

	put_rule(h, "second", &second);
	put_rule(h, "daily", &daily);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(harness_starts_of(h, "second"), 10);
	set(h, AHEAD);
	harness_pass(h, DW_SECONDS(2));
	set(h, -AHEAD);
	before = harness_starts_of(h, "second");
	harness_pass(h, DW_SECONDS(10));
	assert_in_range(harness_starts_of(h, "second"), before + 9, before + 11);
	assert_int_equal(harness_cancel(h, "second"), DW_OK);
	before = harness_starts_of(h, "daily");
	harness_pass(h, DW_HOURS(25));
	assert_in_range(harness_starts_of(h, "daily"), before + 1, before + 2);
	assert_int_equal(engine_check(h->engine), 0);
}

static void rules_go_on_after_a_clock_was_ahead(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	rules_go_on(h, set_clock);
	harness_free(h);
}

static void an_owner_that_has_not_seen_the_step_goes_on_too(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	rules_go_on(h, set_clock_unseen);
	harness_free(h);
}

/* A rule that was put by the wrong clock begins by the right one. */
static void rule_that_was_put_ahead_begins_again(void **state)
{
	dw_rule twice = {.size = sizeof twice, .every = DW_SECONDS(1), .count = 2};
	struct harness *h = harness_new();

	(void)state;
	set_clock(h, AHEAD);
	put_rule(h, "second", &second);
	put_rule(h, "twice", &twice);
	set_clock(h, -AHEAD);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(harness_starts_of(h, "second"), 5);
	assert_int_equal(harness_starts_of(h, "twice"), 2);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(harness_starts_of(h, "twice"), 2);
	harness_free(h);
}

/* The clock is set back at each moment of an occurrence: also while it is claimed, or its verdict
 * is being stored. */
static void rule_goes_on_whenever_the_clock_is_set_back(void **state)
{
	const dw_usec step = DW_MILLISECONDS(1);

	(void)state;
	for (dw_usec early = -step; early < DW_MILLISECONDS(8); early += step) {
		struct harness *h = harness_new();
		size_t before;

		set_clock(h, AHEAD);
		put_rule(h, "second", &second);
		harness_pass(h, DW_SECONDS(1) - early);
		set_clock(h, -AHEAD);
		before = harness_starts_of(h, "second");
		harness_pass(h, DW_SECONDS(10));
		assert_in_range(harness_starts_of(h, "second"), before + 7, before + 11);
		harness_free(h);
	}
}

/* The handler of the first occurrence runs while the clock is set back. What was delivered by the
 * wrong clock counts. */
static void rule_that_was_put_and_delivered_ahead_begins_again(void **state)
{
	dw_rule twice = {.size = sizeof twice, .every = DW_SECONDS(1), .count = 2};
	struct harness *h = harness_new();

	(void)state;
	set_clock(h, AHEAD);
	put_rule(h, "second", &second);
	put_rule(h, "twice", &twice);
	h->verdict = DW_HOLD;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 2);
	set_clock(h, -AHEAD);
	h->verdict = DW_DONE;
	assert_int_equal(harness_settle(h, 0), DW_OK);
	assert_int_equal(harness_settle(h, 1), DW_OK);
	harness_turn(h);
	harness_pass(h, DW_SECONDS(5));
	assert_in_range(harness_starts_of(h, "second"), 5, 7);
	assert_int_equal(harness_starts_of(h, "twice"), 2);
	assert_int_equal(engine_check(h->engine), 0);
	harness_free(h);
}

/* It has been delivered once, and the second occurrence is pending. */
static void count_of_a_rule_that_was_put_ahead_is_kept(void **state)
{
	dw_rule thrice = {.size = sizeof thrice, .every = DW_SECONDS(1), .count = 3};
	struct harness *h = harness_new();

	(void)state;
	set_clock(h, AHEAD);
	put_rule(h, "thrice", &thrice);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	set_clock(h, -AHEAD);
	harness_pass(h, DW_SECONDS(9));
	assert_int_equal(h->start_count, 3);
	harness_free(h);
}

/* It has begun by the right clock, and keeps its times. */
static void rule_that_began_before_keeps_its_times(void **state)
{
	dw_rule hourly = {.size = sizeof hourly, .every = DW_HOURS(1), .count = 5};
	struct harness *h = harness_new();
	size_t before;

	(void)state;
	put_rule(h, "hourly", &hourly);
	harness_pass(h, DW_MINUTES(90));
	assert_int_equal(harness_starts_of(h, "hourly"), 1);
	set_clock(h, DW_HOURS(4) - DW_MINUTES(45)); /* its last occurrence is to come */
	harness_pass(h, DW_SECONDS(2));
	before = harness_starts_of(h, "hourly");
	set_clock(h, DW_MINUTES(45) - DW_HOURS(4));
	harness_pass(h, DW_MINUTES(30));
	assert_int_equal(harness_starts_of(h, "hourly"), before + 1);
	harness_pass(h, DW_HOURS(9));
	assert_int_equal(harness_starts_of(h, "hourly"), before + 4);
	harness_free(h);
}

/* It counts as missed while the clock is ahead, and the store refuses the step to the next one. */
static void occurrence_that_is_not_missed_any_more_comes(void **state)
{
	dw_rule hourly = {.size = sizeof hourly, .every = DW_HOURS(1), .missed = DW_MISSED_SKIP};
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	put_rule(h, "hourly", &hourly);
	leased.keeps = true;
	set_clock(h, AHEAD);
	leased_speak(&leased); /* the claim */
	leased.keeps = true;
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_NEXT], 1);
	leased_say(&leased, op_queue_pop(&leased.kept), DW_ESTORE);
	harness_turn(h);
	set_clock(h, -AHEAD);
	leased.keeps = false;
	leased_speak(&leased);
	harness_pass(h, DW_MINUTES(59));
	assert_int_equal(leased.asked[DW_OP_NEXT], 1);
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* Its handler runs while the clock is set back. */
static void delivery_that_saw_the_step_goes_on(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	put_rule(h, "second", &second);
	set_clock(h, AHEAD);
	h->verdict = DW_HOLD;
	harness_pass(h, DW_SECONDS(2));
	assert_true(h->start_count > 0);
	set_clock(h, -AHEAD);
	h->verdict = DW_DONE;
	assert_int_equal(harness_settle(h, h->start_count - 1), DW_OK);
	harness_turn(h);
	harness_pass(h, DW_SECONDS(5));
	assert_in_range(h->start_count, 5, 7);
	harness_free(h);
}

/* An hour, as when summer ends and the clock is a local one: nothing comes again. */
static void small_step_back_repeats_nothing(void **state)
{
	dw_rule minute = {.size = sizeof minute, .every = DW_MINUTES(1)};
	struct harness *h = harness_new();

	(void)state;
	put_rule(h, "minute", &minute);
	harness_pass(h, DW_MINUTES(10));
	assert_int_equal(h->start_count, 10);
	set_clock(h, -DW_HOURS(2));
	harness_pass(h, DW_HOURS(2));
	assert_int_equal(h->start_count, 10);
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(h->start_count, 11);
	harness_free(h);
}

static void occurrence_that_was_moved_stays(void **state)
{
	struct harness *h = harness_new();
	dw_usec due;

	(void)state;
	set_clock(h, AHEAD);
	put_rule(h, "second", &second);
	due = h->wall + DW_MINUTES(1);
	assert_int_equal(engine_move(h->engine, "second", due, (struct done){harness_done, h}),
			 DW_OK);
	harness_turn(h);
	set_clock(h, -AHEAD);
	harness_pass(h, DW_DAYS(29));
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_DAYS(1) + DW_MINUTES(1));
	assert_int_equal(h->starts[0].due, due);
	harness_free(h);
}

/* The occurrences that the clock has passed over are late, and none is missed. */
static void count_of_a_rule_is_kept_after_a_step_forward(void **state)
{
	dw_rule thrice = {.size = sizeof thrice, .every = DW_SECONDS(1), .count = 3};
	const dw_usec steps[] = {DW_MILLISECONDS(1500), DW_SECONDS(2), DW_SECONDS(10)};

	(void)state;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		struct harness *h = harness_new();

		put_rule(h, "thrice", &thrice);
		harness_pass(h, DW_MILLISECONDS(500));
		set_clock(h, steps[i]);
		harness_pass(h, DW_SECONDS(5));
		assert_int_equal(h->start_count, 3);
		harness_free(h);
	}
}

/* ---- Retries ------------------------------------------------------------------------------- */

static void give_a_day(struct harness *h, const dw_firing *firing)
{
	if (firing->id[0] == 'g')
		assert_int_equal(engine_retry_in(h->engine, DW_DAYS(1)), DW_OK);
}

static void retries_go_on(struct harness *h, void (*set)(struct harness *, dw_usec))
{
	dw_usec given;

	h->verdict = DW_RETRY;
	h->in_handler = give_a_day;
	set(h, AHEAD);
	assert_int_equal(harness_put(h, "computed", 0), DW_OK);
	assert_int_equal(harness_put(h, "given", 0), DW_OK);
	given = h->wall + DW_DAYS(1);
	harness_turn(h);
	assert_int_equal(h->start_count, 2);
	h->verdict = DW_DONE;
	set(h, -AHEAD);
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(harness_starts_of(h, "computed"), 2);
	harness_jump(h, DW_DAYS(30));
	assert_int_equal(harness_starts_of(h, "given"), 1);
	harness_jump(h, given - h->wall - 1);
	assert_int_equal(harness_starts_of(h, "given"), 1);
	harness_jump(h, 2);
	assert_int_equal(harness_starts_of(h, "given"), 2);
	assert_int_equal(engine_check(h->engine), 0);
}

static void computed_retries_go_on(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	retries_go_on(h, set_clock);
	harness_free(h);
}

static void computed_retries_go_on_with_the_next_owner(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	retries_go_on(h, set_clock_unseen);
	harness_free(h);
}

/* The clock is right, and the handler's delay is a long one. */
static void given_delay_is_kept(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_RETRY;
	h->in_handler = give_a_day;
	for (int i = 0; i < 20; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "g%d", i);
		assert_int_equal(harness_put(h, id, i), DW_OK);
	}
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 20);
	harness_restart(h);
	harness_jump(h, DW_HOURS(23));
	assert_int_equal(h->start_count, 20);
	harness_jump(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 40);
	harness_free(h);
}

/* ---- Series of puts ------------------------------------------------------------------------ */

/* put_series: due 5 s after the last put, but at most 12 s after the first one. */
static void put_series(struct harness *h, unsigned flags)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = "series",
			  .topic = "t",
			  .due = h->wall + DW_SECONDS(5),
			  .flags = flags,
			  .wait_max_us = DW_SECONDS(12)};

	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "series").status, DW_OK);
}

static void series_goes_on(unsigned flags)
{
	struct harness *h = harness_new();

	set_clock(h, AHEAD);
	put_series(h, flags);
	set_clock(h, -AHEAD);
	put_series(h, flags);
	harness_pass(h, DW_SECONDS(4));
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void series_that_began_ahead_goes_on(void **state)
{
	(void)state;
	series_goes_on(DW_DUE_LATEST);
	series_goes_on(DW_DUE_LATEST | DW_DATA_FIRST);
}

/* A series that never rests ends wait_max_us after the clock was right. */
static void series_that_began_ahead_ends(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	set_clock(h, AHEAD);
	put_series(h, DW_DUE_LATEST);
	set_clock(h, -AHEAD);
	for (int i = 0; i < 3; i++) {
		put_series(h, DW_DUE_LATEST);
		assert_int_equal(h->start_count, 0);
		harness_pass(h, DW_SECONDS(4));
	}
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rules_go_on_after_a_clock_was_ahead),
	    cmocka_unit_test(an_owner_that_has_not_seen_the_step_goes_on_too),
	    cmocka_unit_test(rule_that_was_put_ahead_begins_again),
	    cmocka_unit_test(rule_that_was_put_and_delivered_ahead_begins_again),
	    cmocka_unit_test(rule_goes_on_whenever_the_clock_is_set_back),
	    cmocka_unit_test(count_of_a_rule_that_was_put_ahead_is_kept),
	    cmocka_unit_test(rule_that_began_before_keeps_its_times),
	    cmocka_unit_test(occurrence_that_is_not_missed_any_more_comes),
	    cmocka_unit_test(delivery_that_saw_the_step_goes_on),
	    cmocka_unit_test(small_step_back_repeats_nothing),
	    cmocka_unit_test(occurrence_that_was_moved_stays),
	    cmocka_unit_test(count_of_a_rule_is_kept_after_a_step_forward),
	    cmocka_unit_test(computed_retries_go_on),
	    cmocka_unit_test(computed_retries_go_on_with_the_next_owner),
	    cmocka_unit_test(given_delay_is_kept),
	    cmocka_unit_test(series_that_began_ahead_goes_on),
	    cmocka_unit_test(series_that_began_ahead_ends),
	};

	return cmocka_run_group_tests_name("engine_derive", tests, NULL, NULL);
}
