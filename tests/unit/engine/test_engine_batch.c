/* Handlers that get many timers of one topic in a call: when the call comes, and what is in it. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/batches.h"
#include "support/leased.h"

static struct harness *begin(dw_usec wait)
{
	return batches_begin(harness_new_with(NULL), wait, 0);
}

/* ---- When a batch starts ------------------------------------------------------------------- */

static void full_batch_starts_at_the_deadline_of_its_last_timer(void **state)
{
	struct harness *h = begin(DW_SECONDS(10));
	dw_usec start = h->wall;

	(void)state;
	batches_put(h, 'a', 7, DW_MILLISECONDS(100));
	batches_pass(h, DW_MILLISECONDS(299));
	assert_string_equal(batches.calls, "");
	batches_pass(h, DW_MILLISECONDS(1));
	assert_string_equal(batches.calls, "abcd|");
	assert_int_equal(batches.at, start + DW_MILLISECONDS(300));
	batches_pass(h, DW_SECONDS(5));
	assert_string_equal(batches.calls, "abcd|");
	assert_int_equal(harness_stats(h).settled, 4);
	harness_free(h);
}

static void short_batch_starts_when_its_first_timer_has_waited(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));
	dw_usec start = h->wall;

	(void)state;
	batches_put(h, 'a', 3, DW_MILLISECONDS(400));
	(void)harness_put(h, "d", DW_MILLISECONDS(1100));
	batches_pass(h, DW_SECONDS(1) - 1);
	assert_string_equal(batches.calls, "");
	batches_pass(h, 1);
	assert_string_equal(batches.calls, "abc|");
	batches_pass(h, DW_MILLISECONDS(1100) - 1);
	assert_string_equal(batches.calls, "abc|");
	batches_pass(h, 1);
	assert_string_equal(batches.calls, "abc|d|");
	assert_int_equal(batches.at, start + DW_MILLISECONDS(2100));
	assert_int_equal(batches.attempts['d'], 1);
	assert_int_equal(harness_stats(h).timers, 0);
	harness_free(h);
}

static void without_a_wait_a_batch_takes_what_is_due(void **state)
{
	struct harness *h = begin(0);

	(void)state;
	(void)harness_put(h, "a", DW_MILLISECONDS(10));
	(void)harness_put(h, "b", DW_MILLISECONDS(10));
	(void)harness_put(h, "c", DW_MILLISECONDS(11));
	batches_pass(h, DW_MILLISECONDS(20));
	assert_string_equal(batches.calls, "ab|c|");
	harness_free(h);
}

static void overdue_timers_come_in_full_batches(void **state)
{
	struct harness *h = begin(DW_MILLISECONDS(1));

	(void)state;
	batches_put(h, 'a', 10, DW_SECONDS(1));
	(void)harness_cancel(h, "a"); /* due at once */
	harness_jump(h, DW_MINUTES(1));
	assert_string_equal(batches.calls, "bcde|fghi|j|");
	harness_free(h);
}

static void batch_is_in_the_order_of_deadlines(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	(void)harness_put(h, "b", DW_MILLISECONDS(100));
	(void)harness_put(h, "c", DW_MILLISECONDS(100));
	batches_pass(h, DW_MILLISECONDS(300));
	(void)harness_put(h, "a", DW_MILLISECONDS(-250));
	batches_pass(h, DW_MILLISECONDS(750) - 1);
	assert_string_equal(batches.calls, "");
	batches_pass(h, 1); /* a second after the deadline of a */
	assert_string_equal(batches.calls, "abc|");
	harness_free(h);
}

/* d, e and f wait for a fourth when a, b and c are put, which are due before them. */
static void newcomers_that_are_due_before_the_batch_start_first(void **state)
{
	struct harness *h = begin(DW_SECONDS(10));

	(void)state;
	batches_put(h, 'd', 3, 0);
	for (char id[2] = "a"; *id < 'd'; ++*id)
		assert_int_equal(harness_put(h, id, *id - 'd'), DW_OK);
	batches_pass(h, 0);
	assert_string_equal(batches.calls, "abcd|");
	batches_pass(h, DW_SECONDS(10) - 1);
	assert_string_equal(batches.calls, "abcd|");
	batches_pass(h, 1);
	assert_string_equal(batches.calls, "abcd|ef|");
	harness_free(h);
}

static void turn_counts_a_batch_as_its_size(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	assert_int_equal(batches_on(h, 128, DW_SECONDS(1), 0), DW_OK);
	for (int i = 0; i < 512; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_SECONDS(1));
	}
	batches_pass(h, DW_SECONDS(1) - 1);
	h->wall++;
	h->steady++;
	assert_int_equal(engine_turn(h->engine), DW_OK); /* 256, and gathering counts, too */
	assert_int_equal(harness_stats(h).fired, 128);
	batches_pass(h, 0);
	assert_int_equal(harness_stats(h).fired, 512);
	harness_free(h);
}

/* ---- While they gather --------------------------------------------------------------------- */

static void cancelled_timer_is_not_in_the_batch(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 3, 0);
	(void)harness_cancel(h, "a");
	batches_pass(h, DW_MILLISECONDS(500));
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	batches_put(h, 'd', 1, 0);
	assert_string_equal(batches.calls, ""); /* three again */
	batches_pass(h, DW_MILLISECONDS(500));
	assert_string_equal(batches.calls, "bcd|");
	assert_int_equal(harness_stats(h).cancelled, 1);
	harness_free(h);
}

static void moved_and_replaced_timers_come_at_their_new_deadline(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 3, 0);
	assert_int_equal(
	    engine_move(h->engine, "a", h->wall + DW_SECONDS(5), (struct done){harness_done, h}),
	    DW_OK);
	(void)harness_put(h, "b", DW_SECONDS(5));
	batches_pass(h, DW_SECONDS(5) - 1);
	assert_string_equal(batches.calls, "c|");
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	batches_pass(h, DW_SECONDS(1) + 1);
	assert_string_equal(batches.calls, "c|ab|");
	assert_int_equal(harness_stats(h).timers, 0);
	harness_free(h);
}

static void timer_with_a_put_under_way_is_left_out(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));
	dw_timer timer = {
	    .size = sizeof timer, .id = "a", .topic = "t", .due = h->wall, .flags = DW_NEW};

	(void)state;
	batches_put(h, 'a', 3, 0);
	h->wall += DW_SECONDS(1); /* the batch starts in the turn that submits the put */
	h->steady += DW_SECONDS(1);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	batches_pass(h, 0);
	assert_int_equal(harness_result(h, "a").status, DW_EEXIST);
	assert_string_equal(batches.calls, "bc|a|");
	harness_free(h);
}

static void clock_set_back_is_never_early(void **state)
{
	static const dw_usec steps[] = {DW_MILLISECONDS(30), DW_MILLISECONDS(250), DW_HOURS(1)};

	(void)state;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		struct harness *h = begin(DW_SECONDS(1));

		batches_put(h, 'a', 3, DW_MILLISECONDS(10));
		batches_pass(h, DW_MILLISECONDS(20));
		h->wall -= steps[i];
		harness_turn(h);
		assert_int_equal(engine_check(h->engine), 0);
		batches_pass(h, DW_MILLISECONDS(980) + steps[i] - 1);
		assert_string_equal(batches.calls, "");
		batches_pass(h, 1);
		assert_string_equal(batches.calls, "abc|");
		harness_free(h);
	}
}

static void full_batch_after_a_step_back_has_what_is_due(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 3, 0);
	h->wall -= DW_MILLISECONDS(30);
	harness_turn(h);
	(void)harness_put(h, "d", -DW_SECONDS(1));
	batches_pass(h, DW_MILLISECONDS(29));
	assert_string_equal(batches.calls, "d|");
	batches_pass(h, DW_SECONDS(1));
	assert_string_equal(batches.calls, "d|");
	batches_pass(h, DW_MILLISECONDS(1));
	assert_string_equal(batches.calls, "d|abc|");
	harness_free(h);
}

static void clock_set_back_does_not_stretch_the_wait_of_the_overdue(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	assert_int_equal(batches_on(h, BATCH_OF, DW_SECONDS(10), 0), DW_OK);
	(void)harness_put(h, "a", DW_SECONDS(-9));
	harness_turn(h);
	(void)harness_put(h, "b", DW_HOURS(-2));
	h->wall -= DW_HOURS(1);
	batches_pass(h, DW_SECONDS(1)); /* b is still due: a is not */
	assert_string_equal(batches.calls, "b|");
	batches_pass(h, DW_HOURS(1));
	assert_string_equal(batches.calls, "b|a|");
	harness_free(h);
}

static void late_timer_dies_while_it_gathers(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));
	dw_timer timer = {.size = sizeof timer,
			  .id = "l",
			  .topic = "t",
			  .due = h->wall,
			  .late_after_us = DW_MILLISECONDS(500)};

	(void)state;
	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_OK);
	batches_put(h, 'a', 2, 0);
	batches_pass(h, DW_SECONDS(1));
	assert_string_equal(batches.calls, "ab|");
	assert_int_equal(harness_stats(h).late, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	harness_free(h);
}

static void other_handler_takes_what_has_gathered(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 3, 0);
	assert_int_equal(engine_on(h->engine, "t", harness_handler, h), DW_OK);
	batches_pass(h, 0);
	assert_int_equal(h->start_count, 3);
	assert_int_equal(batches_on(h, 2, DW_SECONDS(1), 0), DW_OK);
	batches_put(h, 'd', 3, 0);
	assert_string_equal(batches.calls, "de|");
	assert_int_equal(engine_on_batch(h->engine, "t", NULL, NULL, NULL), DW_OK);
	batches_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_stats(h).unhandled, 1);
	assert_int_equal(batches_on(h, 1, DW_SECONDS(1), 0), DW_OK);
	batches_pass(h, 0);
	assert_string_equal(batches.calls, "de|f|");
	harness_free(h);
}

static dw_state shown_state;

static void show_state(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	(void)d;
	(void)next;
	(void)user;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	shown_state = timers->state;
}

/* state_of: what the store has of a. */
static dw_state state_of_a(struct harness *h)
{
	assert_int_equal(engine_get(h->engine, "a", (struct lister){show_state, NULL}), DW_OK);
	harness_turn(h);
	return shown_state;
}

static void paused_handle_starts_no_batch(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 3, 0);
	engine_pause(h->engine, true);
	batches_pass(h, DW_SECONDS(5));
	assert_string_equal(batches.calls, "");
	assert_int_equal(state_of_a(h), DW_CLAIMED);
	engine_pause(h->engine, false);
	batches_pass(h, 0);
	assert_string_equal(batches.calls, "abc|");
	harness_free(h);
}

static void closing_starts_no_batch_and_gives_the_claims_back(void **state)
{
	struct harness *h = begin(DW_SECONDS(1));

	(void)state;
	batches_put(h, 'a', 3, 0);
	assert_int_equal(state_of_a(h), DW_CLAIMED);
	engine_begin_close(h->engine);
	harness_turn(h);
	assert_true(engine_settled(h->engine));
	assert_int_equal(engine_check(h->engine), 0);
	assert_int_equal(state_of_a(h), DW_PENDING);
	harness_pass(h, DW_SECONDS(2));
	assert_string_equal(batches.calls, "");
	harness_free(h);
}

static void lease_that_ends_holds_the_batch_up(void **state)
{
	struct leased leased;
	struct harness *h = batches_begin(leased_begin(&leased), DW_SECONDS(1), 0);

	(void)state;
	leased.lease = h->steady + DW_MILLISECONDS(500);
	batches_put(h, 'a', 3, 0);
	batches_pass(h, DW_SECONDS(3));
	assert_string_equal(batches.calls, "");
	assert_int_equal(harness_events_of(h, DW_EVENT_LEASE), 1);
	leased.lease = DW_NEVER;
	h->woken = 1;
	batches_pass(h, DW_MILLISECONDS(10));
	assert_string_equal(batches.calls, "abc|");
	leased_end(&leased);
}

static void lost_ownership_drops_what_has_gathered(void **state)
{
	struct leased leased;
	struct harness *h = batches_begin(leased_begin(&leased), DW_SECONDS(1), 0);

	(void)state;
	batches_put(h, 'a', 3, 0);
	leased_fenced(&leased);
	assert_int_equal(engine_check(h->engine), 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 1);
	assert_int_equal(harness_stats(h).timers, 0);
	harness_pass(h, DW_SECONDS(5));
	assert_string_equal(batches.calls, "");
	leased_end(&leased);
}

/* next_claim: the first claim that was kept. Other operations are carried out. */
static dw_op *next_claim(struct leased *leased)
{
	dw_store *inner = leased->harness->store;
	dw_op *op = op_queue_pop(&leased->kept);

	while (op->kind != DW_OP_CLAIM) {
		inner->type->submit(inner, op);
		op = op_queue_pop(&leased->kept);
	}
	return op;
}

static void answer_first(struct leased *leased)
{
	dw_store *inner = leased->harness->store;

	inner->type->submit(inner, next_claim(leased));
	leased->harness->woken = 1;
	harness_turn(leased->harness);
	assert_int_equal(engine_check(leased->harness->engine), 0);
}

/* keep_claims: so many timers, from a on, are due, and their claims are not answered. */
static void keep_claims(struct leased *leased, int count)
{
	struct harness *h = leased->harness;

	for (int i = 0; i < count; i++) {
		char id[2] = {(char)('a' + i), '\0'};

		(void)harness_put(h, id, DW_MINUTES(1) + i);
	}
	harness_turn(h);
	leased->keeps = true;
	harness_jump(h, DW_HOURS(1));
	assert_int_equal(leased->asked[DW_OP_CLAIM], count);
}

/* Timers that are due, and whose claims are answered one after the other, are one batch. */
static void short_batch_waits_for_claims_under_way(void **state)
{
	struct leased leased;
	struct harness *h = batches_begin(leased_begin(&leased), 0, 0);

	(void)state;
	keep_claims(&leased, 7);
	for (int i = 0; i < 3; i++)
		answer_first(&leased);
	batches_pass(h, DW_SECONDS(1));
	assert_string_equal(batches.calls, "");
	answer_first(&leased);
	assert_string_equal(batches.calls, "abcd|"); /* it is full */
	answer_first(&leased);
	assert_string_equal(batches.calls, "abcd|");
	leased_say(&leased, next_claim(&leased), DW_ESTORE);
	harness_turn(h);
	assert_string_equal(batches.calls, "abcd|");
	answer_first(&leased);
	assert_string_equal(batches.calls, "abcd|eg|");
	leased_speak(&leased);
	batches_pass(h, DW_SECONDS(10));
	assert_string_equal(batches.calls, "abcd|eg|f|");
	leased_end(&leased);
}

/* A timer that is cancelled while its claim is under way holds nothing up. */
static void cancelled_claim_holds_no_batch_up(void **state)
{
	struct leased leased;
	struct harness *h = batches_begin(leased_begin(&leased), 0, 0);

	(void)state;
	keep_claims(&leased, 3);
	answer_first(&leased);
	answer_first(&leased);
	leased_tell(&leased, "c", (dw_head){.generation = 99}, true);
	harness_turn(h);
	leased_speak(&leased);
	batches_pass(h, DW_SECONDS(1));
	assert_memory_equal(batches.calls, "ab", 2);
	leased_end(&leased);
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static void wrong_options_are_refused_in_words(void **state)
{
	struct harness *h = harness_new_with(NULL);
	dw_batch_options options = {.size = sizeof options};

	(void)state;
	batches = (struct batches){.h = h, .retry_in = -1};
	assert_int_equal(batches_on(h, DW_BATCH_MAX + 1, 0, 0), DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "1000"));
	assert_int_equal(batches_on(h, 1, -1, 0), DW_EINVAL);
	assert_int_equal(batches_on(h, 1, DW_SECONDS(10) + 1, 0), DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "10 s"));
	assert_int_equal(batches_on(h, 1, 0, 1), DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "options.workers"));
	assert_int_equal(engine_on_batch(h->engine, "*", &options, batches_handler(), h),
			 DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "one topic"));
	assert_int_equal(engine_on_batch(h->engine, "", &options, batches_handler(), h), DW_EINVAL);
	options.size = 3;
	assert_int_equal(engine_on_batch(h->engine, "t", &options, batches_handler(), h),
			 DW_EINVAL);
	assert_int_equal(batches_on(h, DW_BATCH_MAX, DW_SECONDS(10), 0), DW_OK);
	harness_free(h);
}

static void default_batch_has_128_timers(void **state)
{
	struct harness *h = harness_new_with(NULL);

	(void)state;
	batches = (struct batches){.h = h, .retry_in = -1};
	assert_int_equal(engine_on_batch(h->engine, "t", NULL, batches_handler(), h), DW_OK);
	for (int i = 0; i < 130; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_SECONDS(1));
	}
	batches_pass(h, DW_SECONDS(1));
	assert_int_equal(strcspn(batches.calls, "|"), 128);
	assert_int_equal(strlen(batches.calls), 132);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(full_batch_starts_at_the_deadline_of_its_last_timer),
	    cmocka_unit_test(short_batch_starts_when_its_first_timer_has_waited),
	    cmocka_unit_test(without_a_wait_a_batch_takes_what_is_due),
	    cmocka_unit_test(overdue_timers_come_in_full_batches),
	    cmocka_unit_test(batch_is_in_the_order_of_deadlines),
	    cmocka_unit_test(newcomers_that_are_due_before_the_batch_start_first),
	    cmocka_unit_test(turn_counts_a_batch_as_its_size),
	    cmocka_unit_test(cancelled_timer_is_not_in_the_batch),
	    cmocka_unit_test(moved_and_replaced_timers_come_at_their_new_deadline),
	    cmocka_unit_test(timer_with_a_put_under_way_is_left_out),
	    cmocka_unit_test(clock_set_back_is_never_early),
	    cmocka_unit_test(full_batch_after_a_step_back_has_what_is_due),
	    cmocka_unit_test(clock_set_back_does_not_stretch_the_wait_of_the_overdue),
	    cmocka_unit_test(late_timer_dies_while_it_gathers),
	    cmocka_unit_test(other_handler_takes_what_has_gathered),
	    cmocka_unit_test(paused_handle_starts_no_batch),
	    cmocka_unit_test(closing_starts_no_batch_and_gives_the_claims_back),
	    cmocka_unit_test(lease_that_ends_holds_the_batch_up),
	    cmocka_unit_test(short_batch_waits_for_claims_under_way),
	    cmocka_unit_test(cancelled_claim_holds_no_batch_up),
	    cmocka_unit_test(lost_ownership_drops_what_has_gathered),
	    cmocka_unit_test(wrong_options_are_refused_in_words),
	    cmocka_unit_test(default_batch_has_128_timers),
	};

	return cmocka_run_group_tests_name("engine_batch", tests, NULL, NULL);
}
