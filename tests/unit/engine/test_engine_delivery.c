/* When and how often a handler is started. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/core.h"
#include "support/harness.h"

/* ---- Firing -------------------------------------------------------------------------------- */

static void put_due_fires_once_at_its_deadline(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	assert_int_equal(harness_put(h, "a", DW_SECONDS(10)), DW_OK);
	harness_pass(h, DW_SECONDS(10) - 1);
	assert_int_equal(h->start_count, 0);
	harness_pass(h, 1);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(h->starts[0].now, HARNESS_START + DW_SECONDS(10));
	assert_int_equal(h->starts[0].attempt, 1);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void put_past_fires_at_once_but_not_inside_the_call(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	assert_int_equal(harness_put(h, "a", -DW_HOURS(1)), DW_OK);
	assert_int_equal(h->start_count, 0);
	assert_int_equal(h->result_count, 0);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	harness_free(h);
}

static void equal_deadlines_fire_in_order_of_insertion(void **state)
{
	struct harness *h = harness_new();
	char id[16];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(harness_put(h, id, DW_SECONDS(10 + i % 3)), DW_OK);
	}
	harness_pass(h, DW_SECONDS(20));
	assert_int_equal(h->start_count, 1000);
	for (size_t i = 1; i < 1000; i++) {
		const struct start *a = &h->starts[i - 1];
		const struct start *b = &h->starts[i];

		assert_true(a->due < b->due ||
			    (a->due == b->due && a->token.generation < b->token.generation));
	}
	harness_free(h);
}

static void put_by_handler(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	if (h->start_count == 1)
		(void)harness_put(h, "child", -1);
}

static void turns_needed(struct harness *h, size_t starts, int *ret_turns)
{
	*ret_turns = 0;
	while (h->start_count < starts && *ret_turns < 10) {
		(void)engine_turn(h->engine);
		(*ret_turns)++;
	}
}

static void timer_of_a_handler_fires_in_a_later_turn(void **state)
{
	struct harness *h = harness_new();
	int turns;

	(void)state;
	h->in_handler = put_by_handler;
	(void)harness_put(h, "a", -1);
	turns_needed(h, 1, &turns);
	assert_int_equal(h->start_count, 1);
	turns_needed(h, 2, &turns);
	assert_int_equal(h->start_count, 2);
	assert_true(turns >= 1);
	harness_free(h);
}

static void far_deadlines_fire_on_time(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "month", DW_DAYS(30));
	(void)harness_put(h, "century", DW_DAYS(36525));
	(void)harness_put(h, "never", INT64_MAX);
	harness_jump(h, DW_DAYS(30) - 1);
	assert_int_equal(h->start_count, 0);
	harness_jump(h, 1);
	assert_int_equal(h->start_count, 1);
	harness_jump(h, DW_DAYS(36495) - 1);
	assert_int_equal(h->start_count, 1);
	harness_jump(h, 1);
	assert_int_equal(h->start_count, 2);
	harness_free(h);
}

static void clock_stepped_back_does_not_fire_early(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "a", DW_MILLISECONDS(6));
	harness_turn(h);
	harness_pass(h, DW_MILLISECONDS(5)); /* claimed by now */
	h->wall -= DW_HOURS(1);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_CLOCK_STEPPED), 1);
	harness_pass(h, DW_MILLISECONDS(1));
	assert_int_equal(h->start_count, 1);
	assert_true(h->starts[0].now >= h->starts[0].due);
	harness_free(h);
}

static void step_back(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	if (h->start_count == 1)
		h->wall -= DW_SECONDS(1);
}

static void clock_stepped_back_inside_a_handler_holds_the_next(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->in_handler = step_back;
	(void)harness_put(h, "a", DW_SECONDS(1));
	(void)harness_put(h, "b", DW_SECONDS(1));
	harness_jump(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	harness_jump(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 2);
	assert_true(h->starts[1].now >= h->starts[1].due);
	harness_free(h);
}

static void turn_of_many_due_is_bounded(void **state)
{
	struct harness *h = harness_new();
	char id[16];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_SECONDS(1));
	}
	harness_turn(h);
	h->wall += DW_SECONDS(2);
	h->steady += DW_SECONDS(2);
	for (size_t before = 0; h->start_count < 3000; before = h->start_count) {
		(void)engine_turn(h->engine);
		assert_true(h->start_count - before <= 256);
	}
	harness_free(h);
}

/* ---- Verdicts ------------------------------------------------------------------------------ */

static void retry_comes_back_doubled_and_dies_after_16(void **state)
{
	struct harness *h = harness_new();
	dw_usec base = DW_SECONDS(1);

	(void)state;
	h->verdict = DW_RETRY;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_HOURS(4));
	assert_int_equal(h->start_count, 1 + DW_RETRIES_MAX);
	for (size_t i = 1; i < h->start_count; i++) {
		dw_usec delay = h->starts[i].now - h->starts[i - 1].now;
		dw_usec want = base << (i - 1) < DW_MINUTES(5) ? base << (i - 1) : DW_MINUTES(5);

		assert_in_range(delay, want - want / 5, want + want / 5);
		assert_int_equal(h->starts[i].attempt, i + 1);
	}
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	harness_free(h);
}

static void verdict_dead_buries_at_once(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_DEAD;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	assert_string_equal(h->message, "a is dead: GAVE_UP");
	assert_int_equal(harness_stats(h).dead, 1);
	assert_int_equal(harness_stats(h).settled, 0);
	harness_free(h);
}

static void held_one_may_be_given_up(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(engine_settle(h->engine, &h->starts[0].token, DW_DEAD, -1,
				       (struct done){harness_done, h}),
			 DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	assert_string_equal(h->message, "a is dead: GAVE_UP");
	harness_free(h);
}

static void cancel_in_handler(struct harness *h, const dw_firing *firing)
{
	assert_int_equal(harness_cancel(h, firing->id), DW_OK);
}

static void cancelled_one_is_not_given_up(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_DEAD;
	h->in_handler = cancel_in_handler;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 0);
	assert_int_equal(harness_stats(h).settled, 1);
	harness_free(h);
}

static void own_delay(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	assert_int_equal(engine_retry_in(h->engine, -1), DW_EINVAL);
	assert_int_equal(engine_retry_in(h->engine, DW_MILLISECONDS(7)), DW_OK);
}

static void retry_in_sets_the_delay(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	assert_int_equal(engine_retry_in(h->engine, 1), DW_EINVAL);
	h->verdict = DW_RETRY;
	h->in_handler = own_delay;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_MILLISECONDS(7));
	assert_int_equal(h->start_count, 2);
	assert_int_equal(h->starts[1].now - h->starts[0].now, DW_MILLISECONDS(7));
	harness_free(h);
}

static void hold_settled_done_is_over(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_SECONDS(29));
	assert_int_equal(h->start_count, 1);
	h->result_count = 0;
	assert_int_equal(engine_settle(h->engine, &h->starts[0].token, DW_DONE, -1,
				       (struct done){harness_done, h}),
			 DW_OK);
	assert_int_equal(h->result_count, 0);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(engine_settle(h->engine, &h->starts[0].token, DW_DONE, -1,
				       (struct done){harness_done, h}),
			 DW_ESTALE);
	harness_free(h);
}

static void hold_not_settled_is_delivered_again(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_SECONDS(31));
	assert_int_equal(h->start_count, 2);
	assert_int_equal(h->starts[1].attempt, 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_HOLD_EXPIRED), 1);
	assert_int_equal(
	    engine_settle(h->engine, &h->starts[0].token, DW_DONE, -1, (struct done){NULL, NULL}),
	    DW_ESTALE);
	harness_free(h);
}

static void holds_beyond_the_limit_are_delivered_again(void **state)
{
	struct harness *h = harness_new();
	dw_stats stats = {.size = sizeof stats};
	char id[16];

	(void)state;
	h->verdict = DW_HOLD;
	for (int i = 0; i < DW_HOLDS_MAX + 10; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, 0);
	}
	harness_turn(h);
	engine_stats(h->engine, &stats);
	assert_int_equal(stats.held, DW_HOLDS_MAX);
	assert_int_equal(harness_events_of(h, DW_EVENT_LIMIT), 10);
	assert_int_equal(stats.timers, DW_HOLDS_MAX + 10);
	assert_int_equal(index_find(&h->engine->timers.index, id)->head.retries, 0);
	harness_free(h);
}

/* ---- Topics -------------------------------------------------------------------------------- */

static void topic_without_handler_is_kept_and_reported_once(void **state)
{
	struct harness *h = harness_new_with(NULL);
	dw_stats stats = {.size = sizeof stats};

	(void)state;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "b", 0);
	harness_pass(h, DW_HOURS(1));
	engine_stats(h->engine, &stats);
	assert_int_equal(stats.unhandled, 2);
	assert_int_equal(stats.timers, 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_NO_HANDLER), 1);
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 2);
	assert_string_equal(h->starts[0].id, "a");
	assert_int_equal(h->starts[0].attempt, 1);
	harness_free(h);
}

static uint64_t unhandled(struct harness *h)
{
	dw_stats stats = {.size = sizeof stats};

	engine_stats(h->engine, &stats);
	return stats.unhandled;
}

static void topic_without_handler_is_looked_at_again_after_a_step_back(void **state)
{
	struct harness *h = harness_new_with(NULL);
	char id[16];

	(void)state;
	for (int i = 0; i < 3000; i++) { /* more than one turn looks at */
		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_SECONDS(i % 3));
	}
	harness_jump(h, DW_SECONDS(10));
	assert_int_equal(unhandled(h), 3000);
	h->wall -= DW_SECONDS(9);
	harness_turn(h);
	assert_int_equal(unhandled(h), 2000); /* due in second 0 and second 1 */
	assert_int_equal(engine_check(h->engine), 0);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(unhandled(h), 3000);
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 3000);
	harness_free(h);
}

static void star_handles_what_has_no_handler(void **state)
{
	struct harness *h = harness_new_with(NULL);

	(void)state;
	assert_int_equal(engine_on(h->engine, "*", harness_handler, h), DW_OK);
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void handler_taken_away_gives_the_claim_back(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "a", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(16)); /* claimed */
	assert_int_equal(engine_on(h->engine, "t", NULL, NULL), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 0);
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

/* ---- Pausing ------------------------------------------------------------------------------- */

static void pause_in_handler(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	if (h->start_count == 2)
		engine_pause(h->engine, true);
}

static void paused_in_a_handler_starts_nothing_until_resumed(void **state)
{
	struct harness *h = harness_new();
	dw_stats stats = {.size = sizeof stats};
	char id[16];

	(void)state;
	h->verdict = DW_HOLD;
	h->in_handler = pause_in_handler;
	for (int i = 0; i < 5; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_SECONDS(1));
	}
	(void)harness_put(h, "later", DW_SECONDS(2));
	harness_pass(h, DW_MINUTES(5));
	assert_int_equal(h->start_count, 2);
	assert_true(h->armed > h->wall); /* it does not spin */
	engine_stats(h->engine, &stats);
	assert_int_equal(stats.held, 2); /* the time-out of the holds waits, too */
	assert_int_equal(
	    engine_settle(h->engine, &h->starts[0].token, DW_DONE, -1, (struct done){0}), DW_OK);
	harness_turn(h);
	engine_stats(h->engine, &stats);
	assert_int_equal(stats.settled, 1); /* a verdict does not wait */
	engine_pause(h->engine, false);
	harness_turn(h);
	assert_string_equal(h->starts[2].id, "2");
	assert_string_equal(h->starts[4].id, "4");
	assert_string_equal(h->starts[5].id, "later");
	assert_int_equal(h->starts[5].attempt, 1);
	harness_free(h);
}

static void paused_before_the_deadline_leaves_it_unclaimed(void **state)
{
	struct harness *h = harness_new();
	dw_stats before = {.size = sizeof before};
	dw_stats behind = {.size = sizeof behind};

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	engine_pause(h->engine, true);
	engine_stats(h->engine, &before);
	harness_pass(h, DW_MILLISECONDS(1500)); /* the owner reports every 2 s */
	engine_stats(h->engine, &behind);
	assert_int_equal(behind.store_operations, before.store_operations);
	engine_pause(h->engine, false);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(put_due_fires_once_at_its_deadline),
	    cmocka_unit_test(put_past_fires_at_once_but_not_inside_the_call),
	    cmocka_unit_test(equal_deadlines_fire_in_order_of_insertion),
	    cmocka_unit_test(timer_of_a_handler_fires_in_a_later_turn),
	    cmocka_unit_test(far_deadlines_fire_on_time),
	    cmocka_unit_test(clock_stepped_back_does_not_fire_early),
	    cmocka_unit_test(clock_stepped_back_inside_a_handler_holds_the_next),
	    cmocka_unit_test(turn_of_many_due_is_bounded),
	    cmocka_unit_test(retry_comes_back_doubled_and_dies_after_16),
	    cmocka_unit_test(verdict_dead_buries_at_once),
	    cmocka_unit_test(held_one_may_be_given_up),
	    cmocka_unit_test(cancelled_one_is_not_given_up),
	    cmocka_unit_test(retry_in_sets_the_delay),
	    cmocka_unit_test(hold_settled_done_is_over),
	    cmocka_unit_test(hold_not_settled_is_delivered_again),
	    cmocka_unit_test(holds_beyond_the_limit_are_delivered_again),
	    cmocka_unit_test(topic_without_handler_is_kept_and_reported_once),
	    cmocka_unit_test(topic_without_handler_is_looked_at_again_after_a_step_back),
	    cmocka_unit_test(star_handles_what_has_no_handler),
	    cmocka_unit_test(handler_taken_away_gives_the_claim_back),
	    cmocka_unit_test(paused_in_a_handler_starts_nothing_until_resumed),
	    cmocka_unit_test(paused_before_the_deadline_leaves_it_unclaimed),
	};

	return cmocka_run_group_tests_name("engine_delivery", tests, NULL, NULL);
}
