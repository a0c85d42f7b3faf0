/* test_wheel.c: the wheel's promises, one at a time. test_wheel_oracle.c has the random ones. */
#include "support/wheel_steps.h"

/* wake_ups: sleep until dw_wheel_next() again and again, until a timer comes out; how often. */
static unsigned wake_ups(dw_wheel *wheel, int64_t *ret_fired)
{
	dw_wheel_due due;
	unsigned count = 0;

	do
		*ret_fired = dw_wheel_next(wheel);
	while (count++ < 20 && dw_wheel_advance(wheel, *ret_fired, &due, 1) == 0);
	assert_int_equal(due.deadline, *ret_fired);
	return count;
}

static void new_bad_arguments_refused(void **state)
{
	const dw_wheel_allocator nothing = {NULL, NULL};
	dw_wheel *wheel = NULL;

	(void)state;
	assert_int_equal(dw_wheel_new(NULL, 0, NULL), DW_EINVAL);
	assert_int_equal(dw_wheel_new(&wheel, 0, &nothing), DW_EINVAL);
	assert_null(wheel);
	dw_wheel_free(NULL);
}

static void calls_null_refused(void **state)
{
	dw_wheel *wheel = wheel_at(0);
	dw_wheel_handle handle = 1;

	(void)state;
	assert_int_equal(dw_wheel_add(NULL, 0, &handle), DW_EINVAL);
	assert_int_equal(dw_wheel_add(wheel, 0, NULL), DW_EINVAL);
	assert_int_equal(dw_wheel_cancel(NULL, 1), DW_EINVAL);
	assert_int_equal(dw_wheel_move(NULL, &handle, 0), DW_EINVAL);
	assert_int_equal(dw_wheel_move(wheel, NULL, 0), DW_EINVAL);
	assert_int_equal(dw_wheel_reserve(NULL, 1), DW_EINVAL);
	assert_int_equal(dw_wheel_check(NULL), DW_EINVAL);
	assert_int_equal(dw_wheel_advance(NULL, 0, NULL, 0), 0);
	assert_int_equal(dw_wheel_advance(wheel, 0, NULL, 1), 0);
	assert_true(dw_wheel_next(NULL) == INT64_MAX && dw_wheel_next_work(NULL) == INT64_MAX);
	assert_int_equal(dw_wheel_count(wheel), 0);
	dw_wheel_free(wheel);
}

static void empty_wheel_never_fires(void **state)
{
	dw_wheel *wheel = wheel_at(INT64_MIN);

	(void)state;
	expect_none(wheel, 0);
	expect_none(wheel, INT64_MAX);
	assert_true(dw_wheel_next(wheel) == INT64_MAX);
	assert_true(dw_wheel_next_work(wheel) == INT64_MAX);
	assert_int_equal(dw_wheel_check(wheel), 0);
	dw_wheel_free(wheel);
}

static void timer_one_tick_before_waits(void **state)
{
	static const int64_t after[] = {1, 1023, 1024, 1025, 262144, 1800 * SECOND, 30 * DAY};

	(void)state;
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++) {
		dw_wheel *wheel = wheel_at(NOW);
		dw_wheel_handle handle = add(wheel, NOW + after[i]);

		expect_none(wheel, NOW + after[i] - 1);
		expect(wheel, NOW + after[i], handle);
		assert_int_equal(dw_wheel_count(wheel), 0);
		dw_wheel_free(wheel);
	}
}

static void timer_a_century_ahead_fires_once(void **state)
{
	int64_t deadline = NOW + 36525 * DAY, fired;
	dw_wheel *wheel = wheel_at(NOW);

	(void)state;
	add(wheel, deadline);
	assert_true(wake_ups(wheel, &fired) <= 8);
	assert_int_equal(fired, deadline);
	expect_none(wheel, INT64_MAX);
	dw_wheel_free(wheel);
}

static void timer_half_an_hour_ahead_wakes_rarely(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	int64_t fired;

	(void)state;
	add(wheel, NOW + 1800 * SECOND);
	assert_true(dw_wheel_next_work(wheel) == dw_wheel_next(wheel));
	assert_true(wake_ups(wheel, &fired) <= 4);
	assert_int_equal(fired, NOW + 1800 * SECOND);
	dw_wheel_free(wheel);
}

static void ends_of_time_fire_in_order(void **state)
{
	dw_wheel *wheel = wheel_at(INT64_MIN);
	dw_wheel_handle last = add(wheel, INT64_MAX);
	dw_wheel_handle middle = add(wheel, 0);
	dw_wheel_handle first = add(wheel, INT64_MIN);

	(void)state;
	expect(wheel, INT64_MIN, first);
	expect_none(wheel, -1);
	expect(wheel, 0, middle);
	expect_none(wheel, INT64_MAX - 1);
	expect(wheel, INT64_MAX, last);
	dw_wheel_free(wheel);
}

static void equal_deadlines_keep_insertion_order(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	int64_t deadline = NOW + 1800 * SECOND;
	dw_wheel_handle handles[600];

	(void)state;
	for (int i = 0; i < 600; i++) {
		handles[i] = add(wheel, deadline);
		expect_none(wheel, NOW + i * 3 * SECOND);
	}
	assert_int_equal(dw_wheel_check(wheel), 0);
	for (int i = 0; i < 600; i++)
		expect(wheel, deadline, handles[i]);
	dw_wheel_free(wheel);
}

static void overdue_timers_come_first_in_order(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle present = add(wheel, NOW);
	dw_wheel_handle second = add(wheel, NOW - 1);
	dw_wheel_handle first = add(wheel, NOW - DAY);
	dw_wheel_handle third = add(wheel, NOW - 1);

	(void)state;
	assert_true(dw_wheel_next(wheel) == NOW - DAY);
	expect(wheel, NOW, first);
	expect(wheel, NOW, second);
	expect(wheel, NOW, third);
	expect(wheel, NOW, present);
	dw_wheel_free(wheel);
}

static void overdue_cancelled_and_moved_obey(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle moved = add(wheel, NOW - 5);
	dw_wheel_handle cancelled = add(wheel, NOW - 4);
	dw_wheel_handle other = add(wheel, NOW - 3);

	(void)state;
	assert_int_equal(dw_wheel_cancel(wheel, cancelled), DW_OK);
	assert_int_equal(dw_wheel_move(wheel, &moved, NOW + 1), DW_OK);
	expect(wheel, NOW, other);
	expect_none(wheel, NOW);
	assert_int_equal(dw_wheel_move(wheel, &moved, NOW - 1), DW_OK);
	expect(wheel, NOW, moved);
	assert_int_equal(dw_wheel_check(wheel), 0);
	dw_wheel_free(wheel);
}

static void clock_stepped_back_fires_nothing_early(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle between, later = add(wheel, NOW + 10);

	(void)state;
	expect_none(wheel, NOW + 5);
	between = add(wheel, NOW - SECOND);
	assert_true(dw_wheel_next(wheel) == NOW - SECOND);
	expect_none(wheel, NOW - SECOND - 1);
	expect(wheel, NOW - SECOND, between);
	expect_none(wheel, NOW);
	assert_true(dw_wheel_now(wheel) == NOW + 5);
	expect(wheel, NOW + 10, later);
	dw_wheel_free(wheel);
}

static void advance_small_max_leaves_time_behind(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle first = add(wheel, NOW + 100), last = add(wheel, NOW + 300), between;

	(void)state;
	expect(wheel, NOW + 1000, first);
	assert_true(dw_wheel_now(wheel) == NOW + 100);
	between = add(wheel, NOW + 200);
	expect(wheel, NOW + 1000, between);
	expect(wheel, NOW + 1000, last);
	dw_wheel_free(wheel);
}

static void advance_max_zero_takes_nothing(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle handle = add(wheel, NOW + 5000);

	(void)state;
	assert_int_equal(dw_wheel_advance(wheel, NOW + 6000, NULL, 0), 0);
	assert_true(dw_wheel_next(wheel) == NOW + 5000);
	expect(wheel, NOW + 6000, handle);
	dw_wheel_free(wheel);
}

static void advance_after_a_jump_is_bounded(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_due due[10];
	size_t calls = 0, taken = 0;

	(void)state;
	for (int64_t i = 0; i < 50000; i++)
		add(wheel, NOW + 1800 * SECOND);
	while (taken == 0) {
		taken = dw_wheel_advance(wheel, NOW + DAY, due, 10);
		assert_int_equal(dw_wheel_check(wheel), 0);
		assert_true(dw_wheel_next(wheel) <= NOW + DAY);
		calls++;
	}
	/* 50,000 timers, three levels, 4,136 moves a call; and each call must use its share. */
	assert_in_range(calls, 3 * 50000 / 4136, 3 * 50000 / 4136 + 2);
	dw_wheel_free(wheel);
}

static void full_slot_is_drained_ahead(void **state)
{
	int64_t due_at = (NOW / (1 << 18) + 400) << 18, now = NOW;
	dw_wheel *wheel = wheel_at(NOW);
	unsigned calls = 0;

	(void)state;
	for (int64_t i = 0; i < 10000; i++)
		add(wheel, due_at);
	while (dw_wheel_next(wheel) < due_at && calls++ < 1000) {
		assert_true(dw_wheel_next_work(wheel) <= dw_wheel_next(wheel));
		now = dw_wheel_next_work(wheel);
		assert_int_equal(dw_wheel_advance(wheel, now, NULL, 0), 0);
	}
	/* About 40 pieces through two levels, and the last bucket. */
	assert_in_range(calls, 30, 100);
	dw_wheel_free(wheel);
}

static void advance_past_cancelled_ones_is_bounded(void **state)
{
	static dw_wheel_handle handles[50000];
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle last;
	dw_wheel_due due;
	size_t calls = 1;

	(void)state;
	for (size_t i = 0; i < 50000; i++)
		handles[i] = add(wheel, NOW + (i % 2 ? 7 : -7));
	last = add(wheel, NOW + 7);
	for (size_t i = 0; i < 50000; i++)
		assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
	while (dw_wheel_advance(wheel, NOW + 10, &due, 1) == 0) {
		assert_true(dw_wheel_next(wheel) <= NOW + 7);
		assert_int_equal(dw_wheel_check(wheel), 0);
		calls++;
	}
	assert_int_equal(due.handle, last);
	assert_int_equal(calls, 50000 / 4100 + 1);
	dw_wheel_free(wheel);
}

/* A slot drained ahead fills the ring below from its far end: what comes first there may change. */
static void spread_slot_fires_in_its_millisecond(void **state)
{
	int64_t start = (NOW / (1 << 18) + 2) << 18;
	dw_wheel *wheel = wheel_at(NOW);
	size_t fired = 0;

	(void)state;
	for (int64_t i = 0; i < 100000; i++)
		add(wheel, start + i * 7919 % 262144);
	for (int64_t now = NOW; now < start + 300000; now += 1000) {
		dw_wheel_due due[5000];
		size_t taken = dw_wheel_advance(wheel, now, due, 5000);

		for (size_t i = 0; i < taken; i++)
			assert_in_range(now - due[i].deadline, 0, 999);
		fired += taken;
		assert_true(dw_wheel_next(wheel) > now);
	}
	assert_int_equal(dw_wheel_check(wheel), 0);
	assert_int_equal(fired, 100000);
	dw_wheel_free(wheel);
}

static void cancelled_timer_never_fires(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle handle = add(wheel, NOW + SECOND), kept = handle, again;

	(void)state;
	assert_int_equal(dw_wheel_cancel(wheel, handle), DW_OK);
	assert_int_equal(dw_wheel_cancel(wheel, handle), DW_ENOENT);
	again = add(wheel, NOW + SECOND);
	assert_int_equal(dw_wheel_index(again), dw_wheel_index(handle));
	assert_int_equal(dw_wheel_cancel(wheel, handle), DW_ENOENT);
	assert_int_equal(dw_wheel_move(wheel, &handle, NOW), DW_ENOENT);
	assert_int_equal(handle, kept);
	expect(wheel, NOW + SECOND, again);
	assert_int_equal(dw_wheel_cancel(wheel, again), DW_ENOENT);
	dw_wheel_free(wheel);
}

static void handle_forged_is_unknown(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle handle = add(wheel, NOW + 1);

	(void)state;
	assert_int_equal(dw_wheel_cancel(wheel, 0), DW_ENOENT);
	assert_int_equal(dw_wheel_cancel(wheel, handle + 1), DW_ENOENT);
	assert_int_equal(dw_wheel_cancel(wheel, UINT64_MAX), DW_ENOENT);
	assert_int_equal(dw_wheel_cancel(wheel, handle + (UINT64_C(1) << 32)), DW_ENOENT);
	expect(wheel, NOW + 1, handle);
	assert_int_equal(dw_wheel_cancel(wheel, handle + (UINT64_C(1) << 32)), DW_ENOENT);
	dw_wheel_free(wheel);
}

static void moved_timer_goes_behind_its_equals(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle moved = add(wheel, NOW + 50), other = add(wheel, NOW + 50);
	dw_wheel_handle before = moved;

	(void)state;
	assert_int_equal(dw_wheel_move(wheel, &moved, NOW + 50), DW_OK);
	assert_true(moved != before && dw_wheel_index(moved) == dw_wheel_index(before));
	assert_int_equal(dw_wheel_cancel(wheel, before), DW_ENOENT);
	expect(wheel, NOW + 50, other);
	expect(wheel, NOW + 50, moved);
	dw_wheel_free(wheel);
}

/* The slots that these come to are open already, some of them, and are filled between advances. */
static void advance_at_next_work_always_does_something(void **state)
{
	dw_wheel_handle handle;
	dw_wheel_due out;

	(void)state;
	for (int64_t start = 0; start < 100; start++) {
		int64_t now = start * 7 * SECOND;
		dw_wheel *wheel = wheel_at(now);

		for (int added = 0; added < 1500; added++) {
			assert_int_equal(dw_wheel_add(wheel, now + 100 * SECOND, &handle), DW_OK);
			if (added % 100 == 0)
				assert_int_equal(dw_wheel_advance(wheel, now + added, &out, 1), 0);
		}
		while (dw_wheel_count(wheel) > 0) {
			int64_t at = dw_wheel_next_work(wheel);

			if (dw_wheel_advance(wheel, at, &out, 1) == 0)
				assert_true(dw_wheel_next_work(wheel) > at);
		}
		dw_wheel_free(wheel);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(new_bad_arguments_refused),
	    cmocka_unit_test(calls_null_refused),
	    cmocka_unit_test(empty_wheel_never_fires),
	    cmocka_unit_test(timer_one_tick_before_waits),
	    cmocka_unit_test(timer_a_century_ahead_fires_once),
	    cmocka_unit_test(timer_half_an_hour_ahead_wakes_rarely),
	    cmocka_unit_test(ends_of_time_fire_in_order),
	    cmocka_unit_test(equal_deadlines_keep_insertion_order),
	    cmocka_unit_test(overdue_timers_come_first_in_order),
	    cmocka_unit_test(overdue_cancelled_and_moved_obey),
	    cmocka_unit_test(clock_stepped_back_fires_nothing_early),
	    cmocka_unit_test(advance_small_max_leaves_time_behind),
	    cmocka_unit_test(advance_max_zero_takes_nothing),
	    cmocka_unit_test(advance_after_a_jump_is_bounded),
	    cmocka_unit_test(full_slot_is_drained_ahead),
	    cmocka_unit_test(advance_past_cancelled_ones_is_bounded),
	    cmocka_unit_test(spread_slot_fires_in_its_millisecond),
	    cmocka_unit_test(cancelled_timer_never_fires),
	    cmocka_unit_test(handle_forged_is_unknown),
	    cmocka_unit_test(moved_timer_goes_behind_its_equals),
	    cmocka_unit_test(advance_at_next_work_always_does_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
