/* A topic that is paused while a batch of it gathers. On a clock that the test moves. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include "durawheel/testing.h"
#include "support/seen.h"

struct program {
	dw *d;
	size_t started;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(timers_that_gather_do_not_start_in_a_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
