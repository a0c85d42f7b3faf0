/* Why timers that are due do not start, and what of the delay is lateness: not what was wanted. */
#include "support/cmocka.h"

#include <string.h>

#include "durawheel/topic.h"
#include "engine/call/numbers.h"
#include "engine/queue/topic_calls.h"
#include "support/batches.h"

static dw_topic_info found;

static void look(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	(void)user;
	found = (dw_topic_info){.size = 0};
	for (size_t i = 0; status == DW_OK && i < count; i++)
		if (strcmp(topics[i].name, "t") == 0)
			found = topics[i];
}

static void assert_waits(struct harness *h, dw_waits waits, uint64_t due, uint64_t on_purpose)
{
	engine_topic_numbers(h->engine, look, NULL);
	assert_int_equal(found.waits, waits);
	assert_int_equal(found.due, due);
	assert_int_equal(found.on_purpose, on_purpose);
}

static void pause(struct harness *h, unsigned paused)
{
	assert_int_equal(engine_topic_pause(h->engine, "t", paused, (struct done){harness_done, h}),
			 DW_OK);
	harness_turn(h);
}

static void missing_handler_is_the_reason(void **state)
{
	struct harness *h = harness_new_with(NULL);
	char report[REPORT_SIZE];

	(void)state;
	assert_int_equal(harness_put(h, "a", 0), DW_OK);
	assert_int_equal(harness_put(h, "b", DW_MINUTES(10)), DW_OK);
	harness_turn(h);
	assert_waits(h, DW_WAITS_HANDLER, 1, 0);
	engine_report(h->engine, report);
	assert_non_null(strstr(report, "\"waits\":[0,0,1,0,0,0,0,0,0]"));
	pause(h, DW_PAUSE_DELIVERY);
	assert_waits(h, DW_WAITS_PAUSED, 1, 1);
	pause(h, 0);
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_waits(h, DW_WAITS_NOT, 0, 0);
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

/* A handler that is missing is lateness, for as long as it is. A pause is none. */
static void pause_is_no_lateness(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	pause(h, DW_PAUSE_DELIVERY);
	assert_int_equal(harness_put(h, "a", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_HOURS(3));
	assert_waits(h, DW_WAITS_PAUSED, 1, 1);
	pause(h, 0);
	assert_int_equal(h->start_count, 1);
	engine_topic_numbers(h->engine, look, NULL);
	assert_in_range(found.late_max_us, 0, DW_MILLISECONDS(2));
	engine_pause(h->engine, true);
	assert_int_equal(harness_put(h, "b", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_HOURS(3));
	assert_waits(h, DW_WAITS_PAUSED, 1, 1);
	engine_pause(h->engine, false);
	harness_turn(h);
	assert_int_equal(h->start_count, 2);
	engine_topic_numbers(h->engine, look, NULL);
	assert_in_range(found.late_max_us, 0, DW_MILLISECONDS(2));
	/* What comes after it is late by its own delay. */
	assert_int_equal(engine_on(h->engine, "t", NULL, NULL), DW_OK);
	assert_int_equal(harness_put(h, "c", 0), DW_OK);
	harness_pass(h, DW_SECONDS(7));
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	harness_turn(h);
	engine_topic_numbers(h->engine, look, NULL);
	assert_in_range(found.late_max_us, DW_SECONDS(7), DW_SECONDS(7) + DW_MILLISECONDS(1));
	harness_free(h);
}

static void healthy_batch_is_not_late(void **state)
{
	struct harness *h = batches_begin(harness_new_with(NULL), DW_SECONDS(1), 0);

	(void)state;
	batches_put(h, 'a', 2, DW_MILLISECONDS(100)); /* its wait ends */
	batches_pass(h, DW_MILLISECONDS(600));
	assert_waits(h, DW_WAITS_BATCH, 2, 2);
	batches_pass(h, DW_SECONDS(2));
	batches_put(h, 'e', BATCH_OF, DW_MILLISECONDS(100)); /* it is full */
	batches_pass(h, DW_SECONDS(2));
	assert_string_equal(batches.calls, "ab|efgh|");
	engine_topic_numbers(h->engine, look, NULL);
	assert_int_equal(found.started, 2 + BATCH_OF);
	assert_in_range(found.late_max_us, 0, DW_MILLISECONDS(1));
	harness_free(h);
}

/* A loop that is blocked while the batch waits makes it late by what comes after the wait. */
static void late_batch_is_late(void **state)
{
	struct harness *h = batches_begin(harness_new_with(NULL), DW_SECONDS(1), 0);

	(void)state;
	batches_put(h, 'a', 1, DW_MILLISECONDS(100));
	harness_turn(h);
	harness_pass(h, DW_MILLISECONDS(200));
	harness_jump(h, DW_SECONDS(6));
	assert_string_equal(batches.calls, "a|");
	engine_topic_numbers(h->engine, look, NULL);
	assert_in_range(found.late_max_us, DW_SECONDS(5), DW_SECONDS(6));
	harness_free(h);
}

static void pause_in_handler(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	engine_pause(h->engine, true);
}

/* A program that holds what it can do pauses its handle: that is no wish. */
static void pause_with_held_deliveries_is_lateness(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	h->in_handler = pause_in_handler;
	assert_int_equal(harness_put(h, "a", DW_SECONDS(1)), DW_OK);
	assert_int_equal(harness_put(h, "b", DW_SECONDS(2)), DW_OK);
	harness_pass(h, DW_SECONDS(60));
	assert_int_equal(h->start_count, 1);
	assert_waits(h, DW_WAITS_WORKERS, 1, 0);
	assert_int_equal(harness_settle(h, 0), DW_OK);
	engine_pause(h->engine, false);
	harness_turn(h);
	assert_int_equal(h->start_count, 2);
	engine_topic_numbers(h->engine, look, NULL);
	assert_in_range(found.late_max_us, DW_SECONDS(57), DW_SECONDS(58));
	assert_int_equal(harness_settle(h, 1), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_put(h, "c", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_SECONDS(2));
	assert_waits(h, DW_WAITS_PAUSED, 1, 1); /* nothing is held any more */
	harness_free(h);
}

/* A program whose queue is full removes its handler for a while. What waits in the queue is told
 * from what runs by the first one. */
static void removed_handler_of_waiting_deliveries_is_busy(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	assert_int_equal(harness_put(h, "a", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_SECONDS(2));
	assert_waits(h, DW_WAITS_NOT, 0, 0);
	assert_int_equal(found.unstarted_due, 0);
	assert_int_equal(found.started_due, h->starts[0].due);
	h->verdict = DW_HOLD_UNSTARTED;
	assert_int_equal(harness_put(h, "b", DW_SECONDS(1)), DW_OK);
	assert_int_equal(harness_put(h, "c", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(engine_on(h->engine, "t", NULL, NULL), DW_OK);
	assert_int_equal(harness_put(h, "d", DW_SECONDS(1)), DW_OK);
	harness_pass(h, DW_SECONDS(2));
	assert_waits(h, DW_WAITS_WORKERS, 3, 0);
	assert_int_equal(found.unstarted_due, h->starts[1].due);
	assert_int_equal(found.unstarted_generation, h->starts[1].token.generation);
	assert_int_equal(found.started_generation, h->starts[0].token.generation);
	assert_int_equal(engine_started(h->engine, &h->starts[1].token), DW_OK);
	assert_int_equal(engine_started(h->engine, &h->starts[2].token), DW_OK);
	assert_waits(h, DW_WAITS_HANDLER, 1, 0);
	assert_int_equal(found.unstarted_due, 0);
	assert_int_equal(found.started_generation, h->starts[2].token.generation);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(missing_handler_is_the_reason),
	    cmocka_unit_test(pause_is_no_lateness),
	    cmocka_unit_test(healthy_batch_is_not_late),
	    cmocka_unit_test(late_batch_is_late),
	    cmocka_unit_test(pause_with_held_deliveries_is_lateness),
	    cmocka_unit_test(removed_handler_of_waiting_deliveries_is_busy),
	};

	return cmocka_run_group_tests_name("engine_waits", tests, NULL, NULL);
}
