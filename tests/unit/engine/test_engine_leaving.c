/* What has not started goes with its shard, and a peer that leaves gives all its shards. */
#include "support/cmocka.h"

#include <string.h>

#include "engine/call/members.h"
#include "engine/core.h"
#include "support/leased.h"

/* ---- Holds that have not started ----------------------------------------------------------- */

/* The program keeps deliveries that it begins later. They are given back, and their tokens are
 * stale. */
static void holds_that_have_not_started_are_given_back(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->verdict = DW_HOLD_UNSTARTED;
	leased_put_each(&leased, 0);
	assert_int_equal(h->start_count, LEASED_SHARDS);
	leased_want_fewer(&leased, 2, DW_SECONDS(1));
	assert_int_equal(leased_given(&leased), 2);
	assert_int_equal(leased.asked[DW_OP_RETRY], 2);
	assert_int_equal(harness_stats(h).held, 2);
	for (size_t i = 0; i < LEASED_SHARDS; i++)
		assert_int_equal(engine_started(h->engine, &h->starts[i].token),
				 leased.shards[h->starts[i].id[0] - 'a'].foreign ? DW_ESTALE
										 : DW_OK);
	leased_end(&leased);
}

/* One of two deliveries runs, so the other one is not given back for nothing. If the program begins
 * it just while the shard drains, it is delivered again. */
static void hold_that_may_not_start_is_delivered_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	h->verdict = DW_HOLD_UNSTARTED;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "a2", 0);
	harness_turn(h);
	assert_int_equal(engine_started(h->engine, &h->starts[0].token), DW_OK);
	leased_want_fewer(&leased, 1, DW_MILLISECONDS(1));
	assert_int_equal(leased.asked[DW_OP_RETRY], 0);
	assert_int_equal(engine_started(h->engine, &h->starts[1].token), DW_ESTALE);
	harness_pass(h, DW_MILLISECONDS(90));
	assert_int_equal(leased.asked[DW_OP_RETRY], 1);
	assert_int_equal(harness_starts_of(h, "a2"), 2);
	assert_int_equal(engine_started(h->engine, &h->starts[2].token), DW_OK);
	assert_int_equal(engine_check(h->engine), 0);
	leased_end(&leased);
}

/* A cancel came too late for it, so nothing delivers it again: its shard waits for its start. */
static void hold_whose_cancel_came_too_late_starts_here(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	h->verdict = DW_HOLD_UNSTARTED;
	(void)harness_put(h, "a", 0);
	harness_turn(h);
	(void)harness_cancel(h, "a");
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_ELATE);
	assert_int_equal(engine_leave(h->engine), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased.asked[DW_OP_RETRY], 0);
	assert_false(leased.shards[0].foreign);
	assert_int_equal(engine_started(h->engine, &h->starts[0].token), DW_OK);
	assert_int_equal(harness_settle(h, 0), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_true(leased.shards[0].foreign);
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* ---- A peer that ends ---------------------------------------------------------------------- */

/* Quiet shards go at once. The others start nothing more, and go when their deliveries have
 * ended. */
static void peer_that_leaves_gives_all(bool closes)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "c", 0);
	harness_turn(h);
	assert_int_equal(h->start_count, 2);
	for (unsigned i = 0; i < LEASED_SHARDS; i++) {
		char id[3] = {(char)('a' + (int)i), '2', '\0'};

		(void)harness_put(h, id, DW_SECONDS(5));
	}
	harness_turn(h);
	assert_int_equal(engine_leave(h->engine), DW_OK);
	if (closes)
		engine_begin_close(h->engine);
	harness_pass(h, DW_MILLISECONDS(10));
	assert_int_equal(leased_given(&leased), closes ? LEASED_SHARDS : 2);
	assert_int_equal(leased.shards[0].foreign, closes);
	assert_int_equal(leased.shards[2].foreign, closes);
	harness_pass(h, DW_SECONDS(120));
	assert_int_equal(h->start_count, 2);
	if (!closes)
		assert_int_equal(harness_settle(h, 0), DW_OK);
	harness_pass(h, DW_MILLISECONDS(10));
	assert_true(leased.shards[0].foreign);
	assert_int_equal(leased.shards[2].foreign, closes);
	leased_end(&leased);
}

static void peer_that_leaves_gives_shards_as_their_deliveries_end(void **state)
{
	(void)state;
	peer_that_leaves_gives_all(false);
}

static void peer_that_closes_gives_its_holds_back_first(void **state)
{
	(void)state;
	peer_that_leaves_gives_all(true);
}

/* The store refuses each GIVE for a while. Nothing starts meanwhile, and no call is lost. */
static void peer_that_leaves_asks_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	leased_put_each(&leased, DW_SECONDS(1));
	leased.gives = DW_EBUSY;
	assert_int_equal(engine_leave(h->engine), DW_OK);
	harness_pass(h, DW_SECONDS(3));
	assert_int_equal(h->start_count, 0);
	assert_in_range(leased.asked[DW_OP_GIVE], 40, 200);
	(void)harness_put(h, "a2", DW_SECONDS(60));
	leased.gives = DW_OK;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased_given(&leased), LEASED_SHARDS);
	assert_int_equal(harness_result(h, "a2").status, DW_OK);
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

/* A shard drains already because the peer had too many. It goes on as the others do, and the engine
 * sleeps until something happens. */
static void peer_that_gives_leaves(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->engine->env.hold = DW_HOURS(1);
	h->verdict = DW_HOLD;
	leased_put_each(&leased, 0);
	leased_want_fewer(&leased, 1, DW_MILLISECONDS(10));
	assert_int_equal(h->engine->ownership.giving.draining, 1);
	assert_int_equal(engine_leave(h->engine), DW_OK);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->engine->ownership.giving.draining, LEASED_SHARDS);
	assert_int_equal(giving_wake(h->engine, h->wall), DW_NEVER);
	for (size_t i = 0; i < LEASED_SHARDS; i++)
		assert_int_equal(harness_settle(h, i), DW_OK);
	harness_pass(h, DW_MILLISECONDS(10));
	assert_int_equal(leased_given(&leased), LEASED_SHARDS);
	leased_end(&leased);
}

static void owner_does_not_leave(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);

	(void)state;
	assert_int_equal(engine_leave(h->engine), DW_EROLE);
	assert_non_null(strstr(engine_error(h->engine), "open as DW_PEER"));
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(holds_that_have_not_started_are_given_back),
	    cmocka_unit_test(hold_that_may_not_start_is_delivered_again),
	    cmocka_unit_test(hold_whose_cancel_came_too_late_starts_here),
	    cmocka_unit_test(peer_that_leaves_gives_shards_as_their_deliveries_end),
	    cmocka_unit_test(peer_that_closes_gives_its_holds_back_first),
	    cmocka_unit_test(peer_that_leaves_asks_again),
	    cmocka_unit_test(peer_that_gives_leaves),
	    cmocka_unit_test(owner_does_not_leave),
	};
	return cmocka_run_group_tests_name("engine_leaving", tests, NULL, NULL);
}
