/* The engine on a store that has a lease and can lose its ownership. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/leased.h"

/* ---- The store's turn ---------------------------------------------------------------------- */

static void store_is_turned_at_its_own_time(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	int turns = leased.turns;

	(void)state;
	leased.due = h->steady + DW_MILLISECONDS(300);
	harness_turn(h);
	assert_true(leased.turns > turns);
	assert_int_equal(leased.turned_at, h->steady);
	assert_int_equal(h->armed, h->wall + DW_MILLISECONDS(300));
	harness_pass(h, DW_MILLISECONDS(300));
	assert_int_equal(leased.due, DW_NEVER);
	leased_end(&leased);
}

static void clock_step_does_not_delay_the_stores_turn(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.due = h->steady + DW_MILLISECONDS(300);
	harness_turn(h);
	h->wall -= DW_HOURS(1);
	harness_turn(h);
	assert_true(h->armed <= h->wall + DW_MILLISECONDS(300));
	harness_pass(h, DW_MILLISECONDS(300));
	assert_int_equal(leased.due, DW_NEVER);
	leased_end(&leased);
}

/* ---- The lease ----------------------------------------------------------------------------- */

static void nothing_starts_at_the_end_of_the_lease_until_it_is_renewed(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	leased.lease = h->steady + DW_SECONDS(1);
	harness_pass(h, DW_SECONDS(20));
	assert_int_equal(h->start_count, 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_LEASE), 1);
	leased.lease = h->steady + 1;
	h->woken = 1;
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

static void what_is_due_before_the_end_of_the_lease_starts(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	leased.lease = h->steady + DW_SECONDS(1) + 1;
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_LEASE), 0); /* nothing waits for it */
	leased_end(&leased);
}

static void each_occasion_of_a_lease_that_is_over_is_told(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased.lease = h->steady;
	for (int i = 1; i <= 3; i++) {
		(void)harness_put(h, "a", DW_MILLISECONDS(100));
		harness_pass(h, DW_SECONDS(1));
		assert_int_equal(harness_events_of(h, DW_EVENT_LEASE), i);
		leased.lease = h->steady + 1;
		harness_pass(h, DW_MILLISECONDS(100));
		assert_int_equal(h->start_count, i);
	}
	leased_end(&leased);
}

static void pass_time(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	h->wall += DW_MILLISECONDS(10);
	h->steady += DW_MILLISECONDS(10);
}

static void lease_is_looked_at_before_each_handler(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	h->in_handler = pass_time;
	for (int i = 0; i < 4; i++) {
		char id[2] = {(char)('a' + i), '\0'};

		(void)harness_put(h, id, DW_SECONDS(1));
	}
	leased.lease = h->steady + DW_SECONDS(1) + DW_MILLISECONDS(20);
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 2);
	leased.lease = DW_NEVER;
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 4);
	assert_string_equal(h->starts[3].id, "d");
	leased_end(&leased);
}

/* The one worker of these tests. */
static struct job *out;

static void take_job(void *user, struct job *job)
{
	(void)user;
	out = job;
}

static void set_worker(struct engine_env *env)
{
	out = NULL;
	env->workers = (struct worker_port){.start = take_job, .count = 1};
}

static struct harness *begin_with_worker(struct leased *leased)
{
	struct harness *h = leased_new(leased, set_worker);

	assert_int_equal(engine_on_worker(h->engine, "t", harness_handler, h), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	return h;
}

static void finish_job(struct harness *h, dw_verdict verdict)
{
	struct job *job = out;

	out = NULL;
	job->started = true;
	job->verdicts[0] = verdict;
	engine_finish(h->engine, job);
	harness_turn(h);
}

static void no_worker_is_given_what_the_lease_does_not_cover(void **state)
{
	struct leased leased;
	struct harness *h = begin_with_worker(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	leased.lease = h->steady + DW_SECONDS(1);
	harness_pass(h, DW_SECONDS(2));
	assert_null(out);
	assert_int_equal(harness_events_of(h, DW_EVENT_LEASE), 1);
	leased.lease = DW_NEVER;
	harness_pass(h, DW_SECONDS(1));
	assert_non_null(out);
	finish_job(h, DW_DONE);
	assert_int_equal(harness_stats(h).settled, 1);
	leased_end(&leased);
}

/* ---- Losing the ownership ------------------------------------------------------------------ */

static void owner_that_is_fenced_drops_all_and_asks_for_it_every_second(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(5));
	(void)harness_put(h, "b", DW_HOURS(5));
	(void)harness_put(h, "c", 0);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	leased_fenced(&leased);
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 1);
	assert_non_null(strstr(h->message, "2 timers"));
	assert_false(engine_is_owner(h->engine));
	assert_int_equal(harness_stats(h).timers, 0);
	assert_int_equal(leased.asked[DW_OP_OWN], 1);
	harness_pass(h, DW_MILLISECONDS(9500));
	assert_int_equal(leased.asked[DW_OP_OWN], 10);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 0);
	leased_end(&leased);
}

static void store_of_a_newer_version_is_told_once_until_it_is_owned(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	for (size_t i = 1; i <= 2; i++) {
		int asked = leased.asked[DW_OP_OWN];

		leased.newer = true;
		leased.is_free = false;
		leased_fenced(&leased);
		harness_pass(h, DW_MILLISECONDS(4500));
		assert_int_equal(leased.asked[DW_OP_OWN], asked + 5);
		assert_int_equal(harness_events_of(h, DW_EVENT_NEWER), i);
		assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 0);
		leased.is_free = true;
		harness_pass(h, DW_SECONDS(2));
		assert_int_equal(harness_events_of(h, DW_EVENT_OWNER), i);
	}
	leased_end(&leased);
}

static void owner_that_is_free_again_loads_and_fires(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	size_t recovered;

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(5));
	harness_pass(h, DW_SECONDS(1));
	leased_fenced(&leased);
	harness_pass(h, DW_SECONDS(6));
	recovered = harness_events_of(h, DW_EVENT_RECOVERED);
	leased.is_free = true;
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER), 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_RECOVERED), recovered + 1);
	assert_true(engine_is_owner(h->engine));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_stats(h).settled, 1);
	leased_fenced(&leased);
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 2);
	leased_end(&leased);
}

static void calls_under_way_are_answered_and_later_ones_are_a_clients(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	(void)harness_put(h, "b", DW_HOURS(1));
	harness_turn(h);
	leased.keeps = true;
	(void)harness_put(h, "a", DW_HOURS(1));
	(void)harness_cancel(h, "b");
	(void)engine_move(h->engine, "b", h->wall, (struct done){harness_done, h});
	harness_turn(h);
	leased.keeps = false;
	leased_fenced(&leased);
	assert_int_equal(harness_result(h, "a").status, DW_EFENCED);
	assert_int_equal(h->result_count, 4);
	assert_int_equal(h->results[2].status, DW_EFENCED); /* the cancel */
	assert_int_equal(h->results[3].status, DW_OK);      /* the move, which waited for it */
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(leased.flags, 0);
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

static void what_was_queued_and_is_an_owners_is_not_submitted(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_stats stats;

	(void)state;
	leased.keeps = true;
	for (int i = 0; i < 3000; i++) { /* more than are submitted at once */
		char id[16];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, 0);
	}
	assert_int_equal(engine_purge(h->engine, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	leased.keeps = false;
	leased_fenced(&leased);
	stats = harness_stats(h);
	assert_int_equal(stats.inflight, 0);
	assert_int_equal(harness_result(h, "").status, DW_EFENCED);
	assert_int_equal(leased.asked[DW_OP_PURGE], 0);
	assert_int_equal(harness_result(h, "0").status, DW_EFENCED);
	assert_int_equal(harness_result(h, "2999").status, DW_OK);
	leased_end(&leased);
}

static void hold_of_a_fenced_owner_is_stale(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "b", 0);
	harness_turn(h);
	assert_int_equal(h->start_count, 2);
	leased.keeps = true;
	assert_int_equal(harness_settle(h, 1), DW_OK);
	harness_turn(h);
	leased_fenced(&leased);
	assert_int_equal(harness_settle(h, 0), DW_ESTALE);
	assert_int_equal(harness_result(h, "b").status, DW_ESTALE);
	assert_int_equal(harness_stats(h).held, 0);
	leased.keeps = false;
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(harness_events_of(h, DW_EVENT_HOLD_EXPIRED), 0);
	assert_int_equal(leased.asked[DW_OP_SETTLE], 1);
	leased_end(&leased);
}

/* The store refused the verdict, and a put of the same id went ahead of the next try. */
static void settle_behind_a_put_of_a_fenced_owner_is_stale(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	leased.keeps = true;
	assert_int_equal(harness_settle(h, 0), DW_OK);
	harness_turn(h);
	leased_say(&leased, op_queue_take(&leased.kept), DW_ESTORE);
	harness_turn(h);
	assert_int_equal(
	    engine_put(
		h->engine,
		&(dw_timer){.size = sizeof(dw_timer), .id = "a", .topic = "t", .due = h->wall},
		(struct done){0}),
	    DW_OK);
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_PUT], 2);
	leased_fenced(&leased);
	assert_int_equal(harness_result(h, "a").status, DW_ESTALE);
	leased_speak(&leased);
	leased_end(&leased);
}

/* A turn drops some of the timers, and does nothing else until all are. */
static void ownership_of_many_timers_is_lost_in_many_turns(void **state)
{
	enum { MANY = 10000 };
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	uint64_t timers = MANY;
	int turns = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)harness_put(h, id, DW_SECONDS(1));
	}
	harness_turn(h);
	assert_int_equal(harness_stats(h).timers, MANY);
	leased_fence(&leased);
	(void)harness_put(h, "x", DW_HOURS(1)); /* the answer says that it is fenced */
	h->wall += DW_SECONDS(2);
	while (timers > 0) {
		uint64_t before = timers;

		assert_int_equal(engine_turn(h->engine), DW_OK);
		timers = harness_stats(h).timers;
		assert_true(before - timers < MANY / 2);
		assert_int_equal(h->start_count, 0);
		/* A call on one that is not dropped yet finds none: this is a client. */
		if (timers == before || turns++ > 0)
			continue;
		assert_int_equal(
		    engine_cancel(h->engine, "5000", 0, (struct done){harness_done, h}), DW_OK);
		assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 0);
	}
	assert_true(turns > 2);
	harness_turn(h);
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 1);
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

static void verdict_of_a_worker_of_a_fenced_owner_is_void(void **state)
{
	struct leased leased;
	struct harness *h = begin_with_worker(&leased);

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_non_null(out);
	leased_fenced(&leased);
	finish_job(h, DW_DONE);
	assert_int_equal(leased.asked[DW_OP_SETTLE], 0);
	assert_int_equal(harness_stats(h).running, 0);
	leased.is_free = true;
	harness_pass(h, DW_SECONDS(2)); /* its next attempt is this handle's again */
	assert_non_null(out);
	assert_int_equal(out->tokens->attempt, 2);
	finish_job(h, DW_DONE);
	assert_int_equal(harness_stats(h).settled, 1);
	leased_end(&leased);
}

static void settle_that_waits_for_a_worker_of_a_fenced_owner_is_stale(void **state)
{
	struct leased leased;
	struct harness *h = begin_with_worker(&leased);

	(void)state;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	assert_int_equal(
	    engine_settle(h->engine, out->tokens, DW_DONE, -1, (struct done){harness_done, h}),
	    DW_OK);
	harness_turn(h);
	leased_fenced(&leased);
	assert_int_equal(harness_result(h, "a").status, DW_ESTALE);
	finish_job(h, DW_HOLD);
	assert_int_equal(harness_stats(h).held, 0);
	leased_end(&leased);
}

static void claim_of_an_earlier_reign_starts_nothing(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	dw_op *claim;

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(5));
	harness_pass(h, DW_SECONDS(4)); /* the put is reported */
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(1));
	claim = op_queue_take(&leased.kept);
	assert_int_equal(claim->kind, DW_OP_CLAIM);
	leased.keeps = false;
	leased_fenced(&leased);
	leased.is_free = true;
	harness_pass(h, DW_SECONDS(2));
	assert_true(engine_is_owner(h->engine));
	assert_int_equal(h->start_count, 0); /* one operation of an id at a time */
	claim->status = DW_OK;
	claim->head.attempt = 1;
	claim->head.state = DW_CLAIMED;
	op_queue_push(&leased.answers, claim);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(leased.asked[DW_OP_CLAIM], 2);
	leased_end(&leased);
}

static void put_as_a_client_is_loaded_although_a_call_waits_for_its_id(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	leased_fenced(&leased);
	leased.keeps = true;
	(void)harness_put(h, "a", DW_SECONDS(10));
	assert_int_equal(engine_dead_requeue(h->engine, "a", 0, h->wall, (struct done){0}), DW_OK);
	harness_turn(h);
	leased_speak(&leased);
	leased.keeps = true; /* the requeue is under way from now on */
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	leased.is_free = true;
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(harness_stats(h).timers, 1);
	leased_speak(&leased);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

static void close_of_a_fenced_owner_gives_nothing_back(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	(void)harness_put(h, "b", DW_MILLISECONDS(4)); /* stored as claimed */
	harness_turn(h);
	leased_fenced(&leased);
	engine_begin_close(h->engine);
	harness_turn(h);
	assert_true(engine_settled(h->engine));
	assert_int_equal(leased.asked[DW_OP_RETRY], 0);
	leased_free(&leased);
}

/* ---- The inbox ------------------------------------------------------------------------------ */

/* Acknowledged, it would count as known, and a settle of the earlier one would delete it unread. */
static void what_there_was_no_memory_to_learn_is_not_acknowledged(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	const dw_head later = {.generation = INT64_MAX, .due = h->wall + DW_HOURS(2)};

	(void)state;
	(void)harness_put(h, "a", DW_HOURS(2));
	harness_turn(h);
	leased_tell(&leased, "a", later, false);
	h->fail_at = h->allocations + 1;
	harness_turn(h);
	assert_true(h->allocations >= h->fail_at);
	assert_int_equal(leased.asked[DW_OP_ACK], 0);
	harness_pass(h, DW_SECONDS(1));
	assert_non_null(leased.parked); /* it is asked for again */
	leased_tell(&leased, "a", later, false);
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_ACK], 1);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(store_is_turned_at_its_own_time),
	    cmocka_unit_test(clock_step_does_not_delay_the_stores_turn),
	    cmocka_unit_test(nothing_starts_at_the_end_of_the_lease_until_it_is_renewed),
	    cmocka_unit_test(what_is_due_before_the_end_of_the_lease_starts),
	    cmocka_unit_test(each_occasion_of_a_lease_that_is_over_is_told),
	    cmocka_unit_test(lease_is_looked_at_before_each_handler),
	    cmocka_unit_test(no_worker_is_given_what_the_lease_does_not_cover),
	    cmocka_unit_test(owner_that_is_fenced_drops_all_and_asks_for_it_every_second),
	    cmocka_unit_test(store_of_a_newer_version_is_told_once_until_it_is_owned),
	    cmocka_unit_test(owner_that_is_free_again_loads_and_fires),
	    cmocka_unit_test(calls_under_way_are_answered_and_later_ones_are_a_clients),
	    cmocka_unit_test(what_was_queued_and_is_an_owners_is_not_submitted),
	    cmocka_unit_test(hold_of_a_fenced_owner_is_stale),
	    cmocka_unit_test(settle_behind_a_put_of_a_fenced_owner_is_stale),
	    cmocka_unit_test(ownership_of_many_timers_is_lost_in_many_turns),
	    cmocka_unit_test(verdict_of_a_worker_of_a_fenced_owner_is_void),
	    cmocka_unit_test(settle_that_waits_for_a_worker_of_a_fenced_owner_is_stale),
	    cmocka_unit_test(claim_of_an_earlier_reign_starts_nothing),
	    cmocka_unit_test(put_as_a_client_is_loaded_although_a_call_waits_for_its_id),
	    cmocka_unit_test(close_of_a_fenced_owner_gives_nothing_back),
	    cmocka_unit_test(what_there_was_no_memory_to_learn_is_not_acknowledged),
	};

	return cmocka_run_group_tests_name("engine_lease", tests, NULL, NULL);
}
