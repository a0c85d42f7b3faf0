#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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

/* ---- Put and cancel ------------------------------------------------------------------------ */

static void put_again_replaces(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	(void)harness_put(h, "a", DW_SECONDS(5));
	harness_pass(h, DW_SECONDS(4));
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void put_claimed_is_withdrawn_and_replaced(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "a", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(19));
	(void)harness_put(h, "a", DW_SECONDS(5));
	harness_pass(h, DW_SECONDS(4));
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void put_new_of_a_taken_id_is_refused(void **state)
{
	struct harness *h = harness_new();
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .flags = DW_NEW};

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	timer.due = h->wall + DW_SECONDS(9);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_EEXIST);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	timer.due = h->wall;
	(void)engine_put(h->engine, &timer, (struct done){harness_done, h});
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(h->start_count, 2);
	harness_free(h);
}

static void cancel_answers_by_state(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_cancel(h, "a");
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_ENOENT);
	(void)harness_put(h, "pending", DW_SECONDS(1));
	(void)harness_put(h, "claimed", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(19));
	(void)harness_cancel(h, "pending");
	(void)harness_cancel(h, "claimed");
	harness_turn(h);
	assert_int_equal(harness_result(h, "pending").status, DW_OK);
	assert_int_equal(harness_result(h, "claimed").status, DW_OK);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 0);
	harness_free(h);
}

static void cancel_self(struct harness *h, const dw_firing *firing)
{
	(void)harness_cancel(h, firing->id);
}

static void cancel_from_its_own_handler_is_late_and_drops_the_retry(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_RETRY;
	h->in_handler = cancel_self;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(harness_result(h, "a").status, DW_ELATE);
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void cancel_before_the_put_is_answered_comes_after_it(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	(void)harness_put(h, "a", 0);
	(void)harness_cancel(h, "a");
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->result_count, 2);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(h->start_count, 0);
	harness_free(h);
}

static void replace_self(struct harness *h, const dw_firing *firing)
{
	if (h->start_count == 1)
		(void)harness_put(h, firing->id, DW_SECONDS(5));
}

static void put_from_its_own_handler_drops_the_old_verdict(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_RETRY;
	h->in_handler = replace_self;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_SECONDS(4));
	assert_int_equal(h->start_count, 1);
	h->verdict = DW_DONE;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 2);
	assert_int_equal(h->starts[1].attempt, 1);
	harness_pass(h, DW_HOURS(1));
	assert_int_equal(h->start_count, 2);
	harness_free(h);
}

static void too_late_is_dead_and_not_delivered(void **state)
{
	struct harness *h = harness_new();
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .late_after_us = 1000};

	(void)state;
	timer.due = h->wall - 1001;
	(void)engine_put(h->engine, &timer, (struct done){NULL, NULL});
	timer.id = "b";
	timer.due = h->wall - 1000;
	(void)engine_put(h->engine, &timer, (struct done){NULL, NULL});
	harness_pass(h, 1);
	assert_int_equal(harness_starts_of(h, "a"), 0);
	assert_int_equal(harness_starts_of(h, "b"), 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	harness_free(h);
}

/* ---- Bad input ----------------------------------------------------------------------------- */

static int put_with(struct harness *h, const char *id, const char *topic)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = topic, .due = h->wall};

	return engine_put(h->engine, &timer, (struct done){harness_done, h});
}

static void names_out_of_bounds_are_refused_in_words(void **state)
{
	struct harness *h = harness_new();
	char id[DW_ID_MAX + 2];
	char topic[DW_TOPIC_MAX + 2];

	(void)state;
	memset(id, 'i', sizeof id);
	memset(topic, 't', sizeof topic);
	id[DW_ID_MAX + 1] = topic[DW_TOPIC_MAX + 1] = '\0';
	assert_int_equal(put_with(h, id, "t"), DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "255"));
	assert_int_equal(put_with(h, "a", topic), DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "63"));
	id[DW_ID_MAX] = topic[DW_TOPIC_MAX] = '\0';
	assert_int_equal(put_with(h, id, topic), DW_OK);
	assert_int_equal(put_with(h, "", "t"), DW_EINVAL);
	assert_int_equal(put_with(h, "a\n", "t"), DW_EINVAL);
	assert_int_equal(put_with(h, "\xff", "t"), DW_EINVAL);
	assert_int_equal(put_with(h, "a", "*"), DW_EINVAL);
	assert_int_equal(put_with(h, "a", NULL), DW_EINVAL);
	assert_int_equal(put_with(h, "{user:7}:*", "t"), DW_OK);
	assert_int_equal(harness_cancel(h, ""), DW_EINVAL);
	harness_free(h);
}

static void small_limits(struct engine_env *env)
{
	env->timers_max = 2;
	env->data_max = 8;
}

static void limits_refuse_and_change_nothing(void **state)
{
	struct harness *h = harness_new_with(small_limits);
	dw_timer timer = {
	    .size = sizeof timer, .id = "c", .topic = "t", .data = "123456789", .data_size = 9};

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	(void)harness_put(h, "b", DW_SECONDS(1));
	assert_int_equal(harness_put(h, "c", DW_SECONDS(1)), DW_ELIMIT);
	assert_int_equal(harness_put(h, "a", DW_SECONDS(2)), DW_OK);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_EINVAL);
	harness_turn(h);
	assert_int_equal(h->result_count, 3);
	harness_free(h);
}

static void turn_in_handler(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	assert_int_equal(engine_turn(h->engine), DW_EBUSY);
}

static void turn_inside_a_callback_is_refused(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->in_handler = turn_in_handler;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

/* Every allocation of a day in the life fails once, then all from it on: nothing accepted is lost. */
static void live_with_failures(size_t nth, int always, int *ret_failed)
{
	struct harness *h = harness_new();
	char id[16];
	int accepted[20];

	h->fail_at = h->allocations + nth;
	h->fail_always = always;
	for (int i = 0; i < 20; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		accepted[i] = harness_put(h, id, DW_MILLISECONDS(i * 3)) == DW_OK;
	}
	harness_pass(h, DW_MILLISECONDS(30));
	*ret_failed = h->allocations >= h->fail_at;
	h->fail_at = 0;
	harness_pass(h, DW_MINUTES(2));
	for (int i = 0; i < 20; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		if (!accepted[i] || harness_result(h, id).status != DW_OK)
			assert_int_equal(harness_starts_of(h, id), 0);
		else
			assert_int_equal(harness_starts_of(h, id), 1);
	}
	harness_free(h);
}

static void allocation_that_fails_loses_nothing(void **state)
{
	int failed = 1;

	(void)state;
	for (size_t nth = 1; failed; nth++) {
		live_with_failures(nth, 0, &failed);
		live_with_failures(nth, 1, &failed);
	}
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
	    cmocka_unit_test(retry_in_sets_the_delay),
	    cmocka_unit_test(hold_settled_done_is_over),
	    cmocka_unit_test(hold_not_settled_is_delivered_again),
	    cmocka_unit_test(holds_beyond_the_limit_are_delivered_again),
	    cmocka_unit_test(topic_without_handler_is_kept_and_reported_once),
	    cmocka_unit_test(star_handles_what_has_no_handler),
	    cmocka_unit_test(handler_taken_away_gives_the_claim_back),
	    cmocka_unit_test(put_again_replaces),
	    cmocka_unit_test(put_claimed_is_withdrawn_and_replaced),
	    cmocka_unit_test(put_new_of_a_taken_id_is_refused),
	    cmocka_unit_test(cancel_answers_by_state),
	    cmocka_unit_test(cancel_from_its_own_handler_is_late_and_drops_the_retry),
	    cmocka_unit_test(cancel_before_the_put_is_answered_comes_after_it),
	    cmocka_unit_test(put_from_its_own_handler_drops_the_old_verdict),
	    cmocka_unit_test(too_late_is_dead_and_not_delivered),
	    cmocka_unit_test(names_out_of_bounds_are_refused_in_words),
	    cmocka_unit_test(limits_refuse_and_change_nothing),
	    cmocka_unit_test(turn_inside_a_callback_is_refused),
	    cmocka_unit_test(allocation_that_fails_loses_nothing),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
