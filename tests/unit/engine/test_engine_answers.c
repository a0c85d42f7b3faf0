/* Answers and news that are about another generation than memory has by then, and what the engine
 * does when the store fails again and again. */
#include <string.h>

#include "base/rng.h"
#include "base/usec.h"
#include "engine/due/lead.h"
#include "engine/queue/topic_calls.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "support/leased.h"
#include "topic/settings.h"

/* ---- What the store says ------------------------------------------------------------------- */

/* kept takes the oldest operation that was kept, which must be of this kind. */
static dw_op *kept(struct leased *leased, dw_op_kind kind)
{
	dw_op *op = op_queue_pop(&leased->kept);

	assert_non_null(op);
	assert_int_equal(op->kind, kind);
	return op;
}

/* store_past puts a timer of topic t into the store past the engine, as a client does. */
static dw_head store_past(struct harness *h, const char *id, dw_usec delay)
{
	dw_op *put = ask_put_full(id, "t", h->wall + delay, "data");
	dw_head head;

	h->store->type->submit(h->store, put);
	assert_ptr_equal(h->store->type->collect(h->store), put);
	assert_int_equal(put->status, DW_OK);
	head = put->head;
	ask_free(put);
	return head;
}

/* tell brings one timer of a client's, or that it is gone, from the inbox. */
static void tell(struct leased *leased, const char *id, dw_head head, bool gone)
{
	leased_tell(leased, id, head, gone);
	harness_turn(leased->harness);
}

/* ---- Another generation -------------------------------------------------------------------- */

/* A client has replaced the timer while its claim was under way. */
static void claim_of_another_generation_claims_nothing(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_op *claim;

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(1));
	claim = kept(&leased, DW_OP_CLAIM);
	tell(&leased, "a", store_past(h, "a", DW_SECONDS(1)), false);
	leased.keeps = false;
	claim->head.attempt = 1;
	leased_say(&leased, claim, DW_OK);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(leased.asked[DW_OP_CLAIM], 2);
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* A client has replaced the timer while it was delivered, and cancelled the new one. */
static void settle_of_a_replaced_timer_reads_what_is_stored(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_head newer;
	dw_op *settle;

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 1);
	newer = store_past(h, "a", DW_SECONDS(9));
	tell(&leased, "a", newer, true);
	leased.keeps = true;
	assert_int_equal(harness_settle(h, 0), DW_OK);
	harness_turn(h);
	settle = kept(&leased, DW_OP_SETTLE);
	assert_false(settle->flags & DW_OP_KNOWN);
	leased.keeps = false;
	leased_say(&leased, settle, DW_ENOENT);
	leased_end(&leased);
}

/* A client has replaced the timer, and a list has the new one before the inbox tells of it. */
static void cancel_of_a_later_generation_asks_the_store(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_head newer;

	(void)state;
	(void)harness_put(h, "a", DW_HOURS(1));
	harness_turn(h);
	newer = store_past(h, "a", DW_HOURS(1));
	assert_int_equal(
	    engine_cancel(h->engine, "a", newer.generation, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	harness_pass(h, DW_HOURS(2));
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

/* push_is_under_way: timer "a" of the queue t is due, and becomes a message. */
static dw_op *push_is_under_way(struct leased *leased)
{
	struct harness *h = leased->harness;
	dw_topic_settings queue = {.size = sizeof queue, .queue = 1};

	leased_keep_topics(leased);
	assert_int_equal(engine_topic_set(h->engine, "t", &queue, (struct done){harness_done, h}),
			 DW_OK);
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_pass(h, DW_MILLISECONDS(999)); /* it is claimed */
	leased->keeps = true;
	harness_pass(h, DW_MILLISECONDS(1));
	return kept(leased, DW_OP_PUSH);
}

/* A client has replaced the timer while its message was under way. What becomes of the message says
 * nothing about the new timer. */
static void push_of_another_generation_ends_nothing(void **state)
{
	static const int statuses[] = {DW_OK, DW_ELIMIT, DW_ESTORE};

	(void)state;
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		struct leased leased;
		struct harness *h = leased_begin(&leased);
		dw_op *push = push_is_under_way(&leased);

		tell(&leased, "a", store_past(h, "a", DW_SECONDS(1)), false);
		leased.keeps = false;
		leased_say(&leased, push, statuses[i]);
		harness_turn(h);
		assert_int_equal(leased.asked[DW_OP_SETTLE] + leased.asked[DW_OP_RETRY], 0);
		harness_pass(h, DW_SECONDS(5));
		assert_int_equal(leased.asked[DW_OP_PUSH], 2);
		assert_int_equal(leased.asked[DW_OP_SETTLE], 1);
		assert_int_equal(harness_stats(h).timers, 0);
		leased_end(&leased);
	}
}

static void cancel_of_an_earlier_generation_drops_no_newer_one(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_op *cancel;

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(60));
	harness_turn(h);
	leased.keeps = true;
	(void)harness_cancel(h, "a");
	harness_turn(h);
	cancel = kept(&leased, DW_OP_CANCEL);
	tell(&leased, "a", store_past(h, "a", DW_SECONDS(1)), false);
	leased.keeps = false;
	leased_say(&leased, cancel, DW_OK);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

static void old_news_of_an_end_drops_no_newer_timer(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_head ended = store_past(h, "a", DW_SECONDS(60));

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	tell(&leased, "a", ended, true);
	assert_int_equal(harness_stats(h).timers, 1);
	harness_pass(h, DW_SECONDS(5));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* lose_race: a client puts the timer before the put that is under way reaches the store. */
static void lose_race(struct leased *leased, dw_usec delay)
{
	struct harness *h = leased->harness;
	dw_op *put = kept(leased, DW_OP_PUT);

	(void)store_past(h, "a", delay);
	h->store->type->submit(h->store, put);
	h->woken = 1;
	harness_turn(h);
}

/* Each time it takes from the timer that is stored by then. */
static void put_that_takes_a_part_may_lose_races(void **state)
{
	static const struct {
		unsigned flags;
		dw_usec due;
	} table[] = {{DW_DUE_LATEST, DW_SECONDS(30)}, {DW_DUE_EARLIEST, DW_SECONDS(20)}};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct leased leased;
		struct harness *h = leased_begin(&leased);
		dw_usec began = h->wall;
		dw_timer timer = {.size = sizeof timer,
				  .id = "a",
				  .topic = "t",
				  .due = began + DW_SECONDS(25),
				  .flags = table[i].flags};

		leased.keeps = true;
		assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}),
				 DW_OK);
		harness_turn(h);
		lose_race(&leased, DW_SECONDS(i ? 10 : 40));
		lose_race(&leased, DW_SECONDS(15));
		lose_race(&leased, table[i].due);
		assert_int_equal(h->result_count, 0);
		leased_speak(&leased);
		harness_turn(h);
		assert_int_equal(harness_result(h, "a").status, DW_OK);
		assert_int_equal(harness_result(h, "a").outcome, DW_PUT_REPLACED);
		assert_int_equal(harness_result(h, "a").due, began + table[i].due);
		harness_pass(h, DW_MINUTES(1));
		assert_int_equal(h->start_count, 1);
		assert_int_equal(h->starts[0].due, began + table[i].due);
		leased_end(&leased);
	}
}

/* ---- A store that fails -------------------------------------------------------------------- */

/* The put that is sent again takes the place of the hold's time-out; neither was stored. */
static void hold_times_out_after_a_put_that_was_sent_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(harness_stats(h).held, 1);
	leased.keeps = true;
	(void)harness_put(h, "a", DW_HOURS(1));
	harness_turn(h);
	leased_say(&leased, kept(&leased, DW_OP_PUT), DW_EUNKNOWN);
	harness_pass(h, DW_SECONDS(1));
	leased_say(&leased, kept(&leased, DW_OP_PUT), DW_ESTORE);
	leased.keeps = false;
	harness_pass(h, DW_SECONDS(29));
	assert_int_equal(harness_stats(h).held, 1);
	harness_pass(h, DW_SECONDS(10));
	assert_true(harness_events_of(h, DW_EVENT_HOLD_EXPIRED) >= 1);
	assert_true(h->start_count >= 2);
	leased_end(&leased);
}

/* 0.1 s, doubled, at most 5 s: 17 in a minute. */
static void failing_store_is_asked_less_and_less_often(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	leased.failing = DW_ESTORE;
	harness_pass(h, DW_SECONDS(61));
	assert_in_range(leased.asked[DW_OP_CLAIM], 15, 20);
	leased.failing = DW_OK;
	harness_pass(h, DW_SECONDS(6));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* claimed_after answers the claim of a timer as if so many owners had died delivering it. */
static size_t claimed_after(uint8_t crashes, int *ret_buried)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_op *claim;
	size_t starts;

	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(1));
	claim = kept(&leased, DW_OP_CLAIM);
	claim->head.attempt = crashes + 1u;
	claim->head.crashes = crashes;
	leased_say(&leased, claim, DW_OK);
	harness_turn(h);
	starts = h->start_count;
	*ret_buried = leased.asked[DW_OP_BURY];
	leased_end(&leased);
	return starts;
}

static void timer_is_dead_after_DW_CRASHES_MAX_and_not_before(void **state)
{
	int buried;

	(void)state;
	assert_int_equal(claimed_after(DW_CRASHES_MAX - 1, &buried), 1);
	assert_int_equal(buried, 0);
	assert_int_equal(claimed_after(DW_CRASHES_MAX, &buried), 0);
	assert_int_equal(buried, 1);
}

/* ---- Times --------------------------------------------------------------------------------- */

/* 1 s and 20 %: of 200 draws some are in each tenth of a second. */
static void retries_of_a_crowd_are_spread(void **state)
{
	static const dw_topic_settings defaults;
	struct rng rng = {.state = 1};
	int counts[4] = {0};

	(void)state;
	for (int i = 0; i < 200; i++) {
		dw_usec delay = settings_retry_delay(&defaults, 0, &rng);

		assert_in_range(delay, DW_MILLISECONDS(800), DW_MILLISECONDS(1200));
		counts[usec_min((delay - DW_MILLISECONDS(800)) / DW_MILLISECONDS(100), 3)]++;
	}
	for (int i = 0; i < 4; i++)
		assert_true(counts[i] > 0);
}

static void lead_is_two_round_trips_of_the_slowest(void **state)
{
	struct lead lead = {0};

	(void)state;
	for (int i = 0; i < 500; i++)
		lead_learn(&lead, i % 50 ? DW_MILLISECONDS(1) : DW_MILLISECONDS(20), 1);
	assert_in_range(lead_now(&lead, 0), DW_MILLISECONDS(40), DW_MILLISECONDS(60));
}

/* bucket_of_p99 counts from the longest round trips down. */
static uint32_t bucket_of_p99(const struct lead *lead)
{
	uint32_t bucket = LEAD_BUCKETS - 1;
	uint32_t seen = lead->samples[bucket];

	while (seen <= lead->sample_count / 100)
		seen += lead->samples[--bucket];
	return bucket;
}

/* Ten thousand samples, which are halved several times on the way. */
static void lead_p99_is_that_of_a_plain_count(void **state)
{
	struct rng rng = {.state = 20};
	struct lead lead = {0};

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t octave = rng_next(&rng) % (i < 5000 ? 24 : 12);

		lead_learn(&lead, (dw_usec)(rng_next(&rng) >> (63 - octave)), 1);
		assert_int_equal(lead.p99_bucket, bucket_of_p99(&lead));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(claim_of_another_generation_claims_nothing),
	    cmocka_unit_test(settle_of_a_replaced_timer_reads_what_is_stored),
	    cmocka_unit_test(cancel_of_a_later_generation_asks_the_store),
	    cmocka_unit_test(push_of_another_generation_ends_nothing),
	    cmocka_unit_test(cancel_of_an_earlier_generation_drops_no_newer_one),
	    cmocka_unit_test(old_news_of_an_end_drops_no_newer_timer),
	    cmocka_unit_test(put_that_takes_a_part_may_lose_races),
	    cmocka_unit_test(hold_times_out_after_a_put_that_was_sent_again),
	    cmocka_unit_test(failing_store_is_asked_less_and_less_often),
	    cmocka_unit_test(timer_is_dead_after_DW_CRASHES_MAX_and_not_before),
	    cmocka_unit_test(retries_of_a_crowd_are_spread),
	    cmocka_unit_test(lead_is_two_round_trips_of_the_slowest),
	    cmocka_unit_test(lead_p99_is_that_of_a_plain_count),
	};

	return cmocka_run_group_tests_name("engine_answers", tests, NULL, NULL);
}
