/*
 * test_wheel_names.c: who lives, over more adds and moves than a ring of generations has, and over
 * more than there are generations.
 */
#include "support/random.h"
#include "support/wheel_steps.h"
#include "support/wheel_years.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"

/* expect_at_last: this timer and no other comes out next, however many calls that takes. */
static void expect_at_last(dw_wheel *wheel, int64_t now, dw_wheel_handle handle)
{
	dw_wheel_due due = {0, 0};

	while (!dw_wheel_advance(wheel, now, &due, 1))
		assert_true(dw_wheel_next(wheel) <= now);
	assert_true(due.handle == handle);
}

static void expect_stale(dw_wheel *wheel, dw_wheel_handle handle)
{
	dw_wheel_handle kept = handle;

	assert_int_equal(dw_wheel_cancel(wheel, handle), DW_ENOENT);
	assert_int_equal(dw_wheel_move(wheel, &kept, NOW), DW_ENOENT);
	assert_true(kept == handle);
	assert_int_equal(dw_wheel_check(wheel), 0);
}

/* churn: so many short lives, all of them over. */
static void churn(dw_wheel *wheel, uint32_t lives)
{
	while (lives--)
		assert_int_equal(dw_wheel_cancel(wheel, add(wheel, NOW + DAY + lives)), DW_OK);
}

/* churn_long: until all that is in the wheel is old. */
static void churn_long(dw_wheel *wheel)
{
	uint32_t before = wheel_next_generation(wheel);

	while (wheel_next_generation(wheel) - before < 2 * wheel->names.ring)
		churn(wheel, 64);
}

/* churn_to: until this is the last generation given, modulo the ring. */
static void churn_to(dw_wheel *wheel, uint32_t generation)
{
	churn(wheel, (generation + 1 - wheel_next_generation(wheel)) & (wheel->names.ring - 1));
}

enum { KEPT = 7 };

/* keep: one timer in the past, one in the current bucket, the others farther and farther ahead. */
static void keep(dw_wheel *wheel, dw_wheel_handle *kept)
{
	static const int64_t ahead[KEPT] = {-SECOND,       500,       SECOND,     100 * SECOND,
					    9000 * SECOND, 400 * DAY, 36500 * DAY};

	for (int i = 0; i < KEPT; i++)
		kept[i] = add(wheel, NOW + ahead[i]);
}

static void elders_come_out_in_order(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle kept[KEPT];

	(void)state;
	keep(wheel, kept);
	for (int i = 0; i < 40; i++) {
		churn(wheel, wheel->names.ring / 8);
		assert_int_equal(dw_wheel_check(wheel), 0);
	}
	assert_int_equal(wheel_years_elders(wheel), KEPT);
	for (int i = 0; i < KEPT; i++)
		expect_at_last(wheel, NOW + 36500 * DAY, kept[i]);
	for (int i = 0; i < KEPT; i++)
		expect_stale(wheel, kept[i]);
	dw_wheel_free(wheel);
}

/* They are no more in any list. */
static void sorted_ones_become_elders(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle first = add(wheel, NOW + SECOND), second = add(wheel, NOW + SECOND + 1);
	dw_wheel_due due;

	(void)state;
	assert_int_equal(dw_wheel_advance(wheel, NOW + SECOND - 1, &due, 1), 0);
	assert_int_equal(wheel->soon.end - wheel->soon.first, 2);
	churn_long(wheel);
	assert_int_equal(wheel_years_elders(wheel), 2);
	assert_int_equal(dw_wheel_check(wheel), 0);
	assert_int_equal(dw_wheel_cancel(wheel, first), DW_OK);
	expect_stale(wheel, first);
	expect_at_last(wheel, NOW + 2 * SECOND, second);
	dw_wheel_free(wheel);
}

static void elders_are_cancelled_once(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle kept[KEPT], again;

	(void)state;
	keep(wheel, kept);
	churn_long(wheel);
	assert_int_equal(wheel_years_elders(wheel), KEPT);
	for (int i = 0; i < KEPT; i++) {
		assert_int_equal(dw_wheel_cancel(wheel, kept[i]), DW_OK);
		expect_stale(wheel, kept[i]);
		again = add(wheel, NOW + 2 * SECOND);
		assert_int_equal(dw_wheel_index(again), dw_wheel_index(kept[i]));
		expect_stale(wheel, kept[i]);
	}
	/* The same indexes have elders again, of other generations. */
	churn_long(wheel);
	assert_int_equal(wheel_years_elders(wheel), KEPT);
	for (int i = 0; i < KEPT; i++)
		expect_stale(wheel, kept[i]);
	assert_int_equal(dw_wheel_count(wheel), KEPT);
	dw_wheel_free(wheel);
}

static void elders_are_moved(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle kept[KEPT], moved[KEPT];

	(void)state;
	keep(wheel, kept);
	churn_long(wheel);
	for (int i = 0; i < KEPT; i++) {
		moved[i] = kept[i];
		assert_int_equal(dw_wheel_move(wheel, &moved[i], NOW + SECOND * (i - 1)), DW_OK);
		assert_int_equal(dw_wheel_index(moved[i]), dw_wheel_index(kept[i]));
		expect_stale(wheel, kept[i]);
	}
	for (int i = 0; i < KEPT; i++)
		expect_at_last(wheel, NOW + DAY / 2, moved[i]);
	assert_int_equal(dw_wheel_count(wheel), 0);
	dw_wheel_free(wheel);
}

/* What is dead when nothing else dies is swept all the same: its generation will come back. */
static void dead_entries_do_not_grow_old(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_due due;

	(void)state;
	add(wheel, NOW + 2 * DAY);
	assert_int_equal(dw_wheel_cancel(wheel, add(wheel, NOW + DAY)), DW_OK);
	assert_int_equal(wheel_entries(wheel), 2);
	for (uint32_t i = 0; i < wheel->names.ring; i++) {
		add(wheel, NOW + i);
		assert_int_equal(dw_wheel_advance(wheel, NOW + i, &due, 1), 1);
	}
	assert_int_equal(wheel_entries(wheel), 1);
	assert_int_equal(dw_wheel_check(wheel), 0);
	dw_wheel_free(wheel);
}

/* time_of: a time that a wheel of time 0 puts into this list; -1: none. */
static int64_t time_of(uint32_t list)
{
	uint32_t slot = list % WHEEL_RING_SLOTS;
	unsigned ring = wheel_list_ring(list);

	if (list < WHEEL_FINE_LISTS)
		return list;
	if (slot == 0 || slot >= WHEEL_RING_SLOTS / 2 || ring == WHEEL_RINGS - 1)
		return -1;
	return (int64_t)slot << wheel_ring_shift(ring);
}

/* hold_up: when the sweep is due next, dead entries in as many lists as it will look at. */
static void hold_up(dw_wheel *wheel)
{
	uint32_t list = wheel->sweep.list, left = WHEEL_SWEEP_OLD_BLOCKS;

	if (wheel_next_generation(wheel) - wheel->swept + 64 < wheel->names.ring / 4)
		return;
	while (left && list-- > 2) {
		if (time_of(list) < 0)
			continue;
		assert_int_equal(dw_wheel_cancel(wheel, add(wheel, time_of(list))), DW_OK);
		left--;
	}
}

/* The sweep would come to the last list too late: the ring has forgotten who is there. */
static void sweep_that_is_held_up_comes_around_in_time(void **state)
{
	dw_wheel *wheel = wheel_at(0);
	dw_wheel_handle kept = add(wheel, 1);
	uint32_t ring = wheel->names.ring;
	dw_wheel_due due;

	(void)state;
	for (uint32_t first = wheel_next_generation(wheel);
	     wheel_next_generation(wheel) - first < ring;) {
		if (wheel_next_generation(wheel) % 64 == 32)
			hold_up(wheel);
		add(wheel, -1);
		assert_int_equal(dw_wheel_advance(wheel, 0, &due, 1), 1);
	}
	assert_int_equal(wheel->names.ring, ring);
	assert_int_equal(dw_wheel_check(wheel), 0);
	assert_int_equal(dw_wheel_cancel(wheel, kept), DW_OK);
	dw_wheel_free(wheel);
}

/* No handle is 0, and none is known that was not given, on both sides of the first generation. */
static void generations_begin_again(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle handles[400];

	(void)state;
	wheel_years_pass(wheel, UINT32_MAX - 63 - 128);
	for (int i = 0; i < 400; i++)
		handles[i] = add(wheel, NOW + SECOND + i);
	assert_true(wheel_next_generation(wheel) <= 400);
	assert_int_equal(dw_wheel_check(wheel), 0);
	for (uint64_t generation = 0; generation < 64; generation++)
		for (uint64_t index = 0; index < 400; index++)
			expect_stale(wheel, generation << 32 | index);
	for (int i = 0; i < 400; i += 2)
		assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
	for (int i = 1; i < 400; i += 2)
		expect_at_last(wheel, NOW + DAY, handles[i]);
	assert_int_equal(dw_wheel_count(wheel), 0);
	dw_wheel_free(wheel);
}

/* begin_again: all generations have been given. Only elders are alive. */
static void begin_again(dw_wheel *wheel)
{
	churn_to(wheel, UINT32_MAX);
	wheel_sweep_all(wheel);
	wheel_years_pass(wheel, 0 - wheel_next_generation(wheel));
}

/* come_to: this is the next generation. */
static void come_to(dw_wheel *wheel, uint32_t generation)
{
	churn(wheel, 1000);
	churn_to(wheel, generation - 1);
	wheel_sweep_all(wheel);
	wheel_years_pass(wheel, generation - wheel_next_generation(wheel));
}

/* twins: an elder, and a young timer with the generation of the elder, 2^32 adds later. */
static dw_wheel *twins(dw_wheel_handle *ret_elder, dw_wheel_handle *ret_young)
{
	dw_wheel *wheel = wheel_at(NOW);

	*ret_elder = add(wheel, NOW + 2 * SECOND);
	churn_long(wheel);
	assert_int_equal(wheel_years_elders(wheel), 1);
	begin_again(wheel);
	come_to(wheel, (uint32_t)(*ret_elder >> 32));
	*ret_young = add(wheel, NOW + SECOND);
	assert_true(*ret_young >> 32 == *ret_elder >> 32);
	assert_int_equal(dw_wheel_check(wheel), 0);
	return wheel;
}

static void twins_are_two(void **state)
{
	dw_wheel_handle elder, young, moved;
	dw_wheel *wheel = twins(&elder, &young);

	(void)state;
	expect_at_last(wheel, NOW + DAY / 2, young);
	expect_at_last(wheel, NOW + DAY / 2, elder);
	dw_wheel_free(wheel);

	wheel = twins(&elder, &young);
	assert_int_equal(dw_wheel_cancel(wheel, elder), DW_OK);
	expect_stale(wheel, elder);
	expect_at_last(wheel, NOW + DAY / 2, young);
	dw_wheel_free(wheel);

	wheel = twins(&elder, &young);
	assert_int_equal(dw_wheel_cancel(wheel, young), DW_OK);
	expect_stale(wheel, young);
	expect_at_last(wheel, NOW + DAY / 2, elder);
	dw_wheel_free(wheel);

	wheel = twins(&elder, &young);
	moved = elder;
	assert_int_equal(dw_wheel_move(wheel, &moved, NOW + 3 * SECOND), DW_OK);
	expect_at_last(wheel, NOW + DAY / 2, young);
	expect_at_last(wheel, NOW + DAY / 2, moved);
	dw_wheel_free(wheel);
}

/* The entry that an overdue timer leaves would be alive, if its next name were the one it has. */
static void generation_of_ones_own_is_left_out(void **state)
{
	dw_wheel *wheel = wheel_at(NOW);
	dw_wheel_handle first = add(wheel, NOW - 2 * SECOND), second = first, third;

	(void)state;
	churn_long(wheel);
	begin_again(wheel);
	assert_int_equal(dw_wheel_move(wheel, &second, NOW - SECOND), DW_OK);
	assert_int_equal(second >> 32, (first >> 32) + 1); /* it had the very first one */
	expect_stale(wheel, first);
	third = second;
	churn_long(wheel);
	begin_again(wheel);
	come_to(wheel, (uint32_t)(second >> 32));
	assert_int_equal(dw_wheel_move(wheel, &third, NOW - SECOND), DW_OK);
	assert_int_equal(third >> 32, (second >> 32) + 1);
	expect_stale(wheel, second);
	expect_none(wheel, NOW - 2 * SECOND);
	expect_at_last(wheel, NOW - SECOND, third);
	expect_none(wheel, NOW);
	dw_wheel_free(wheel);
}

/* Without memory for its first elder a wheel takes no more timers, and loses none. */
static void elders_without_memory_wait(void **state)
{
	struct memory memory = {.left = SIZE_MAX};
	const dw_wheel_allocator allocator = {memory_resize, &memory};
	dw_wheel_handle kept, more;
	dw_wheel *wheel;
	int error;

	(void)state;
	assert_int_equal(dw_wheel_new(&wheel, NOW, &allocator), DW_OK);
	kept = add(wheel, NOW + DAY);
	memory.left = 0;
	while ((error = dw_wheel_add(wheel, NOW + SECOND, &more)) == DW_OK)
		assert_int_equal(dw_wheel_cancel(wheel, more), DW_OK);
	assert_int_equal(error, DW_ENOMEM);
	more = kept;
	assert_int_equal(dw_wheel_move(wheel, &more, NOW + 2 * DAY), DW_ENOMEM);
	assert_true(more == kept);
	assert_int_equal(dw_wheel_check(wheel), 0);
	memory.left = 1;
	churn_long(wheel);
	assert_int_equal(wheel_years_elders(wheel), 1);
	expect_at_last(wheel, NOW + DAY / 2 + DAY, kept);
	dw_wheel_free(wheel);
}

/* A failed add may have opened the generations that the next one is given. */
static void growing_after_a_failure_loses_none(void **state)
{
	struct memory memory = {.left = SIZE_MAX};
	const dw_wheel_allocator allocator = {memory_resize, &memory};
	dw_wheel_handle handles[100], none = 0;
	dw_wheel *wheel;

	(void)state;
	assert_int_equal(dw_wheel_new(&wheel, NOW, &allocator), DW_OK);
	for (size_t left = 0; wheel->pool.room == 0; left++) {
		memory.left = left;
		assert_int_equal(dw_wheel_add(wheel, NOW - 1, &none), DW_ENOMEM);
	}
	assert_int_equal(dw_wheel_check(wheel), 0);
	memory.left = SIZE_MAX;
	assert_int_equal(dw_wheel_reserve(wheel, 10000), DW_OK);
	for (int i = 0; i < 100; i++)
		handles[i] = add(wheel, NOW + i);
	assert_int_equal(dw_wheel_check(wheel), 0);
	for (int i = 0; i < 100; i++)
		expect_at_last(wheel, NOW + DAY, handles[i]);
	dw_wheel_free(wheel);
}

/* A sweep that was half way around when the wheel became empty does not go on: what it says it has
 * seen would be of long ago, and then all would have to be swept at one time. */
static void emptied_wheel_begins_its_sweep_again(void **state)
{
	enum { MANY = 700 };
	dw_wheel *wheel = wheel_at(NOW);
	uint32_t before = wheel_next_generation(wheel);
	dw_wheel_handle handles[MANY];
	dw_wheel_due due;

	(void)state;
	for (int i = 0; i < MANY; i++)
		handles[i] = add(wheel, NOW + SECOND + i * DAY);
	for (int i = 1; i < MANY; i++)
		assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
	wheel_sweep_some(wheel, 3);
	assert_true(wheel->sweep.list < WHEEL_LISTS);
	for (int64_t i = 1; i < 4 * (int64_t)wheel->names.ring; i++) {
		add(wheel, NOW + MANY * DAY + i);
		while (dw_wheel_next(wheel) <= NOW + MANY * DAY + i)
			(void)dw_wheel_advance(wheel, NOW + MANY * DAY + i, &due, 1);
		assert_int_equal(dw_wheel_count(wheel), 0);
	}
	assert_true(wheel_next_generation(wheel) - before > wheel->names.ring);
	add(wheel, INT64_MAX);
	for (before = wheel->swept; wheel->swept == before;)
		wheel_sweep_some(wheel, 1);
	assert_int_equal(wheel->swept, wheel_next_generation(wheel));
	dw_wheel_free(wheel);
}

/* What is put into the place of a dead one may be dead, too. */
static void sweep_leaves_no_dead_in_the_heap(void **state)
{
	enum { MANY = 500 };
	dw_wheel_handle handles[MANY];
	uint64_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		dw_wheel *wheel = wheel_at(NOW);

		for (int i = 0; i < MANY; i++)
			handles[i] = add(wheel, NOW - 1 - (int64_t)random_below(&random, MANY));
		for (int i = 0; i < MANY; i++)
			if (random_below(&random, 4))
				assert_int_equal(dw_wheel_cancel(wheel, handles[i]), DW_OK);
		assert_false(wheel_overdue_sweep(wheel, UINT32_MAX));
		assert_int_equal(wheel_entries(wheel), wheel_count(wheel));
		assert_int_equal(dw_wheel_check(wheel), 0);
		dw_wheel_free(wheel);
	}
}

/* A zone before and behind each block, which nobody may write to. */
enum { ZONE = 64, ZONE_BYTE = 0xa5 };

struct guarded {
	size_t blocks;
	size_t written; /* bytes of zones */
};

static size_t written_bytes(const unsigned char *zone)
{
	size_t count = 0;

	for (size_t i = 0; i < ZONE; i++)
		count += zone[i] != ZONE_BYTE;
	return count;
}

/* guarded_resize: the size stands before the first zone. */
static void *guarded_resize(void *user, void *block, size_t size)
{
	struct guarded *guarded = user;
	unsigned char *old = block ? (unsigned char *)block - 2 * ZONE : NULL;
	unsigned char *new = size ? malloc(size + 3 * ZONE) : NULL;
	size_t old_size = 0;

	if (old) {
		memcpy(&old_size, old, sizeof old_size);
		guarded->written += written_bytes(old + ZONE);
		guarded->written += written_bytes(old + 2 * ZONE + old_size);
	}
	if (new) {
		memset(new, ZONE_BYTE, size + 3 * ZONE);
		memcpy(new, &size, sizeof size);
		if (old)
			memcpy(new + 2 * ZONE, block, old_size < size ? old_size : size);
	}
	guarded->blocks += (new != NULL) - (size_t)(old != NULL);
	free(old);
	return new ? new + 2 * ZONE : NULL;
}

/* Timers are lost, but nothing else: no memory is written that is not the wheel's. */
static void handles_of_another_wheel_break_no_memory(void **state)
{
	struct guarded guarded = {0};
	const dw_wheel_allocator allocator = {guarded_resize, &guarded};
	dw_wheel *wheels[2] = {NULL};
	dw_wheel_handle handles[2][256] = {{0}};
	dw_wheel_due due[64];
	uint64_t random = 1;
	int64_t now = NOW;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(dw_wheel_new(&wheels[i], NOW, &allocator), DW_OK);
	for (int i = 0; i < 400000; i++) {
		uint64_t which = random_below(&random, 2), at = random_below(&random, 256);
		uint64_t what = random_below(&random, 5);
		int64_t deadline = now + 1 + (int64_t)random_below(&random, 100000);

		if (what < 2)
			handles[which][at] = add(wheels[which], deadline);
		else if (what == 2)
			(void)dw_wheel_cancel(wheels[which], handles[which][at]);
		else if (what == 3)
			(void)dw_wheel_cancel(wheels[0], handles[1][at]);
		else
			now += (int64_t)random_below(&random, 3000);
		for (int wheel = 0; what == 4 && wheel < 2; wheel++)
			(void)dw_wheel_advance(wheels[wheel], now, due, 64);
	}
	assert_true(guarded.blocks >= 2);
	dw_wheel_free(wheels[0]);
	dw_wheel_free(wheels[1]);
	assert_int_equal(guarded.blocks, 0);
	assert_int_equal(guarded.written, 0);
}

/* The generations of both wheels are alive, and the indices of the other one are none here. */
static void handles_of_a_larger_wheel_are_refused(void **state)
{
	struct guarded guarded = {0};
	const dw_wheel_allocator allocator = {guarded_resize, &guarded};
	dw_wheel *small = NULL, *large = wheel_at(NOW);

	(void)state;
	assert_int_equal(dw_wheel_new(&small, NOW, &allocator), DW_OK);
	for (uint32_t i = 0; i < 20000; i++) {
		dw_wheel_handle ours = add(small, NOW + DAY);
		dw_wheel_handle other = add(large, NOW + DAY);

		assert_int_equal(dw_wheel_index(other), i);
		assert_int_equal(dw_wheel_cancel(small, other), i == 0 ? DW_OK : DW_ENOENT);
		assert_int_equal(dw_wheel_cancel(small, ours), i == 0 ? DW_ENOENT : DW_OK);
	}
	assert_int_equal(dw_wheel_check(small), 0);
	dw_wheel_free(small);
	dw_wheel_free(large);
	assert_int_equal(guarded.written, 0);
}

/* A handle of another wheel ends the timer of its generation, and names an index that is free. */
static void free_index_is_not_freed_again(void **state)
{
	dw_wheel *ours = wheel_at(NOW), *other = wheel_at(NOW);
	dw_wheel_handle first = add(ours, NOW + DAY);
	bool taken[256] = {false};

	(void)state;
	(void)add(ours, NOW + DAY);
	assert_int_equal(dw_wheel_cancel(ours, first), DW_OK);
	assert_int_equal(dw_wheel_cancel(other, add(other, NOW + DAY)), DW_OK);
	assert_int_equal(dw_wheel_cancel(ours, add(other, NOW + DAY)), DW_OK);
	assert_int_equal(dw_wheel_count(ours), 1); /* an index that is in use for good */
	for (int i = 0; i < 200; i++) {
		uint32_t index = dw_wheel_index(add(ours, NOW + DAY));

		assert_true(index < 256 && !taken[index]);
		taken[index] = true;
	}
	dw_wheel_free(ours);
	dw_wheel_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(elders_come_out_in_order),
	    cmocka_unit_test(sorted_ones_become_elders),
	    cmocka_unit_test(elders_are_cancelled_once),
	    cmocka_unit_test(elders_are_moved),
	    cmocka_unit_test(dead_entries_do_not_grow_old),
	    cmocka_unit_test(sweep_that_is_held_up_comes_around_in_time),
	    cmocka_unit_test(generations_begin_again),
	    cmocka_unit_test(twins_are_two),
	    cmocka_unit_test(generation_of_ones_own_is_left_out),
	    cmocka_unit_test(elders_without_memory_wait),
	    cmocka_unit_test(growing_after_a_failure_loses_none),
	    cmocka_unit_test(emptied_wheel_begins_its_sweep_again),
	    cmocka_unit_test(sweep_leaves_no_dead_in_the_heap),
	    cmocka_unit_test(handles_of_another_wheel_break_no_memory),
	    cmocka_unit_test(handles_of_a_larger_wheel_are_refused),
	    cmocka_unit_test(free_index_is_not_freed_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
