/* dw_put_many and dw_cancel_many: each for itself, one answer with all results in their order. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/watch.h"

enum { MANY = DW_BULK_MAX, FEW = 4 };

/* What the answer has said. */
struct told {
	int calls;
	size_t count;
	int failed; /* results that are not DW_OK */
	int statuses[FEW];
	char ids[FEW][DW_ID_SIZE];
};

static void heard_all(dw *d, const dw_result *results, size_t count, void *user)
{
	struct told *told = user;

	(void)d;
	told->calls++;
	told->count = count;
	told->failed = 0;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(results[i].size, sizeof *results);
		told->failed += results[i].status != DW_OK;
		if (i < FEW) {
			told->statuses[i] = results[i].status;
			memcpy(told->ids[i], results[i].id, strlen(results[i].id) + 1);
		}
	}
}

static void wait_for(struct seen *seen, const struct told *told, int calls)
{
	assert_int_equal(dw_sync(seen->d, PATIENCE), DW_OK);
	while (told->calls < calls)
		assert_int_equal(dw_turn(seen->d), DW_OK);
	assert_int_equal(told->calls, calls);
}

static uint64_t pending(const struct seen *seen)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(seen->d, &stats), DW_OK);
	return stats.timers;
}

static void fill(dw_timer *timers, char (*ids)[32], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(ids[i], sizeof ids[i], "id %zu", i);
		timers[i] = (dw_timer){.size = sizeof timers[i],
				       .id = ids[i],
				       .topic = "t",
				       .due = DW_NEVER - 1,
				       .data = ids[i],
				       .data_size = strlen(ids[i])};
	}
}

static void each_is_put_and_cancelled_for_itself(void **state)
{
	dw_timer timers[FEW];
	char ids[FEW][32];
	const char *cancels[FEW] = {"id 2", "unknown", "id 0", NULL};
	struct told told = {0};
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	fill(timers, ids, FEW);
	timers[1].topic = NULL;
	timers[3].id = NULL;
	assert_int_equal(dw_put_many(seen.d, timers, FEW, heard_all, &told), DW_OK);
	memset(timers, 0xff, sizeof timers); /* the arrays may go */
	memset(ids, 0xff, sizeof ids);
	assert_int_equal(told.calls, 0);
	wait_for(&seen, &told, 1);
	assert_int_equal(told.count, FEW);
	assert_int_equal(told.failed, 1);
	assert_int_equal(told.statuses[1], DW_EINVAL);
	assert_string_equal(told.ids[0], "id 0");
	assert_string_equal(told.ids[1], "id 1");
	assert_int_equal(strlen(told.ids[3]), 32); /* it was made */
	assert_int_equal(pending(&seen), 3);
	cancels[3] = told.ids[3];
	assert_int_equal(dw_cancel_many(seen.d, cancels, FEW, heard_all, &told), DW_OK);
	wait_for(&seen, &told, 2);
	assert_int_equal(told.failed, 1);
	assert_int_equal(told.statuses[1], DW_ENOENT);
	assert_string_equal(told.ids[2], "id 0");
	assert_int_equal(pending(&seen), 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void answer_comes_later_even_if_all_are_refused(void **state)
{
	const char *ids[FEW] = {NULL, "", "a\nb", "\xff"};
	struct told told = {0};
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_cancel_many(seen.d, ids, FEW, heard_all, &told), DW_OK);
	assert_int_equal(told.calls, 0);
	wait_for(&seen, &told, 1);
	assert_int_equal(told.failed, FEW);
	assert_int_equal(told.statuses[0], DW_EINVAL);
	assert_string_equal(told.ids[0], "");
	assert_string_equal(told.ids[2], "a\nb");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void as_many_as_allowed(void **state)
{
	dw_timer *timers = calloc(MANY, sizeof *timers);
	char(*ids)[32] = calloc(MANY, sizeof *ids);
	struct told told = {0};
	struct seen seen;

	(void)state;
	assert_true(timers && ids);
	seen_open(&seen, 0);
	fill(timers, ids, MANY);
	assert_int_equal(dw_put_many(seen.d, timers, MANY, heard_all, &told), DW_OK);
	wait_for(&seen, &told, 1);
	assert_int_equal(told.count, MANY);
	assert_int_equal(told.failed, 0);
	assert_int_equal(pending(&seen), MANY);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	free(timers);
	free(ids);
}

static void bad_calls_are_refused_as_a_whole(void **state)
{
	dw_timer timer = {.size = sizeof timer, .topic = "t"}, timers[FEW];
	const char *id = "a";
	struct told told = {0};
	struct seen seen;
	char ids[FEW][32];

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_put_many(seen.d, &timer, 0, heard_all, &told), DW_EINVAL);
	assert_int_equal(dw_put_many(seen.d, &timer, DW_BULK_MAX + 1, heard_all, &told), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "DW_BULK_MAX"));
	assert_int_equal(dw_put_many(seen.d, NULL, 1, heard_all, &told), DW_EINVAL);
	assert_int_equal(dw_put_many(seen.d, &timer, 1, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_cancel_many(seen.d, NULL, 1, heard_all, &told), DW_EINVAL);
	assert_int_equal(dw_cancel_many(NULL, &id, 1, heard_all, &told), DW_EINVAL);
	fill(timers, ids, FEW);
	timers[0].size = sizeof &timers[0]; /* a mistake: the size of a pointer */
	assert_int_equal(dw_put_many(seen.d, timers, FEW, heard_all, &told), DW_EINVAL);
	fill(timers, ids, FEW);
	timers[FEW - 1].size = 0;
	assert_int_equal(dw_put_many(seen.d, timers, FEW, heard_all, &told), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "sizeof(dw_timer)"));
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	assert_int_equal(told.calls, 0);
}

/* The dw_timer of a later version. */
struct later_timer {
	dw_timer known;
	uint64_t unknown;
};

static void timers_of_a_later_version_are_read_to_their_end(void **state)
{
	struct later_timer timers[FEW];
	struct told told = {0};
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	for (unsigned i = 0; i < FEW; i++)
		timers[i] = (struct later_timer){
		    {.size = sizeof timers[i], .topic = "t", .due = DW_NEVER - 1}, i % 2};
	timers[2].known.id = "a";
	timers[3].known.id = "b";
	assert_int_equal(dw_put_many(seen.d, &timers[0].known, FEW, heard_all, &told), DW_OK);
	wait_for(&seen, &told, 1);
	for (unsigned i = 0; i < FEW; i++)
		assert_int_equal(told.statuses[i], i % 2 ? DW_EINVAL : DW_OK);
	assert_int_equal(pending(&seen), FEW / 2);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

struct elsewhere {
	struct seen *seen;
	struct told *told;
	int status;
};

static void *put_elsewhere(void *user)
{
	struct elsewhere *elsewhere = user;
	dw_timer timers[FEW];
	char ids[FEW][32];

	fill(timers, ids, FEW);
	timers[0].id = NULL;
	timers[1].data_size = SIZE_MAX; /* it must not be copied */
	elsewhere->status =
	    dw_put_many(elsewhere->seen->d, timers, FEW, heard_all, elsewhere->told);
	memset(timers, 0xff, sizeof timers);
	memset(ids, 0xff, sizeof ids);
	return NULL;
}

static void run_elsewhere(struct elsewhere *elsewhere)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, put_elsewhere, elsewhere), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void another_thread_may_ask(void **state)
{
	struct told told = {0};
	struct seen seen;
	struct elsewhere elsewhere = {&seen, &told, -1};

	(void)state;
	seen_open(&seen, 0);
	run_elsewhere(&elsewhere);
	assert_int_equal(elsewhere.status, DW_OK);
	wait_for(&seen, &told, 1);
	assert_int_equal(told.failed, 1);
	assert_int_equal(told.statuses[1], DW_EINVAL);
	assert_int_equal(strlen(told.ids[0]), 32);
	assert_string_equal(told.ids[3], "id 3");
	assert_int_equal(pending(&seen), 3);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* Its bytes count until it is answered, and not only until it is begun. */
static void unanswered_bulks_have_a_limit(void **state)
{
	struct told told = {0};
	struct seen seen;
	struct elsewhere elsewhere = {&seen, &told, -1};

	(void)state;
	seen_open(&seen, 1024);
	run_elsewhere(&elsewhere); /* one is always accepted */
	assert_int_equal(elsewhere.status, DW_OK);
	run_elsewhere(&elsewhere);
	assert_int_equal(elsewhere.status, DW_ELIMIT);
	assert_int_equal(dw_turn(seen.d), DW_OK);
	assert_int_equal(told.calls, 0);
	run_elsewhere(&elsewhere);
	assert_int_equal(elsewhere.status, DW_ELIMIT);
	wait_for(&seen, &told, 1);
	run_elsewhere(&elsewhere);
	assert_int_equal(elsewhere.status, DW_OK);
	wait_for(&seen, &told, 2);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void close_answers(void **state)
{
	struct told told = {0};
	struct seen seen;
	struct elsewhere elsewhere = {&seen, &told, -1};
	const char *id = "a";

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_cancel_many(seen.d, &id, 1, heard_all, &told), DW_OK);
	run_elsewhere(&elsewhere);
	assert_int_equal(elsewhere.status, DW_OK);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	assert_int_equal(told.calls, 2);
}

static void no_memory_begins_nothing(void **state)
{
	dw_timer timers[FEW];
	char ids[FEW][32];
	struct told told = {0};
	struct seen seen;
	struct elsewhere elsewhere = {&seen, &told, -1};

	(void)state;
	seen_open(&seen, 0);
	fill(timers, ids, FEW);
	atomic_store(&seen.no_memory, 1);
	assert_int_equal(dw_put_many(seen.d, timers, FEW, heard_all, &told), DW_ENOMEM);
	run_elsewhere(&elsewhere);
	assert_int_equal(elsewhere.status, DW_ENOMEM);
	atomic_store(&seen.no_memory, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	assert_int_equal(told.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_is_put_and_cancelled_for_itself),
	    cmocka_unit_test(answer_comes_later_even_if_all_are_refused),
	    cmocka_unit_test(as_many_as_allowed),
	    cmocka_unit_test(bad_calls_are_refused_as_a_whole),
	    cmocka_unit_test(timers_of_a_later_version_are_read_to_their_end),
	    cmocka_unit_test(another_thread_may_ask),
	    cmocka_unit_test(unanswered_bulks_have_a_limit),
	    cmocka_unit_test(close_answers),
	    cmocka_unit_test(no_memory_begins_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
