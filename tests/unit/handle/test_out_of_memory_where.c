/* Each allocation fails once, alone or with all later ones, while a program lists, counts and
 * cancels a selection. Cancelled timers are gone, the others stay, and each accepted call ends
 * once. */
#include "support/cmocka.h"

#include "durawheel/select.h"
#include "support/seen.h"
#include "support/shortage.h"

#define START (DW_NEVER / 2)

struct scarce {
	int calls; /* the number of calls with over = 1 */
	dw_tally tally;
};

static void put(dw *d, const char *topic, const char *id, dw_usec due)
{
	assert_int_equal(dw_at(d, topic, id, due, NULL, 0), DW_OK);
}

static void listed_scarce(dw *d, int status, const dw_info *timers, size_t count,
			  const dw_cursor *next, void *user)
{
	(void)d;
	(void)timers;
	(void)count;
	(void)next;
	assert_true(status == DW_OK || status == DW_ENOMEM);
	++*(int *)user;
}

static void tallied_scarce(dw *d, const dw_tally *tally, void *user)
{
	struct scarce *told = user;

	(void)d;
	told->calls += tally->over;
	told->tally = *tally;
}

static void due_scarce(dw *d, int status, const dw_due_counts *counts, void *user)
{
	int *calls = user;

	(void)d;
	assert_int_equal(status == DW_OK, counts != NULL);
	assert_true(status == DW_OK || status == DW_ENOMEM);
	++*calls;
}

/* lack_memory runs the calls while allocations fail. Cancelled timers must be gone, and the others
 * must stay. Returns true if an allocation failed. */
static bool lack_memory(size_t nth, bool always)
{
	struct shortage shortage = SHORTAGE_NONE;
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .resize = shortage_resize,
			      .resize_user = &shortage};
	dw_select select = {.size = sizeof select, .topic = "t"};
	struct scarce told = {0};
	dw_stats stats = {.size = sizeof stats};
	static const dw_usec bounds[] = {START, START + 1};
	int status[4], listed = 0, due = 0;
	struct scarce counted = {0};
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	put(d, "t", "a", START);
	put(d, "t", "b", START);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	shortage_begin(&shortage, nth, always);
	status[0] = dw_list(d, &select, NULL, 10, listed_scarce, &listed);
	status[1] = dw_count(d, &select, tallied_scarce, &counted);
	status[2] = dw_cancel_where(d, &select, tallied_scarce, &told);
	status[3] = dw_count_due(d, bounds, 2, due_scarce, &due);
	for (int i = 0; i < 20; i++)
		assert_int_equal(dw_turn(d), DW_OK);
	shortage_end(&shortage);
	for (int i = 0; i < 4; i++)
		assert_true(status[i] == DW_OK || status[i] == DW_ENOMEM);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(listed, status[0] == DW_OK);
	assert_int_equal(due, status[3] == DW_OK);
	assert_int_equal(counted.calls, status[1] == DW_OK);
	assert_int_equal(told.calls, status[2] == DW_OK);
	assert_true(counted.tally.status == DW_ENOMEM || counted.tally.matched == 2 || status[1]);
	assert_true(told.tally.failed == 0 || told.tally.failed_status == DW_ENOMEM);
	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	assert_int_equal(stats.timers, 2 - told.tally.done);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(shortage.blocks, 0);
	return shortage_failed(&shortage);
}

static void every_allocation_may_fail(void **state)
{
	size_t nth[2] = {1, 1};

	(void)state;
	while (lack_memory(nth[0], false))
		nth[0]++;
	while (lack_memory(nth[1], true))
		nth[1]++;
	assert_true(nth[0] > 5 && nth[1] > 5); /* the sweep has failed some allocations */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
