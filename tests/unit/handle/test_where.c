/* dw_list, dw_count and dw_cancel_where: which timers are meant, and what is done
 * with them. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/select.h"
#include "support/seen.h"

enum { FULL = 2500 }; /* more than two pages */

struct tallied {
	int calls; /* with over = 1 */
	dw_tally tally;
};

static void tallied(dw *d, const dw_tally *tally, void *user)
{
	struct tallied *told = user;

	(void)d;
	assert_int_equal(told->calls, 0); /* nothing comes after the last call */
	assert_int_equal(tally->size, sizeof *tally);
	assert_true(tally->matched >= tally->done + tally->late + tally->gone + tally->failed);
	told->calls += tally->over;
	told->tally = *tally;
}

static struct tallied count(dw *d, dw_select select)
{
	struct tallied told = {0};

	select.size = sizeof select;
	assert_int_equal(dw_count(d, &select, tallied, &told), DW_OK);
	assert_int_equal(told.calls, 0);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.tally.status, DW_OK);
	assert_int_equal(told.tally.done, 0);
	return told;
}

static uint64_t counted(dw *d, dw_select select)
{
	return count(d, select).tally.matched;
}

static dw_tally cancel(dw *d, dw_select select)
{
	struct tallied told = {0};

	select.size = sizeof select;
	assert_int_equal(dw_cancel_where(d, &select, tallied, &told), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.calls, 1);
	return told.tally;
}

static void put(dw *d, const char *topic, const char *id, dw_usec due)
{
	assert_int_equal(dw_at(d, topic, id, due, NULL, 0), DW_OK);
}

/* fill puts timers of two topics; a timer is due at START plus its number in hours. */
#define START (DW_NEVER / 2)

static dw *fill(size_t timers)
{
	dw *d = open_store("memory:", DW_OWNER);
	char id[32];

	for (size_t i = 0; i < timers; i++) {
		(void)snprintf(id, sizeof id, "%s:%zu", i % 2 ? "odd" : "even", i);
		put(d, i % 5 ? "t" : "five", id, START + DW_HOURS((dw_usec)i));
	}
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	return d;
}

static void all_that_is_set_must_hold(void **state)
{
	dw *d = fill(100);

	(void)state;
	assert_int_equal(counted(d, (dw_select){0}), 100);
	assert_int_equal(counted(d, (dw_select){.topic = "five"}), 20);
	assert_int_equal(counted(d, (dw_select){.topic = "none"}), 0);
	assert_int_equal(counted(d, (dw_select){.id_prefix = "odd:"}), 50);
	assert_int_equal(counted(d, (dw_select){.id_prefix = "odd:9"}), 6);
	assert_int_equal(counted(d, (dw_select){.id_prefix = ""}), 100);
	assert_int_equal(counted(d, (dw_select){.topic = "five", .id_prefix = "odd:"}), 10);
	assert_int_equal(counted(d, (dw_select){.due_to = START}), 0);
	assert_int_equal(counted(d, (dw_select){.due_to = START + 1}), 1);
	assert_int_equal(counted(d, (dw_select){.due_from = START}), 100);
	assert_int_equal(counted(d, (dw_select){.due_from = START + DW_HOURS(99)}), 1);
	assert_int_equal(counted(d, (dw_select){.due_from = START + DW_HOURS(99) + 1}), 0);
	assert_int_equal(counted(d, (dw_select){.due_from = START + DW_HOURS(10),
						.due_to = START + DW_HOURS(20)}),
			 10);
	assert_int_equal(counted(d, (dw_select){.states = 1u << DW_PENDING}), 100);
	assert_int_equal(counted(d, (dw_select){.states = 1u << DW_CLAIMED}), 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void cancels_what_is_meant_over_many_pages(void **state)
{
	dw *d = fill(FULL);
	dw_tally tally = cancel(d, (dw_select){.id_prefix = "odd:"});

	(void)state;
	assert_int_equal(tally.status, DW_OK);
	assert_int_equal(tally.matched, FULL / 2);
	assert_int_equal(tally.done, FULL / 2);
	assert_null(tally.failed_id);
	assert_int_equal(counted(d, (dw_select){0}), FULL / 2);
	assert_int_equal(counted(d, (dw_select){.id_prefix = "odd:"}), 0);
	tally = cancel(d, (dw_select){.id_prefix = "odd:"});
	assert_int_equal(tally.matched, 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static dw_verdict hold(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	++*(int *)user;
	return DW_HOLD;
}

static void a_timer_that_is_delivered_is_late(void **state)
{
	dw *d = open_store("memory:", DW_OWNER);
	int held = 0;
	dw_tally tally;

	(void)state;
	assert_int_equal(dw_on(d, "t", hold, &held), DW_OK);
	put(d, "t", "now", 0);
	put(d, "t", "later", START);
	while (held == 0)
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(counted(d, (dw_select){.states = 1u << DW_CLAIMED}), 1);
	tally = cancel(d, (dw_select){.topic = "t"});
	assert_int_equal(tally.matched, 2);
	assert_int_equal(tally.done, 1);
	assert_int_equal(tally.late, 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void a_timer_that_is_put_again_stays(void **state)
{
	dw_select select = {.size = sizeof select, .topic = "t"};
	struct tallied told = {0};
	dw *d = open_store("memory:", DW_OWNER);

	(void)state;
	put(d, "t", "even:0", START);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_cancel_where(d, &select, tallied, &told), DW_OK);
	put(d, "t", "even:0", START + 1); /* between the page and its cancels */
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.tally.matched, 1);
	assert_int_equal(told.tally.gone, 1);
	assert_int_equal(counted(d, select), 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

/* What dw_count_due() has answered. */
struct due {
	int calls, status;
	uint64_t counts[DW_DUE_BOUNDS_MAX];
	size_t count;
	dw_usec whole_to;
};

static void due_told(dw *d, int status, const dw_due_counts *counts, void *user)
{
	struct due *due = user;

	(void)d;
	due->calls++;
	due->status = status;
	if (status != DW_OK)
		return;
	assert_int_equal(counts->size, sizeof *counts);
	due->count = counts->count;
	due->whole_to = counts->whole_to;
	memcpy(due->counts, counts->counts, counts->count * sizeof *counts->counts);
}

static struct due count_due(dw *d, const dw_usec *bounds, size_t count)
{
	struct due due = {0};

	assert_int_equal(dw_count_due(d, bounds, count, due_told, &due), DW_OK);
	assert_int_equal(due.calls, 0);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(due.calls, 1);
	assert_int_equal(due.status, DW_OK);
	assert_int_equal(due.count, count - 1);
	return due;
}

/* A store that looks at each timer stops in the third span, and says where. */
static void counts_of_due_timers_are_bounded(void **state)
{
	static const dw_usec spans[] = {START, START + 100, START + 19000, START + 30000,
					START + 40000};
	dw *d = open_store("memory:", DW_OWNER);
	struct due due;
	char id[24];

	(void)state;
	for (int i = 0; i < DW_DUE_LOOKS_MAX + 10; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		put(d, "t", id, START + i);
		if (i % 10000 == 0)
			assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	}
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	due = count_due(d, spans, 5);
	assert_int_equal(due.counts[0], 100);
	assert_int_equal(due.counts[1], 18900);
	assert_int_equal(due.counts[2], 1000);
	assert_int_equal(due.counts[3], 0);
	assert_int_equal(due.whole_to, START + DW_DUE_LOOKS_MAX);
	due = count_due(d, spans, 3);
	assert_int_equal(due.whole_to, START + 19000);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void expect_refused(dw *d, int status, const char *word)
{
	assert_int_equal(status, DW_EINVAL);
	assert_non_null(strstr(dw_last_error(d), word));
}

static void bad_selections_are_refused_in_words(void **state)
{
	char prefix[DW_ID_SIZE + 1];
	dw *d = open_store("memory:", DW_OWNER);
	dw_select select = {.size = sizeof select};
	static const dw_usec bounds[] = {1, 2, 2};

	(void)state;
	memset(prefix, 'a', sizeof prefix);
	prefix[DW_ID_SIZE] = '\0';
	expect_refused(d, dw_cancel_where(d, &select, tallied, NULL), "dw_purge");
	select.id_prefix = "";
	expect_refused(d, dw_cancel_where(d, &select, tallied, NULL), "dw_purge");
	expect_refused(d, dw_cancel_where(d, NULL, tallied, NULL), "dw_purge");
	expect_refused(d, dw_count(d, &select, NULL, NULL), "callback");
	expect_refused(d, dw_list(d, &select, NULL, 1, NULL, NULL), "callback");
	select.id_prefix = prefix;
	expect_refused(d, dw_count(d, &select, tallied, NULL), "255");
	select = (dw_select){.size = sizeof select, .topic = "\n"};
	expect_refused(d, dw_count(d, &select, tallied, NULL), "topic");
	select = (dw_select){.size = sizeof select, .topic = "t", .partial = 1};
	expect_refused(d, dw_cancel_where(d, &select, tallied, NULL), "partial");
	select = (dw_select){.size = sizeof select, .due_from = 5, .due_to = 5};
	expect_refused(d, dw_count(d, &select, tallied, NULL), "due_to");
	select = (dw_select){.size = sizeof select, .states = 8};
	expect_refused(d, dw_count(d, &select, tallied, NULL), "states 0x8");
	expect_refused(d, dw_count_due(d, bounds, 2, NULL, NULL), "callback");
	expect_refused(d, dw_count_due(d, NULL, 2, due_told, NULL), "2 to 256 bounds");
	expect_refused(d, dw_count_due(d, bounds, 1, due_told, NULL), "2 to 256 bounds");
	expect_refused(d, dw_count_due(d, bounds, 257, due_told, NULL), "2 to 256 bounds");
	expect_refused(d, dw_count_due(d, bounds, 3, due_told, NULL), "bound 2 is not after");
	select = (dw_select){.size = 3};
	expect_refused(d, dw_count(d, &select, tallied, NULL), "sizeof");
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_that_is_set_must_hold),
	    cmocka_unit_test(cancels_what_is_meant_over_many_pages),
	    cmocka_unit_test(a_timer_that_is_delivered_is_late),
	    cmocka_unit_test(a_timer_that_is_put_again_stays),
	    cmocka_unit_test(counts_of_due_timers_are_bounded),
	    cmocka_unit_test(bad_selections_are_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
