/* What one timer waits for, as its owner's memory says it: a test for each reason. */
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/queue/topic_calls.h"
#include "engine/why.h"
#include "support/batches.h"
#include "support/leased.h"

static dw_why found;

static void assert_why(const struct harness *h, const char *id, dw_waits waits)
{
	assert_true(engine_knows_why(h->engine, id, &found));
	assert_string_equal(dw_describe_waits(found.waits)->name, dw_describe_waits(waits)->name);
	assert_int_equal(found.waits, waits);
	assert_string_equal(found.id, id);
	assert_string_equal(found.topic, "t");
	assert_int_equal(found.is_exact, 1);
}

static void put_due(struct harness *h, const char *id)
{
	assert_int_equal(harness_put(h, id, 0), DW_OK);
	harness_turn(h);
}

static void deadline_is_the_reason_until_it_comes(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	assert_false(engine_knows_why(h->engine, "a", &found));
	assert_int_equal(harness_put(h, "a", DW_MINUTES(10)), DW_OK);
	harness_turn(h);
	assert_why(h, "a", DW_WAITS_DUE);
	assert_int_equal(found.until, found.due);
	assert_int_equal(found.due, h->wall + DW_MINUTES(10));
	harness_pass(h, DW_MINUTES(11));
	assert_false(engine_knows_why(h->engine, "a", &found));
	harness_free(h);
}

static void retry_is_told_from_the_first_deadline(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_RETRY;
	put_due(h, "a");
	assert_int_equal(h->start_count, 1);
	assert_why(h, "a", DW_WAITS_RETRY);
	assert_int_equal(found.until, found.due);
	assert_true(found.until > h->wall);
	harness_free(h);
}

static void look_in_handler(struct harness *h, const dw_firing *firing)
{
	assert_why(h, firing->id, DW_WAITS_RUNS);
	assert_int_equal(found.since, firing->now);
}

static void running_handler_is_told(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->in_handler = look_in_handler;
	put_due(h, "a");
	assert_int_equal(h->start_count, 1);
	harness_free(h);
}

static void held_delivery_says_when_its_hold_ends(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	put_due(h, "a");
	assert_why(h, "a", DW_WAITS_HOLD);
	assert_int_equal(found.since, h->starts[0].now);
	assert_true(found.until > h->wall);
	h->verdict = DW_HOLD_UNSTARTED;
	put_due(h, "b");
	assert_why(h, "b", DW_WAITS_WORKERS);
	assert_int_equal(found.since, 0);
	assert_int_equal(engine_on(h->engine, "t", NULL, NULL), DW_OK);
	put_due(h, "c");
	assert_why(h, "c", DW_WAITS_WORKERS);
	harness_free(h);
}

static void missing_handler_is_told(void **state)
{
	struct harness *h = harness_new_with(NULL);

	(void)state;
	put_due(h, "a");
	assert_why(h, "a", DW_WAITS_HANDLER);
	harness_free(h);
}

static void pause_of_topic_and_of_handle_differ(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	assert_int_equal(
	    engine_topic_pause(h->engine, "t", DW_PAUSE_DELIVERY, (struct done){harness_done, h}),
	    DW_OK);
	harness_turn(h);
	put_due(h, "a");
	assert_why(h, "a", DW_WAITS_PAUSED);
	assert_string_equal(found.detail, "the topic is paused");
	assert_int_equal(engine_topic_pause(h->engine, "t", 0, (struct done){harness_done, h}),
			 DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	engine_pause(h->engine, true);
	put_due(h, "b");
	assert_why(h, "b", DW_WAITS_PAUSED);
	assert_non_null(strstr(found.detail, "dw_resume()"));
	harness_free(h);
}

static void pause_in_handler(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	engine_pause(h->engine, true);
}

/* A program that holds what it can handle pauses its handle: it is at work. */
static void pause_of_a_busy_program_is_its_work(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	h->verdict = DW_HOLD;
	h->in_handler = pause_in_handler;
	put_due(h, "a");
	put_due(h, "b");
	assert_why(h, "b", DW_WAITS_WORKERS);
	harness_free(h);
}

static void batch_says_when_it_starts(void **state)
{
	struct harness *h = batches_begin(harness_new_with(NULL), DW_SECONDS(1), 0);

	(void)state;
	put_due(h, "a");
	assert_why(h, "a", DW_WAITS_BATCH);
	assert_int_equal(found.until, found.due + DW_SECONDS(1));
	harness_pass(h, DW_SECONDS(2));
	assert_false(engine_knows_why(h->engine, "a", &found));
	harness_free(h);
}

static void full_queue_is_told(void **state)
{
	const dw_topic_settings settings = {
	    .size = sizeof settings, .queue = 1, .max = 1, .overflow = DW_REFUSE};
	struct harness *h = harness_new_with(NULL);

	(void)state;
	assert_int_equal(
	    engine_topic_set(h->engine, "t", &settings, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	put_due(h, "a");
	put_due(h, "b");
	harness_pass(h, DW_SECONDS(1));
	assert_why(h, "b", DW_WAITS_QUEUE);
	harness_free(h);
}

static void unknown_zone_is_told(void **state)
{
	dw_rule rule = {.size = sizeof rule, .cron = "* * * * * *", .zone = "Europe/London"};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .rule = &rule};
	struct harness *h = harness_new();

	(void)state;
	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_int_equal(setenv("TZDIR", "/nonexistent", 1), 0);
	harness_restart(h);
	harness_pass(h, DW_SECONDS(5));
	assert_why(h, "a", DW_WAITS_ZONE);
	assert_true(found.until > h->wall);
	assert_int_equal(unsetenv("TZDIR"), 0);
	harness_free(h);
}

/* ---- The store ----------------------------------------------------------------------------- */

static void claim_and_verdict_without_an_answer_are_told(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	assert_int_equal(harness_put(h, "a", DW_SECONDS(1)), DW_OK);
	harness_turn(h);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(2));
	assert_why(h, "a", DW_WAITS_CLAIM);
	leased_speak(&leased);
	leased.keeps = true;
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	assert_why(h, "a", DW_WAITS_VERDICT);
	leased_speak(&leased);
	harness_turn(h);
	assert_false(engine_knows_why(h->engine, "a", &found));
	leased_end(&leased);
}

static void lease_that_is_over_is_told(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	assert_int_equal(harness_put(h, "a", DW_SECONDS(1)), DW_OK);
	harness_turn(h);
	leased.lease = h->steady;
	harness_pass(h, DW_SECONDS(2));
	assert_why(h, "a", DW_WAITS_STORE);
	leased.trouble = DW_ESTORE;
	h->woken = 1;
	harness_turn(h);
	assert_why(h, "a", DW_WAITS_AWAY);
	leased.trouble = DW_OK;
	leased_end(&leased);
}

static void refused_shard_says_why(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	leased_refuse(&leased, 1);
	assert_int_equal(harness_put(h, "b", DW_SECONDS(1)), DW_OK);
	harness_turn(h);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_turn(h);
	assert_int_equal(harness_put(h, "b", DW_SECONDS(1)), DW_OK);
	harness_turn(h);
	leased_refuse(&leased, 1);
	harness_pass(h, DW_SECONDS(2));
	assert_why(h, "b", DW_WAITS_REFUSED);
	assert_string_equal(found.detail, LEASED_REFUSAL);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(1));
	leased_end(&leased);
}

static void shard_that_is_given_away_is_told(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	struct engine_shard *shard = &h->engine->shards.all[1];

	(void)state;
	assert_int_equal(harness_put(h, "b", DW_SECONDS(1)), DW_OK);
	harness_turn(h);
	shard->giving = GIVING_DRAINS;
	harness_pass(h, DW_SECONDS(2));
	assert_why(h, "b", DW_WAITS_MOVES);
	shard->giving = GIVING_NOT;
	h->woken = 1;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* Reasons that nothing but a fault brings about. */
static void timer_without_a_schedule_and_one_that_starts_next_are_told(void **state)
{
	struct harness *h = harness_new();
	struct timer *timer;

	(void)state;
	assert_int_equal(harness_put(h, "a", DW_SECONDS(1)), DW_OK);
	harness_turn(h);
	timer = index_find(&h->engine->timers.index, "a");
	h->wall += DW_SECONDS(2); /* and no turn comes */
	assert_why(h, "a", DW_WAITS_TURN);
	timer->place = PLACE_UNSCHEDULED;
	assert_why(h, "a", DW_WAITS_MEMORY);
	timer->place = PLACE_CLAIM;
	topic_keep(timer, TOPIC_REFUSED);
	assert_why(h, "a", DW_WAITS_SIZE);
	topic_unkeep(timer);
	harness_free(h);
}

/* A timer that another process owns is not known here. */
static void timer_of_another_owner_is_not_known(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	assert_int_equal(harness_put(h, "a", DW_MINUTES(1)), DW_OK);
	harness_turn(h);
	assert_why(h, "a", DW_WAITS_DUE);
	leased_fenced(&leased);
	harness_turn(h);
	assert_false(engine_knows_why(h->engine, "a", &found));
	leased_end(&leased);
}

static void each_reason_has_all_words(void **state)
{
	(void)state;
	for (unsigned i = DW_WAITS_STORE; i <= DW_WAITS_MESSAGE; i++) {
		dw_waits waits = (dw_waits)i;

		assert_true(*dw_describe_waits(waits)->name && *dw_describe_waits(waits)->cause);
		assert_true(*dw_describe_waits(waits)->advice &&
			    *dw_describe_waits(waits)->command);
		assert_string_not_equal(dw_describe_waits(waits)->name, "other");
	}
	assert_string_equal(dw_describe_waits(DW_WAITS_NOT)->name, "");
	assert_string_equal(dw_describe_waits((dw_waits)(DW_WAITS_MESSAGE + 1))->name, "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(deadline_is_the_reason_until_it_comes),
	    cmocka_unit_test(retry_is_told_from_the_first_deadline),
	    cmocka_unit_test(running_handler_is_told),
	    cmocka_unit_test(held_delivery_says_when_its_hold_ends),
	    cmocka_unit_test(missing_handler_is_told),
	    cmocka_unit_test(pause_of_topic_and_of_handle_differ),
	    cmocka_unit_test(pause_of_a_busy_program_is_its_work),
	    cmocka_unit_test(batch_says_when_it_starts),
	    cmocka_unit_test(full_queue_is_told),
	    cmocka_unit_test(unknown_zone_is_told),
	    cmocka_unit_test(claim_and_verdict_without_an_answer_are_told),
	    cmocka_unit_test(lease_that_is_over_is_told),
	    cmocka_unit_test(refused_shard_says_why),
	    cmocka_unit_test(shard_that_is_given_away_is_told),
	    cmocka_unit_test(timer_without_a_schedule_and_one_that_starts_next_are_told),
	    cmocka_unit_test(timer_of_another_owner_is_not_known),
	    cmocka_unit_test(each_reason_has_all_words),
	};

	return cmocka_run_group_tests_name("engine_why", tests, NULL, NULL);
}
