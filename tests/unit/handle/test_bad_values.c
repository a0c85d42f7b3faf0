/* The edges of what a caller may say: numbers, names, sizes. What is beyond them is refused in
 * words, what is within is kept to the bit. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/ended.h"
#include "support/misuse.h"

#define TWO_TO_53 (INT64_C(1) << 53)

/* ---- Time ---------------------------------------------------------------------------------- */

static dw_usec noon(void *user)
{
	return *(dw_usec *)user;
}

static dw *open_at(dw_usec *clock)
{
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .clock = noon, .clock_user = clock};
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	return d;
}

static void due_page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		     void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_usec *)user = timers->due;
}

/* stored_due: what the store has of a timer. */
static dw_usec stored_due(dw *d, const char *id)
{
	dw_usec due = -1;

	assert_int_equal(dw_get(d, id, due_page, &due), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	return due;
}

static void delay_below_zero_is_refused(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	says(d, dw_after(d, "t", "a", -1, NULL, 0), DW_EINVAL, "negative");
	says(d, dw_after(d, "t", "a", INT64_MIN, NULL, 0), DW_EINVAL, "negative");
	says(d, dw_retry_in(d, 1), DW_EINVAL, "inside a handler");
	close_memory(d);
}

static void delay_at_the_edges_is_exact_and_saturates(void **state)
{
	static const dw_usec delays[] = {0,
					 1,
					 TWO_TO_53 - 1,
					 TWO_TO_53,
					 TWO_TO_53 + 1,
					 INT64_MAX - 1000000 - 1,
					 INT64_MAX - 1000000,
					 INT64_MAX - 1000000 + 1,
					 INT64_MAX};
	dw_usec clock = 1000000;
	dw *d = open_at(&clock);

	(void)state;
	for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
		dw_usec wanted = delays[i] > INT64_MAX - clock ? DW_NEVER : clock + delays[i];

		assert_int_equal(dw_after(d, "t", "a", delays[i], NULL, 0), DW_OK);
		assert_true(stored_due(d, "a") == wanted);
	}
	close_memory(d);
}

static void deadline_of_any_number_is_kept_and_fires_in_order(void **state)
{
	static const dw_usec dues[] = {
	    INT64_MIN, INT64_MIN + 1, -TWO_TO_53,    -1,       0, 1, TWO_TO_53 - 1,
	    TWO_TO_53, TWO_TO_53 + 1, INT64_MAX - 1, INT64_MAX};
	size_t count = sizeof dues / sizeof *dues;
	dw_usec clock = 1000000;
	dw *d = open_at(&clock);
	struct seen seen = {0};
	char id[8];

	(void)state;
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(id, sizeof id, "%zu", i);
		assert_int_equal(dw_at(d, "t", id, dues[i], NULL, 0), DW_OK);
		assert_true(stored_due(d, id) == dues[i]);
	}
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK); /* checks: not early */
	for (int i = 0; i < 100; i++)
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(seen.starts, 6); /* what is past, however long */
	clock = TWO_TO_53;
	for (int i = 0; i < 10000 && seen.starts < 8; i++)
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(seen.starts, 8);
	close_memory(d);
}

static void late_after_below_zero_is_refused_and_above_saturates(void **state)
{
	dw_usec clock = 1000000;
	dw *d = open_at(&clock);
	struct seen seen = {0};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .late_after_us = -1};

	(void)state;
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
	says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "late_after_us");
	timer.late_after_us = INT64_MAX;
	timer.due = INT64_MIN;
	assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	for (int i = 0; i < 100; i++)
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(seen.starts, 1);
	close_memory(d);
}

static void keep_beyond_90_days_is_refused(void **state)
{
	static const dw_usec wrong[] = {-1, INT64_MIN, DW_KEEP_MAX + 1, INT64_MAX};
	dw_usec clock = 1000000;
	dw *d = open_at(&clock);
	dw_timer timer = {
	    .size = sizeof timer, .id = "a", .topic = "t", .due = 1, .keep_us = DW_KEEP_MAX};

	(void)state;
	assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_OK);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		timer.keep_us = wrong[i];
		says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "keep_us is not 0 to 90 days");
	}
	close_memory(d);
}

static void once_contradicts_every_mode(void **state)
{
	static const unsigned modes[] = {DW_DUE_EARLIEST, DW_DUE_LATEST, DW_DATA_FIRST};
	dw_usec clock = 1000000;
	dw *d = open_at(&clock);
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .due = 1};

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		timer.flags = DW_ONCE | modes[i];
		says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "DW_ONCE replaces no timer");
	}
	timer.flags = DW_ONCE << 1;
	says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "unknown flags 0x20");
	timer.flags = DW_ONCE | DW_NEW;
	says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "each stand alone");
	close_memory(d);
}

static void patience_of_any_number_is_taken(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(put_never(d, &seen, "a", "t"), DW_OK);
	assert_int_equal(dw_sync(d, INT64_MAX), DW_OK);
	assert_int_equal(dw_sync(d, INT64_MIN), DW_OK); /* all is answered */
	assert_int_equal(dw_close(d, INT64_MIN), DW_OK);
	d = open_memory(&seen);
	assert_int_equal(dw_close(d, INT64_MAX), DW_OK);
}

/* ---- Ids and topics ------------------------------------------------------------------------ */

static void id_of_0_or_256_bytes_is_refused_1_and_255_are_not(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	char id[DW_ID_MAX + 2];

	(void)state;
	memset(id, 'x', sizeof id);
	id[DW_ID_MAX + 1] = '\0';
	says(d, put_never(d, &seen, "", "t"), DW_EINVAL, "empty");
	says(d, put_never(d, &seen, id, "t"), DW_EINVAL, "255");
	says(d, dw_cancel(d, "", NULL, NULL), DW_EINVAL, "empty");
	says(d, dw_cancel(d, id, NULL, NULL), DW_EINVAL, "255");
	says(d, dw_move(d, "", 0, NULL, NULL), DW_EINVAL, "empty");
	says(d, dw_get(d, "", due_page, NULL), DW_EINVAL, "empty");
	says(d, dw_get(d, id, due_page, NULL), DW_EINVAL, "255");
	says(d, dw_dead_requeue(d, "", 0, 0, NULL, NULL), DW_EINVAL, "empty");
	says(d, dw_dead_drop(d, "", 0, NULL, NULL), DW_EINVAL, "empty");
	id[DW_ID_MAX] = '\0';
	assert_int_equal(put_never(d, &seen, id, "t"), DW_OK);
	assert_int_equal(put_never(d, &seen, "x", "t"), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_true(stored_due(d, id) == DW_NEVER);
	assert_true(stored_due(d, "x") == DW_NEVER);
	close_memory(d);
}

static void topic_of_0_or_64_bytes_is_refused_1_and_63_are_not(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	char topic[DW_TOPIC_MAX + 2];

	(void)state;
	memset(topic, 'x', sizeof topic);
	topic[DW_TOPIC_MAX + 1] = '\0';
	says(d, put_never(d, &seen, "a", ""), DW_EINVAL, "empty");
	says(d, put_never(d, &seen, "a", topic), DW_EINVAL, "63");
	says(d, put_never(d, &seen, "a", "*"), DW_EINVAL, "stands for all");
	says(d, dw_on(d, "", on_due, &seen), DW_EINVAL, "1 to 63");
	says(d, dw_on(d, topic, on_due, &seen), DW_EINVAL, "1 to 63");
	topic[DW_TOPIC_MAX] = '\0';
	assert_int_equal(dw_on(d, topic, on_due, &seen), DW_OK);
	assert_int_equal(put_never(d, &seen, "a", topic), DW_OK);
	assert_int_equal(put_never(d, &seen, "b", "x"), DW_OK);
	close_memory(d);
}

static void id_with_control_characters_or_bad_utf8_is_refused(void **state)
{
	static const char *const bad[] = {"\r\n",         "a\r\nb",           "\x7f",
					  "\x1b[2J",      "\xc2\x85",         "\xff",
					  "\xc3",         "\xc0\x80",         "\xe0\x80\x80",
					  "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80",
					  "a\x80"};
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		says(d, put_never(d, &seen, bad[i], "t"), DW_EINVAL, "the id is not UTF-8");
		says(d, put_never(d, &seen, "a", bad[i]), DW_EINVAL, "the topic is not UTF-8");
		says(d, dw_cancel(d, bad[i], NULL, NULL), DW_EINVAL, "the id is not UTF-8");
		says(d, dw_on(d, bad[i], on_due, &seen), DW_EINVAL, "control");
	}
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 0);
	close_memory(d);
}

static void id_of_other_systems_is_plain_text(void **state)
{
	static const char *const good[] = {
	    "{}", "{a}:*", "*",     "'; DROP TABLE timer; --",       "%s%n",
	    "-x", " ",     "../..", "\xe2\x82\xac \xf0\x9f\x95\x92", "\"\\"};
	struct seen seen;
	dw *d = open_memory(&seen);
	size_t count = sizeof good / sizeof *good;

	(void)state;
	for (size_t i = 0; i < count; i++)
		assert_int_equal(put_never(d, &seen, good[i], "t"), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	for (size_t i = 0; i < count; i++) {
		assert_true(stored_due(d, good[i]) == DW_NEVER);
		assert_int_equal(dw_cancel(d, good[i], on_done, &seen), DW_OK);
	}
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 2 * (int)count);
	assert_int_equal(seen.status, DW_OK);
	close_memory(d);
}

static void id_of_bytes_behind_a_nul_ends_there(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(put_never(d, &seen, "a\0b", "t"), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_true(stored_due(d, "a") == DW_NEVER);
	close_memory(d);
}

static void id_given_twice_is_one_timer(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_timer new = {.size = sizeof new, .id = "a", .topic = "t", .flags = DW_NEW};
	uint64_t count;

	(void)state;
	assert_int_equal(put_never(d, &seen, "a", "t"), DW_OK);
	assert_int_equal(put_never(d, &seen, "a", "t"), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 2);
	assert_int_equal(seen.status, DW_OK);
	count = known_timers(d);
	assert_int_equal(count, 1);
	assert_int_equal(dw_put(d, &new, on_done, &seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.status, DW_EEXIST);
	close_memory(d);
}

/* ---- Data ---- */

static void same_data(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	const dw_timer *timer = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	assert_int_equal(timers->data_size, timer->data_size);
	if (timer->data_size > 0)
		assert_memory_equal(timers->data, timer->data, timer->data_size);
}

static void data_of_0_and_the_limit_is_kept_and_more_is_refused(void **state)
{
	static const size_t limits[] = {0, 1, DW_DATA_MAX};
	char *data = calloc(1, DW_DATA_MAX);

	(void)state;
	assert_non_null(data);
	memset(data, 0xa5, DW_DATA_MAX);
	for (size_t i = 0; i < 3; i++) {
		dw_options options = {
		    .size = sizeof options, .store = "memory:", .data_max_bytes = limits[i]};
		size_t limit = limits[i] ? limits[i] : DW_DATA_DEFAULT;
		dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .data = data};
		dw *d;

		timer.due = DW_NEVER;
		assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
		for (timer.data_size = 0; timer.data_size <= limit; timer.data_size += limit) {
			assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_OK);
			assert_int_equal(dw_get(d, "a", same_data, &timer), DW_OK);
			assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		}
		timer.data_size = limit + 1;
		says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "data_max_bytes");
		timer.data_size = SIZE_MAX;
		says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "data_max_bytes");
		says(d, dw_after(d, "t", "a", 1, NULL, 1), DW_EINVAL, "NULL");
		close_memory(d);
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(delay_below_zero_is_refused),
	    cmocka_unit_test(delay_at_the_edges_is_exact_and_saturates),
	    cmocka_unit_test(deadline_of_any_number_is_kept_and_fires_in_order),
	    cmocka_unit_test(late_after_below_zero_is_refused_and_above_saturates),
	    cmocka_unit_test(keep_beyond_90_days_is_refused),
	    cmocka_unit_test(once_contradicts_every_mode),
	    cmocka_unit_test(patience_of_any_number_is_taken),
	    cmocka_unit_test(id_of_0_or_256_bytes_is_refused_1_and_255_are_not),
	    cmocka_unit_test(topic_of_0_or_64_bytes_is_refused_1_and_63_are_not),
	    cmocka_unit_test(id_with_control_characters_or_bad_utf8_is_refused),
	    cmocka_unit_test(id_of_other_systems_is_plain_text),
	    cmocka_unit_test(id_of_bytes_behind_a_nul_ends_there),
	    cmocka_unit_test(id_given_twice_is_one_timer),
	    cmocka_unit_test(data_of_0_and_the_limit_is_kept_and_more_is_refused),
	};

	return cmocka_run_group_tests_name("bad_values", tests, NULL, NULL);
}
