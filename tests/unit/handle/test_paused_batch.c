/* A topic that is paused while its timers wait for their start: a batch gathers, or the program has
 * put them into a queue of its own. On a clock that the test moves. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include "durawheel/metrics.h"
#include "durawheel/testing.h"
#include "support/seen.h"

struct program {
	dw *d;
	size_t started;
	dw_token token; /* of the last one that was put into the program's queue */
};

static void handle(dw *d, dw_batch *batch, void *user)
{
	(void)d;
	((struct program *)user)->started += batch->count;
	for (size_t i = 0; i < batch->count; i++)
		batch->verdicts[i] = DW_DONE;
}

static void pass(struct program *program, dw_usec time)
{
	assert_int_equal(dw_test_advance(program->d, dw_now(program->d) + time), DW_OK);
}

static void timers_that_gather_do_not_start_in_a_pause(void **state)
{
	const dw_options options = {
	    .size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	const dw_batch_options batch = {.size = sizeof batch, .max = 10, .wait_us = DW_SECONDS(5)};
	struct program program = {0};

	(void)state;
	assert_int_equal(dw_open(&program.d, &options, NULL), DW_OK);
	assert_int_equal(dw_on_batch(program.d, "t", &batch, handle, &program), DW_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dw_after(program.d, "t", NULL, DW_SECONDS(1), NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(2));
	assert_int_equal(dw_topic_pause(program.d, "t", DW_PAUSE_DELIVERY, NULL, NULL), DW_OK);
	pass(&program, DW_SECONDS(1));
	for (int i = 0; i < 7; i++) /* more than a batch, together */
		assert_int_equal(dw_after(program.d, "t", NULL, 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(60));
	assert_int_equal(program.started, 0);
	assert_int_equal(dw_topic_pause(program.d, "t", 0, NULL, NULL), DW_OK);
	pass(&program, DW_SECONDS(10));
	assert_int_equal(program.started, 10);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static dw_verdict put_into_queue(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	((struct program *)user)->token = *firing->token;
	return DW_HOLD_UNSTARTED;
}

/* ask_to_start does what a program does when it comes to the delivery. */
static int ask_to_start(struct program *program)
{
	int status = dw_start(program->d, &program->token);

	assert_int_equal(dw_settle(program->d, &program->token,
				   status == DW_OK ? DW_DONE : DW_RETRY, 0, NULL, NULL),
			 DW_OK);
	pass(program, DW_SECONDS(1));
	return status;
}

static void timer_in_a_queue_of_the_program_does_not_start_in_a_pause(void **state)
{
	const dw_options options = {
	    .size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	dw_stats stats = {.size = sizeof stats};
	struct program program = {0};

	(void)state;
	assert_int_equal(dw_open(&program.d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(program.d, "t", put_into_queue, &program), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(dw_topic_pause(program.d, "t", DW_PAUSE_DELIVERY, NULL, NULL), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(ask_to_start(&program), DW_ESTALE);
	assert_int_equal(dw_topic_pause(program.d, "t", 0, NULL, NULL), DW_OK);
	pass(&program, DW_SECONDS(10));
	assert_int_equal(dw_pause(program.d), DW_OK); /* holds back only what is not delivered */
	assert_int_equal(ask_to_start(&program), DW_OK);
	assert_int_equal(dw_get_stats(program.d, &stats), DW_OK);
	assert_int_equal(stats.settled, 1);
	assert_int_equal(stats.retried, 0);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void looked_at(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	(void)d;
	(void)next;
	(void)user;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	assert_int_equal(timers->state, DW_PENDING);
	assert_int_equal(timers->attempt, 0);
}

static void paused_handle_claims_no_timer_that_is_put_due(void **state)
{
	const dw_options options = {
	    .size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	const dw_batch_options batch = {.size = sizeof batch, .max = 1};
	struct program program = {0};

	(void)state;
	assert_int_equal(dw_open(&program.d, &options, NULL), DW_OK);
	assert_int_equal(dw_on_batch(program.d, "t", &batch, handle, &program), DW_OK);
	assert_int_equal(dw_pause(program.d), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(dw_get(program.d, "a", looked_at, NULL), DW_OK);
	pass(&program, 0);
	assert_int_equal(dw_resume(program.d), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.started, 1);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(timers_that_gather_do_not_start_in_a_pause),
	    cmocka_unit_test(timer_in_a_queue_of_the_program_does_not_start_in_a_pause),
	    cmocka_unit_test(paused_handle_claims_no_timer_that_is_put_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
