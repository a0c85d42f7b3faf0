/* What a put, a cancel and their like answer in every state; bad input; lack of memory. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/harness.h"

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

static void put_hurried(struct harness *h, const char *id)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = h->wall + DW_SECONDS(1),
			  .late_after_us = 1000};

	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_OK);
}

static void retry_in_10_s(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	assert_int_equal(engine_retry_in(h->engine, DW_SECONDS(10)), DW_OK);
}

static void retry_has_a_deadline_of_its_own_and_is_late_by_that(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_RETRY;
	h->in_handler = retry_in_10_s;
	put_hurried(h, "a");
	harness_pass(h, DW_SECONDS(11));
	assert_int_equal(h->start_count, 2); /* 10 s after the first deadline, and not late */
	assert_true(h->starts[1].due == HARNESS_START + DW_SECONDS(11));
	harness_jump(h, DW_SECONDS(10) + 1001);
	assert_int_equal(h->start_count, 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	harness_free(h);
}

static void expired_hold_has_a_deadline_of_its_own(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	put_hurried(h, "a");
	harness_pass(h, DW_SECONDS(31));
	assert_int_equal(h->start_count, 2);
	assert_true(h->starts[0].due == HARNESS_START + DW_SECONDS(1));
	assert_true(h->starts[1].due == HARNESS_START + DW_SECONDS(31));
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 0);
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
	int absent = 0;

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	(void)harness_put(h, "b", DW_SECONDS(1));
	assert_int_equal(harness_put(h, "c", DW_SECONDS(1)), DW_ELIMIT);
	assert_int_equal(harness_put(h, "a", DW_SECONDS(2)), DW_OK);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_EINVAL);
	assert_int_equal(harness_cancel(h, "c"), DW_OK); /* it needs no room */
	harness_turn(h);
	assert_int_equal(h->result_count, 4);
	for (size_t i = 0; i < h->result_count; i++)
		absent += h->results[i].status == DW_ENOENT;
	assert_int_equal(absent, 1);
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

/* Each allocation fails once, then all from it on: nothing that was accepted is lost. */
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
	    cmocka_unit_test(put_again_replaces),
	    cmocka_unit_test(put_claimed_is_withdrawn_and_replaced),
	    cmocka_unit_test(put_new_of_a_taken_id_is_refused),
	    cmocka_unit_test(cancel_answers_by_state),
	    cmocka_unit_test(cancel_from_its_own_handler_is_late_and_drops_the_retry),
	    cmocka_unit_test(cancel_before_the_put_is_answered_comes_after_it),
	    cmocka_unit_test(put_from_its_own_handler_drops_the_old_verdict),
	    cmocka_unit_test(too_late_is_dead_and_not_delivered),
	    cmocka_unit_test(retry_has_a_deadline_of_its_own_and_is_late_by_that),
	    cmocka_unit_test(expired_hold_has_a_deadline_of_its_own),
	    cmocka_unit_test(names_out_of_bounds_are_refused_in_words),
	    cmocka_unit_test(limits_refuse_and_change_nothing),
	    cmocka_unit_test(turn_inside_a_callback_is_refused),
	    cmocka_unit_test(allocation_that_fails_loses_nothing),
	};

	return cmocka_run_group_tests_name("engine_calls", tests, NULL, NULL);
}
