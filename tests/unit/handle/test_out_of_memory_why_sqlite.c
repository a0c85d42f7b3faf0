/* Each allocation fails once, alone or with all later ones, while a program asks what timers wait
 * for. Each accepted call is answered once. An answer with DW_OK is true. */
#include "support/cmocka.h"

#include <stdio.h>

#include "durawheel/why.h"
#include "support/seen.h"
#include "support/shortage.h"
#include "support/temp.h"

struct told {
	int calls;
	int status;
	dw_waits waits;
};

static void heard_why(dw *d, int status, const dw_why *why, void *user)
{
	struct told *told = user;

	(void)d;
	assert_int_equal(status == DW_OK, why != NULL);
	told->calls++;
	told->status = status;
	if (why)
		told->waits = why->waits;
}

static dw_verdict say_retry(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	(void)user;
	return DW_RETRY;
}

static void judge(const struct told *told, int status, dw_waits waits)
{
	assert_true(status == DW_OK || status == DW_ENOMEM);
	assert_int_equal(told->calls, status == DW_OK);
	if (status != DW_OK)
		return;
	assert_true(told->status == DW_OK || told->status == DW_ENOMEM ||
		    (waits == DW_WAITS_NOT && told->status == DW_ENOENT));
	if (told->status == DW_OK)
		assert_int_equal(told->waits, waits);
}

/* lack_memory asks as an owner, or as a client beside it, while allocations fail. Returns true if
 * an allocation failed. */
static bool lack_memory(const char *url, dw_role role, size_t nth, bool always)
{
	struct shortage shortage = SHORTAGE_NONE;
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = role,
			      .resize = shortage_resize,
			      .resize_user = &shortage};
	static const char *const ids[] = {"far", "again", "none"};
	static const dw_waits waits[] = {DW_WAITS_DUE, DW_WAITS_RETRY, DW_WAITS_NOT};
	struct told told[3] = {0};
	int status[3];
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	shortage_begin(&shortage, nth, always);
	for (int i = 0; i < 3; i++)
		status[i] = dw_why_waiting(d, ids[i], heard_why, &told[i]);
	(void)dw_sync(d, PATIENCE); /* without memory it may fail */
	shortage_end(&shortage);
	(void)dw_sync(d, PATIENCE);
	for (int i = 0; i < 3; i++)
		judge(&told[i], status[i], waits[i]);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(shortage.blocks, 0);
	return shortage_failed(&shortage);
}

/* fill makes a timer that is due in a day, and a timer that was tried. */
static void fill(const char *url)
{
	dw_options options = {.size = sizeof options, .store = url};
	dw_topic_settings settings = {.size = sizeof settings, .backoff_first_us = DW_HOURS(1)};
	dw_stats stats = {.size = sizeof stats};
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_topic_set(d, "t", &settings, NULL, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", say_retry, NULL), DW_OK);
	assert_int_equal(dw_after(d, "t", "far", DW_DAYS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_after(d, "t", "again", 0, NULL, 0), DW_OK);
	while (stats.retried == 0) {
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	}
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void every_allocation_may_fail(void **state)
{
	char folder[TEMP_SIZE], url[TEMP_SIZE + 32];

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s/t.db", folder); /* it fits */
	fill(url);
	for (int i = 0; i < 4; i++) {
		size_t nth = 1;

		while (lack_memory(url, i < 2 ? DW_OWNER : DW_CLIENT, nth, i % 2))
			nth += shortage_step();
		assert_true(nth > 3); /* the sweep has failed some allocations */
	}
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests_name("out_of_memory_why", tests, NULL, NULL);
}
