/* test_wheel_memory.c: what a wheel takes, gives back, and does when there is none. */
#include "support/environment.h"
#include "support/random.h"
#include "support/wheel_steps.h"
#include "wheel/layout.h"

static void indexes_stay_dense(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle handles[100];

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 100; i++) {
			handles[i] = add(wheel, NOW + 1 + i * 1000);
			assert_true(dw_wheel_index(handles[i]) < 101);
		}
		add(wheel, NOW - round);
		assert_int_equal(dw_wheel_count(wheel), 101);
		for (unsigned i = 0; i < 100; i++)
			assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
		expect_none(wheel, NOW - DAY);
		assert_int_equal(dw_wheel_check(wheel), 0);
		(void)dw_wheel_advance(wheel, NOW, &(dw_wheel_due){0, 0}, 1); /* empties it */
	}
	dw_wheel_free(wheel);
}

static void bytes_a_timer_at_most_24(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);

	(void)state;
	for (int64_t i = 0; i < 1000000; i++)
		add(wheel, NOW + i * 1800);
	assert_true(dw_wheel_bytes(wheel) / 1000000 < 24);
	assert_int_equal(dw_wheel_check(wheel), 0);
	dw_wheel_free(wheel);
}

static void overdue_memory_comes_back(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_due due[100];
	int64_t last = INT64_MIN;
	size_t full;

	(void)state;
	for (int64_t i = 0; i < 20000; i++)
		add(wheel, NOW - 1 - i * 7919 % 20000);
	full = dw_wheel_bytes(wheel);
	assert_int_equal(dw_wheel_check(wheel), 0);
	for (size_t left = 20000; left; left -= 100) {
		assert_int_equal(dw_wheel_advance(wheel, NOW, due, 100), 100);
		for (size_t i = 0; i < 100; last = due[i++].deadline)
			assert_true(due[i].deadline > last);
	}
	assert_true(dw_wheel_bytes(wheel) < full - 19 * 20000);
	dw_wheel_free(wheel);
}

static void reserve_makes_adds_sure(void **state)
{
	struct memory memory = {.left = SIZE_MAX};
	const dw_wheel_allocator allocator = {memory_resize, &memory};
	dw_wheel_handle handle = 0;
	dw_wheel *wheel;

	(void)state;
	assert_int_equal(dw_wheel_new(&wheel, NOW, &allocator), DW_OK);
	assert_int_equal(dw_wheel_reserve(wheel, (size_t)DW_WHEEL_TIMERS_MAX + 1), DW_ELIMIT);
	assert_int_equal(dw_wheel_reserve(wheel, 40000), DW_OK);
	memory.left = 0;
	for (int64_t i = 0; i < 40000; i++)
		add(wheel, NOW + i);
	assert_int_equal(dw_wheel_reserve(wheel, 100000), DW_ENOMEM);
	while (dw_wheel_add(wheel, NOW, &handle) == DW_OK)
		assert_true(dw_wheel_count(wheel) < 100000);
	assert_int_equal(dw_wheel_add(wheel, NOW - 1, &handle), DW_ENOMEM);
	assert_int_equal(dw_wheel_check(wheel), 0);
	dw_wheel_free(wheel);
	assert_int_equal(memory.blocks, 0);
}

/* What a growth that failed has got already is the wheel's. */
static void bytes_are_what_was_allocated(void **state)
{
	(void)state;
	for (size_t number = 1; number < 12; number++) {
		struct memory memory = {.left = SIZE_MAX};
		const dw_wheel_allocator allocator = {memory_resize, &memory};
		dw_wheel *wheel = NULL;

		assert_int_equal(dw_wheel_new(&wheel, NOW, &allocator), DW_OK);
		for (int i = 0; i < 1000; i++)
			add(wheel, NOW + (number % 2 ? i : -i));
		assert_int_equal(dw_wheel_bytes(wheel), memory.bytes);
		memory.left = number - 1;
		(void)dw_wheel_reserve(wheel, 100000); /* the last ones succeed */
		assert_int_equal(dw_wheel_bytes(wheel), memory.bytes);
		assert_int_equal(dw_wheel_check(wheel), 0);
		dw_wheel_free(wheel);
		assert_int_equal(memory.bytes, 0);
	}
}

/* add_or_fail: a failed add changes nothing, and succeeds once there is memory. False: it failed.
 */
static int add_or_fail(dw_wheel *wheel, struct memory *memory, int64_t deadline)
{
	size_t count = dw_wheel_count(wheel);
	int64_t next = dw_wheel_next(wheel);
	dw_wheel_handle handle = 99;

	if (dw_wheel_add(wheel, deadline, &handle) == DW_OK)
		return 1;
	assert_int_equal(handle, 99);
	assert_int_equal(dw_wheel_count(wheel), count);
	assert_true(dw_wheel_next(wheel) == next);
	assert_int_equal(dw_wheel_check(wheel), 0);
	memory->left = SIZE_MAX;
	add(wheel, deadline);
	return 0;
}

/* move_or_fail: the same for a move into the past. */
static int move_or_fail(dw_wheel *wheel, struct memory *memory, dw_wheel_handle *handle)
{
	dw_wheel_handle before = *handle;

	if (dw_wheel_move(wheel, handle, NOW - 9) == DW_OK)
		return 1;
	assert_int_equal(*handle, before);
	assert_int_equal(dw_wheel_check(wheel), 0);
	memory->left = SIZE_MAX;
	assert_int_equal(dw_wheel_move(wheel, handle, NOW - 9), DW_OK);
	return 0;
}

/* live: a wheel's life in which allocation number `number` fails; true when none did. */
static int live(size_t number)
{
	struct memory memory = {.left = number};
	const dw_wheel_allocator allocator = {memory_resize, &memory};
	dw_wheel_handle handle = 0;
	dw_wheel *wheel = NULL;
	int untouched = 1;

	if (dw_wheel_new(&wheel, NOW, &allocator) < 0) {
		assert_null(wheel);
		return 0;
	}
	if (dw_wheel_add(wheel, NOW + DAY, &handle) < 0) {
		memory.left = SIZE_MAX;
		handle = add(wheel, NOW + DAY);
		untouched = 0;
	}
	for (int64_t i = 0; i < 2500; i++)
		untouched &= add_or_fail(wheel, &memory, NOW - 10 - i);
	untouched &= move_or_fail(wheel, &memory, &handle);
	for (int64_t i = 0; i < 90000; i++)
		untouched &= add_or_fail(wheel, &memory, NOW + i);
	assert_int_equal(dw_wheel_check(wheel), 0);
	assert_int_equal(dw_wheel_count(wheel), 92501);
	dw_wheel_free(wheel);
	assert_int_equal(memory.blocks, 0);
	return untouched;
}

static void allocations_failing_change_nothing(void **state)
{
	size_t number = 0, step = environment_step(10);

	(void)state;
	while (!live(number)) {
		assert_true(number < 100);
		number += step;
	}
	assert_true(number > 15);
}

static void move_without_memory_changes_nothing(void **state)
{
	struct memory memory = {.left = SIZE_MAX};
	const dw_wheel_allocator allocator = {memory_resize, &memory};
	dw_wheel_handle handle = 0;
	dw_wheel *wheel;

	(void)state;
	assert_int_equal(dw_wheel_new(&wheel, NOW, &allocator), DW_OK);
	assert_int_equal(dw_wheel_add(wheel, NOW + DAY, &handle), DW_OK);
	memory.left = 0;
	assert_int_equal(move_or_fail(wheel, &memory, &handle), 0);
	expect(wheel, NOW, handle);
	dw_wheel_free(wheel);
	assert_int_equal(memory.blocks, 0);
}

/* struct churn: a wheel with at most `most` timers, at random times in all its levels. */
struct churn {
	dw_wheel *wheel;
	dw_wheel_handle *handles;
	size_t count;
	size_t most;
	uint64_t random;
};

static int64_t churn_time(struct churn *churn)
{
	int64_t reach = INT64_C(1) << random_below(&churn->random, 50);

	return dw_wheel_now(churn->wheel) + (int64_t)random_below(&churn->random, (uint64_t)reach);
}

static void churn_fire(struct churn *churn)
{
	int64_t now = dw_wheel_now(churn->wheel) + 700;
	dw_wheel_due due;

	while (dw_wheel_advance(churn->wheel, now, &due, 1) == 1)
		for (size_t i = 0; i < churn->count; i++)
			if (churn->handles[i] == due.handle) {
				churn->handles[i] = churn->handles[--churn->count];
				break;
			}
}

static void churn_once(struct churn *churn)
{
	size_t which = churn->count ? random_below(&churn->random, churn->count) : 0;
	uint64_t what = random_below(&churn->random, 100);
	dw_wheel_handle handle;

	if (churn->count < churn->most && what < 60) {
		churn->handles[churn->count++] = add(churn->wheel, churn_time(churn));
	} else if (what == 99) {
		churn_fire(churn);
	} else if (churn->count && what < 80) {
		handle = churn->handles[which];
		assert_int_equal(dw_wheel_move(churn->wheel, &handle, churn_time(churn)), DW_OK);
		churn->handles[which] = handle;
	} else if (churn->count) {
		assert_int_equal(dw_wheel_cancel(churn->wheel, churn->handles[which]), DW_OK);
		churn->handles[which] = churn->handles[--churn->count];
	}
}

/* What was cancelled takes room, and still a wheel that has reserved needs no memory. */
static void reserve_holds_under_churn(void **state)
{
	static const size_t sizes[] = {1, 30, 1000, 4000};
	uint64_t operations = environment_scaled(200000);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct memory memory = {.left = SIZE_MAX};
		const dw_wheel_allocator allocator = {memory_resize, &memory};
		struct churn churn = {.most = sizes[i], .random = 7 + i};

		churn.handles = calloc(churn.most, sizeof(*churn.handles));
		assert_int_equal(dw_wheel_new(&churn.wheel, NOW, &allocator), DW_OK);
		assert_int_equal(dw_wheel_reserve(churn.wheel, churn.most), DW_OK);
		memory.left = 0;
		for (uint64_t k = 0; k < operations; k++) {
			churn_once(&churn);
			if (k % 1024 == 0)
				assert_int_equal(dw_wheel_check(churn.wheel), 0);
		}
		dw_wheel_free(churn.wheel);
		free(churn.handles);
	}
}

static void cancelled_timers_leave_little(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	static dw_wheel_handle handles[20000];
	uint64_t random = 3;
	size_t full;

	(void)state;
	for (size_t i = 0; i < 20000; i++)
		handles[i] = add(wheel, NOW + 1800 * SECOND + (int64_t)i);
	full = dw_wheel_bytes(wheel);
	for (int64_t i = 0; i < 1000000; i++) {
		size_t which = random_below(&random, 20000);

		assert_int_equal(dw_wheel_cancel(wheel, handles[which]), DW_OK);
		handles[which] = add(wheel, NOW + 1800 * SECOND + i * 1000);
	}
	assert_int_equal(dw_wheel_check(wheel), 0);
	assert_true(dw_wheel_bytes(wheel) <= 2 * full);
	for (size_t i = 0; i < 20000; i++)
		assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
	assert_int_equal(dw_wheel_check(wheel), 0);
	expect(wheel, NOW + 1, add(wheel, NOW + 1));
	dw_wheel_free(wheel);
}

/* After a clock was stepped back all new timers are in the heap. */
static void cancelled_overdue_timers_leave_little(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle kept = add(wheel, NOW - 500000), last = add(wheel, NOW - 9);
	size_t full;

	(void)state;
	full = dw_wheel_bytes(wheel);
	for (int64_t i = 0; i < 400000; i++) {
		dw_wheel_handle next = add(wheel, NOW - 10 - i * 7919 % 400000);

		assert_int_equal(dw_wheel_cancel(wheel, last), DW_OK);
		last = next;
	}
	assert_int_equal(dw_wheel_check(wheel), 0);
	assert_true(dw_wheel_bytes(wheel) < full + 1000000);
	expect(wheel, NOW - 1, kept);
	expect(wheel, NOW - 1, last);
	dw_wheel_free(wheel);
}

/* Without memory for more entries, the room of the dead ones is found. */
static void dead_entries_make_room_when_memory_ends(void **state)
{
	struct memory memory = {.left = SIZE_MAX};
	const dw_wheel_allocator allocator = {memory_resize, &memory};
	dw_wheel_handle handles[64], more = 0;
	dw_wheel *wheel;

	(void)state;
	assert_int_equal(dw_wheel_new(&wheel, NOW, &allocator), DW_OK);
	for (int i = 0; i < 64; i++)
		handles[i] = add(wheel, NOW + (i % 3 - 1) * SECOND);
	memory.left = 0;
	assert_int_equal(dw_wheel_add(wheel, NOW + DAY, &more), DW_ENOMEM);
	for (int i = 0; i < 63; i++) {
		assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
		handles[i] = add(wheel, NOW + i);
		assert_int_equal(dw_wheel_check(wheel), 0);
	}
	assert_int_equal(dw_wheel_add(wheel, NOW + DAY, &more), DW_ENOMEM);
	dw_wheel_free(wheel);
	assert_int_equal(memory.blocks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(indexes_stay_dense),
	    cmocka_unit_test(bytes_a_timer_at_most_24),
	    cmocka_unit_test(overdue_memory_comes_back),
	    cmocka_unit_test(reserve_makes_adds_sure),
	    cmocka_unit_test(bytes_are_what_was_allocated),
	    cmocka_unit_test(allocations_failing_change_nothing),
	    cmocka_unit_test(move_without_memory_changes_nothing),
	    cmocka_unit_test(reserve_holds_under_churn),
	    cmocka_unit_test(cancelled_timers_leave_little),
	    cmocka_unit_test(cancelled_overdue_timers_leave_little),
	    cmocka_unit_test(dead_entries_make_room_when_memory_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
