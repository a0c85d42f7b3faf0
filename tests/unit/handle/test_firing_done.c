/* options.on_firing_done: each handler that has ended is told once, with what a log needs. */
#include "support/cmocka.h"

#include <pthread.h>
#include <string.h>

#include "durawheel/testing.h"

enum { TOLD_MAX = 16, WORK_US = 2000 };

struct told {
	dw *d;
	size_t count;
	dw_firing_done done[TOLD_MAX];
	char ids[TOLD_MAX][DW_ID_SIZE];
	pthread_t thread;
	dw_verdict verdict;
	int starts;
};

static void keep_done(dw *d, const dw_firing_done *done, void *user)
{
	struct told *told = user;

	assert_ptr_equal(d, told->d);
	assert_int_equal(done->size, sizeof *done);
	assert_string_equal(done->topic, "t");
	told->thread = pthread_self();
	if (told->count == TOLD_MAX)
		return;
	memcpy(told->ids[told->count], done->id, strlen(done->id) + 1);
	told->done[told->count++] = *done;
}

static void open_told(struct told *told, unsigned flags, unsigned workers)
{
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .flags = flags,
			      .workers = workers,
			      .on_firing_done = keep_done,
			      .on_firing_done_user = told};

	*told = (struct told){.verdict = DW_DONE};
	assert_int_equal(dw_open(&told->d, &options, NULL), DW_OK);
}

static dw_verdict answer(dw *d, const dw_firing *firing, void *user)
{
	struct told *told = user;

	(void)d;
	(void)firing;
	assert_int_equal(told->count, told->starts); /* never before its handler has ended */
	told->starts++;
	return told->verdict;
}

/* start puts a timer that is due now, and lets it start. */
static const dw_firing_done *start(struct told *told, const char *id, dw_verdict verdict)
{
	size_t count = told->count;

	told->verdict = verdict;
	assert_int_equal(dw_after(told->d, "t", id, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(told->d, dw_now(told->d)), DW_OK);
	assert_int_equal(told->count, count + 1);
	assert_string_equal(told->ids[count], id);
	return &told->done[count];
}

static void each_verdict_is_told(void **state)
{
	struct told told;

	(void)state;
	open_told(&told, DW_TEST_CLOCK, 0);
	assert_int_equal(dw_on(told.d, "t", answer, &told), DW_OK);
	assert_int_equal(start(&told, "a", DW_DONE)->verdict, DW_DONE);
	assert_int_equal(start(&told, "b", DW_HOLD)->verdict, DW_HOLD);
	assert_int_equal(start(&told, "c", DW_DEAD)->verdict, DW_DEAD);
	assert_int_equal(start(&told, "d", (dw_verdict)77)->verdict, DW_RETRY);
	told.verdict = DW_DONE;
	assert_int_equal(dw_test_advance(told.d, dw_now(told.d) + DW_SECONDS(2)), DW_OK);
	assert_int_equal(told.count, 5);
	assert_string_equal(told.ids[4], "d");
	assert_int_equal(told.done[4].attempt, 2);
	assert_int_equal(dw_close(told.d, 0), DW_OK);
	assert_string_equal(dw_verdict_name(told.done[0].verdict), "DONE");
	assert_string_equal(dw_verdict_name(DW_RETRY), "RETRY");
	assert_string_equal(dw_verdict_name(DW_HOLD), "HOLD");
	assert_string_equal(dw_verdict_name(DW_DEAD), "DEAD");
	assert_string_equal(dw_verdict_name((dw_verdict)77), "UNKNOWN");
}

static void lateness_is_told(void **state)
{
	struct told told;

	(void)state;
	open_told(&told, DW_TEST_CLOCK, 0);
	assert_int_equal(dw_on(told.d, "t", answer, &told), DW_OK);
	assert_int_equal(start(&told, "a", DW_DONE)->late_us, 0);
	assert_int_equal(dw_pause(told.d), DW_OK);
	assert_int_equal(dw_after(told.d, "t", "late", DW_SECONDS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(told.d, DW_TEST_START + DW_SECONDS(4)), DW_OK);
	assert_int_equal(dw_resume(told.d), DW_OK);
	assert_int_equal(dw_test_advance(told.d, dw_now(told.d)), DW_OK);
	assert_int_equal(told.count, 2);
	assert_true(told.done[1].late_us == DW_SECONDS(3));
	assert_true(told.done[1].due == DW_TEST_START + DW_SECONDS(1));
	assert_int_equal(dw_close(told.d, 0), DW_OK);
}

static void answer_batch(dw *d, dw_batch *batch, void *user)
{
	(void)d;
	(void)user;
	batch->verdicts[1] = DW_RETRY;
}

static void each_timer_of_a_batch_is_told(void **state)
{
	struct told told;

	(void)state;
	open_told(&told, DW_TEST_CLOCK, 0);
	assert_int_equal(dw_on_batch(told.d, "t", NULL, answer_batch, &told), DW_OK);
	assert_int_equal(dw_after(told.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_after(told.d, "t", "b", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_test_advance(told.d, dw_now(told.d)), DW_OK);
	assert_int_equal(told.count, 2);
	assert_string_equal(told.ids[0], "a");
	assert_int_equal(told.done[0].verdict, DW_DONE);
	assert_string_equal(told.ids[1], "b");
	assert_int_equal(told.done[1].verdict, DW_RETRY);
	assert_int_equal(dw_close(told.d, 0), DW_OK);
}

/* ---- Real time ----------------------------------------------------------------------------- */

static dw_verdict work(dw *d, const dw_firing *firing, void *user)
{
	dw_usec end = dw_now(NULL) + WORK_US;

	(void)firing;
	(void)user;
	while (dw_now(NULL) < end)
		;
	dw_stop(d);
	return DW_DONE;
}

static void work_batch(dw *d, dw_batch *batch, void *user)
{
	(void)work(d, batch->firings, user);
}

static void run_worked(struct told *told)
{
	assert_int_equal(dw_after(told->d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(told->d), DW_OK);
	while (told->count == 0)
		assert_int_equal(dw_sync(told->d, DW_SECONDS(1)), DW_OK);
	assert_int_equal(told->count, 1);
	assert_true(told->done[0].took_us >= WORK_US * 9 / 10); /* the wall clock may be slewed */
	assert_true(pthread_equal(told->thread, pthread_self()));
	assert_int_equal(dw_close(told->d, DW_SECONDS(20)), DW_OK);
}

static void time_of_the_handler_is_told(void **state)
{
	dw_batch_options options = {.size = sizeof options, .on_worker = 1};
	struct told told;

	(void)state;
	open_told(&told, 0, 0);
	assert_int_equal(dw_on(told.d, "t", work, NULL), DW_OK);
	run_worked(&told);
	open_told(&told, 0, 1);
	assert_int_equal(dw_on_worker(told.d, "t", work, NULL), DW_OK);
	run_worked(&told);
	open_told(&told, 0, 0);
	assert_int_equal(dw_on_batch(told.d, "t", NULL, work_batch, NULL), DW_OK);
	run_worked(&told);
	open_told(&told, 0, 1);
	assert_int_equal(dw_on_batch(told.d, "t", &options, work_batch, NULL), DW_OK);
	run_worked(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_verdict_is_told),
	    cmocka_unit_test(lateness_is_told),
	    cmocka_unit_test(each_timer_of_a_batch_is_told),
	    cmocka_unit_test(time_of_the_handler_is_told),
	};

	return cmocka_run_group_tests_name("firing_done", tests, NULL, NULL);
}
