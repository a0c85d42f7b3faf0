/* options.posted_max_bytes: how much the unanswered calls of other threads may take. */
#include "support/cmocka.h"
#include "support/watch.h"

#define CALL_MIN 400 /* bytes of one call without data; about 600 are promised */
#define CALL_MAX 800
#define CALLS_MAX ((16 << 20) / CALL_MIN) /* more are never accepted: the default is 16 MiB */

static void *fill(void *user)
{
	struct seen *seen = user;

	seen->result = 0;
	while (seen->result <= CALLS_MAX && (seen->status = seen_put(seen->d, NULL, seen)) == DW_OK)
		seen->result++;
	return NULL;
}

/* accepted: the number of calls until there is no room. All of them are answered. */
static int accepted(size_t posted_max_bytes)
{
	struct seen seen;

	seen_open(&seen, posted_max_bytes);
	seen_in_thread(fill, &seen);
	assert_int_equal(seen.status, DW_ELIMIT);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, seen.result);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	return seen.result;
}

static void posted_max_bytes_bounds_what_is_not_answered(void **state)
{
	const int small = 64 * 1024;
	const int call = small / accepted((size_t)small);

	(void)state;
	assert_in_range(call, CALL_MIN, CALL_MAX);
	assert_in_range(accepted((size_t)small * 8), small * 8 / call - 8, small * 8 / call + 8);
}

static void posted_max_bytes_is_16_MiB_unless_it_is_set(void **state)
{
	(void)state;
	assert_in_range(accepted(0), (16 << 20) / CALL_MAX, CALLS_MAX);
}

static void room_comes_back_with_the_answers(void **state)
{
	struct seen seen;
	int first;

	(void)state;
	seen_open(&seen, (size_t)64 * 1024);
	seen_in_thread(fill, &seen);
	first = seen.result;
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	seen_in_thread(fill, &seen);
	assert_int_equal(seen.result, first);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(posted_max_bytes_bounds_what_is_not_answered),
	    cmocka_unit_test(posted_max_bytes_is_16_MiB_unless_it_is_set),
	    cmocka_unit_test(room_comes_back_with_the_answers),
	};

	return cmocka_run_group_tests_name("posted_max", tests, NULL, NULL);
}
