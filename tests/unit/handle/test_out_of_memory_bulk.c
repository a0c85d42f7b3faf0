/* Each allocation fails once, alone or with all later ones, while a program puts and cancels
 * several timers at once. Each accepted call is answered once. A result is DW_OK if the operation
 * is done, and DW_ENOMEM if it is not. */
#include "support/cmocka.h"

#include <string.h>

#include "support/seen.h"
#include "support/shortage.h"

struct bulk_told {
	int calls;
	size_t done;
};

static void told_many(dw *d, const dw_result *results, size_t count, void *user)
{
	struct bulk_told *told = user;

	(void)d;
	told->calls++;
	for (size_t i = 0; i < count; i++) {
		assert_true(results[i].status == DW_OK || results[i].status == DW_ENOMEM);
		told->done += results[i].status == DW_OK;
	}
}

/* ask makes the calls. Returns the number of timers that there should be afterwards. */
static uint64_t ask(dw *d, struct shortage *shortage, size_t nth, bool always)
{
	dw_timer timers[] = {
	    {.size = sizeof *timers, .id = "new", .topic = "t", .due = DW_NEVER - 1},
	    {.size = sizeof *timers, .topic = "t", .due = DW_NEVER - 1}};
	const char *ids[] = {"there"};
	struct bulk_told put = {0}, cancelled = {0};
	int status[2];

	assert_int_equal(dw_at(d, "t", "there", DW_NEVER - 1, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	shortage_begin(shortage, nth, always);
	status[0] = dw_put_many(d, timers, 2, told_many, &put);
	if (status[0] == DW_ENOMEM)
		assert_non_null(strstr(dw_last_error(d), "no memory"));
	status[1] = dw_cancel_many(d, ids, 1, told_many, &cancelled);
	for (int i = 0; i < 10; i++)
		assert_int_equal(dw_turn(d), DW_OK);
	shortage_end(shortage);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(put.calls, status[0] == DW_OK);
	assert_int_equal(cancelled.calls, status[1] == DW_OK);
	return 1 + put.done - cancelled.done;
}

static void sweep(bool always)
{
	bool failed = true;

	for (size_t nth = 1; failed; nth++) {
		struct shortage shortage = SHORTAGE_NONE;
		dw_options options = {.size = sizeof options,
				      .store = "memory:",
				      .resize = shortage_resize,
				      .resize_user = &shortage};
		dw_stats stats = {.size = sizeof stats};
		uint64_t count;
		dw *d;

		assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
		count = ask(d, &shortage, nth, always);
		failed = shortage_failed(&shortage);
		assert_int_equal(dw_get_stats(d, &stats), DW_OK);
		assert_int_equal(stats.timers, count);
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
		assert_int_equal(shortage.blocks, 0);
		assert_true(failed || nth > 5); /* the sweep has failed some allocations */
	}
}

static void one_allocation_fails(void **state)
{
	(void)state;
	sweep(false);
}

static void all_allocations_fail(void **state)
{
	(void)state;
	sweep(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_allocation_fails),
	    cmocka_unit_test(all_allocations_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
