/* The engine of a peer gives shards to other peers: only quiet ones, and nothing of a shard that is
 * given is lost or started twice. */
#include "support/cmocka.h"

#include <string.h>

#include "engine/call/members.h"
#include "engine/core.h"
#include "support/leased.h"

#define TRIED DW_MILLISECONDS(300) /* each shard was tried by then */

static void given_shard_leaves_memory_and_others_fire(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	leased_put_each(&leased, DW_SECONDS(5));
	leased_want_fewer(&leased, 2, DW_SECONDS(1));
	assert_int_equal(leased_given(&leased), 2);
	assert_int_equal(harness_stats(h).timers, 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 0);
	assert_true(harness_events_of(h, DW_EVENT_SHARDS) >= 1);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 2);
	for (unsigned i = 0; i < LEASED_SHARDS; i++) {
		char id[2] = {(char)('a' + (int)i), '\0'};

		assert_int_equal(harness_starts_of(h, id), !leased.shards[i].foreign);
	}
	leased_end(&leased);
}

static void peer_without_a_shard_is_a_client_and_gains_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	leased_put_each(&leased, DW_SECONDS(5));
	leased_want_fewer(&leased, LEASED_SHARDS, DW_SECONDS(1));
	assert_int_equal(leased_given(&leased), LEASED_SHARDS);
	assert_int_equal(harness_put(h, "a2", DW_SECONDS(3)), DW_OK);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a2").status, DW_OK);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 0);
	leased_tell_shard(&leased, 0, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 2);
	assert_int_equal(harness_starts_of(h, "a"), 1);
	assert_int_equal(harness_starts_of(h, "a2"), 1);
	leased_end(&leased);
}

/* The store was emptied, and another peer has its shards. The store gives all up, and so must its
 * engine. */
static void peer_that_has_lost_all_joins_again(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	leased_put_each(&leased, DW_SECONDS(5));
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		leased.shards[i].foreign = true;
	leased.is_free = true;
	leased_fence(&leased);
	harness_pass(h, DW_SECONDS(3));
	assert_int_equal(harness_events_of(h, DW_EVENT_OWNER_LOST), 1);
	assert_int_equal(leased.asked[DW_OP_OWN], 1);
	assert_int_equal(harness_stats(h).timers, 0);
	leased_tell_shard(&leased, 0, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(harness_starts_of(h, "a"), 1);
	leased_end(&leased);
}

/* The claim is given back before the shard is, so the next owner counts no crash. */
static void claims_are_given_back_first(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	harness_turn(h);
	(void)harness_put(h, "a", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(19));
	assert_int_equal(leased.asked[DW_OP_CLAIM], 1);
	leased_want_fewer(&leased, 1, DW_SECONDS(1));
	assert_int_equal(leased.asked[DW_OP_RETRY], 1);
	assert_int_equal(leased_given(&leased), LEASED_SHARDS);
	assert_int_equal(h->start_count, 0);
	leased_tell_shard(&leased, 0, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* A slow store is asked for claims long before the deadlines. They are given back, too. */
static void claims_that_are_not_due_are_given_back(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	for (int i = 0; i < 100; i++)
		lead_learn(&h->engine->lead, DW_MILLISECONDS(100), 1);
	for (int i = 0; i < 100; i++) {
		char id[8] = {'a', (char)('0' + i / 10), (char)('0' + i % 10), '\0'};

		(void)harness_put(h, id, DW_MILLISECONDS(60 + 2 * i));
	}
	harness_turn(h);
	leased_want_fewer(&leased, 1, DW_MILLISECONDS(30));
	assert_true(leased.asked[DW_OP_RETRY] > 50);
	assert_true(leased.shards[0].foreign);
	leased_end(&leased);
}

/* A put with DW_NEW leaves a timer that waits for its lease in the list of the shard. */
static void claim_is_not_given_back_beside_another_operation(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .flags = DW_NEW};

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	(void)harness_put(h, "a", DW_MILLISECONDS(1)); /* stored as claimed */
	harness_turn(h);
	leased.shards[0].lease = h->steady;
	harness_pass(h, DW_MILLISECONDS(5));
	assert_int_equal(h->start_count, 0);
	leased.keeps = true;
	timer.due = h->wall + DW_SECONDS(1);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	leased.surplus = 1;
	h->woken = 1;
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_RETRY], 0);
	leased_speak(&leased);
	leased.shards[0].lease = DW_NEVER;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_result(h, "a").status, DW_EEXIST);
	assert_true(leased.shards[0].foreign);
	assert_int_equal(engine_check(h->engine), 0);
	leased_end(&leased);
}

/* ---- Deliveries ---------------------------------------------------------------------------- */

static void shard_with_a_delivery_is_given_when_that_has_ended(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	leased_put_each(&leased, 0);
	assert_int_equal(h->start_count, LEASED_SHARDS);
	leased_want_fewer(&leased, 1, DW_SECONDS(5));
	assert_int_equal(leased_given(&leased), 0);
	assert_int_equal(leased.asked[DW_OP_GIVE], 0);
	for (size_t i = 0; i < LEASED_SHARDS; i++)
		if (strcmp(h->starts[i].id, "c") == 0)
			assert_int_equal(harness_settle(h, i), DW_OK);
	harness_pass(h, DW_SECONDS(2));
	assert_true(leased.shards[2].foreign);
	assert_int_equal(leased_given(&leased), 1);
	leased_end(&leased);
}

/* Timers of a shard that is not given in the end are late by the time for which it drained. */
static void timers_start_after_an_attempt_that_failed(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	leased_put_each(&leased, 0);
	h->verdict = DW_DONE;
	for (int i = 0; i < 50; i++) {
		char id[3] = {(char)('a' + i % LEASED_SHARDS), (char)('A' + i / 4), '\0'};

		(void)harness_put(h, id, DW_MILLISECONDS(50 + 10 * i));
	}
	leased_want_fewer(&leased, 1, DW_SECONDS(5));
	assert_int_equal(leased_given(&leased), 0);
	assert_int_equal(h->start_count, LEASED_SHARDS + 50);
	for (size_t i = LEASED_SHARDS; i < h->start_count; i++)
		assert_true(h->starts[i].now - h->starts[i].due <= DW_MILLISECONDS(50));
	leased_end(&leased);
}

/* settle_after settles the delivery of each shard that still runs after this time. */
static void settle_after(struct leased *leased, dw_usec time)
{
	struct harness *h = leased->harness;

	harness_pass(h, time);
	for (size_t i = 0; i < LEASED_SHARDS; i++)
		if (!leased->shards[h->starts[i].id[0] - 'a'].foreign)
			(void)harness_settle(h, i);
}

/* Deliveries of some seconds run in each shard. The shards wait for them together. */
static void shards_wait_together_for_deliveries_of_some_seconds(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	leased_put_each(&leased, 0);
	leased_want_fewer(&leased, 3, DW_SECONDS(4));
	assert_int_equal(leased_given(&leased), 0);
	settle_after(&leased, DW_SECONDS(1));
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(leased_given(&leased), 3);
	leased_end(&leased);
}

/* late_starts counts the starts that were late by more than a second. */
static unsigned late_starts(const struct harness *h, size_t from)
{
	unsigned count = 0;

	for (size_t i = from; i < h->start_count; i++)
		count += h->starts[i].now - h->starts[i].due > DW_SECONDS(1);
	return count;
}

/* put_and_count puts a timer of each shard every two seconds. It returns how many of them are late
 * by more than a second. */
static unsigned put_and_count(struct harness *h, unsigned seconds)
{
	size_t from = h->start_count;

	for (unsigned i = 0; i < seconds; i += 2) {
		for (unsigned k = 0; k < LEASED_SHARDS; k++) {
			char id[3] = {(char)('a' + (int)k), (char)('A' + (int)(i / 2 % 26)), '\0'};

			assert_int_equal(harness_put(h, id, 0), DW_OK);
		}
		harness_pass(h, DW_SECONDS(2));
	}
	harness_pass(h, DW_SECONDS(40));
	return late_starts(h, from);
}

/* A delivery runs for long in each shard. Shards wait for it once for some seconds, and then one of
 * them now and then for 30 s. In between nothing is late. */
static void shards_do_not_wait_often_for_long_deliveries(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->engine->env.hold = DW_HOURS(1);
	h->verdict = DW_HOLD;
	leased_put_each(&leased, 0);
	h->verdict = DW_DONE;
	leased_want_fewer(&leased, 2, DW_SECONDS(60));
	assert_int_equal(put_and_count(h, 40), 0);
	leased_want_fewer(&leased, 2, DW_SECONDS(190));
	assert_in_range(put_and_count(h, 40), 10, 16); /* of one shard in 30 s */
	assert_int_equal(leased_given(&leased), 0);
	leased_end(&leased);
}

/* ---- Calls --------------------------------------------------------------------------------- */

/* Calls that come while the store is asked wait for its answer. They are a client's then, or again
 * the owner's. */
static void call_waits_for_the_answer(int answer)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	(void)harness_put(h, "a", DW_SECONDS(60));
	harness_turn(h);
	leased.keeps = true;
	leased_want_fewer(&leased, 1, DW_MILLISECONDS(1));
	assert_int_equal(leased.asked[DW_OP_GIVE], 1);
	assert_int_equal(harness_cancel(h, "a"), DW_OK);
	assert_int_equal(harness_put(h, "a2", 0), DW_OK);
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_CANCEL], 0);
	assert_int_equal(leased.asked[DW_OP_PUT], 1);
	assert_int_equal(engine_check(h->engine), 0);
	leased.gives = answer;
	leased.surplus = answer == DW_OK ? leased.surplus : 0;
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(harness_result(h, "a").status, DW_OK);
	assert_int_equal(harness_result(h, "a2").status, DW_OK);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_starts_of(h, "a2"), answer != DW_OK);
	assert_int_equal(harness_starts_of(h, "a"), 0);
	leased_end(&leased);
}

static void call_waits_and_is_a_clients(void **state)
{
	(void)state;
	call_waits_for_the_answer(DW_OK);
}

static void call_waits_and_is_the_owners_if_the_store_refuses(void **state)
{
	(void)state;
	call_waits_for_the_answer(DW_EBUSY);
}

static void operation_under_way_is_waited_for(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	harness_turn(h);
	leased.keeps = true;
	(void)harness_put(h, "a", DW_SECONDS(60));
	leased_want_fewer(&leased, 1, TRIED);
	assert_int_equal(leased.asked[DW_OP_GIVE], 0);
	leased_speak(&leased);
	harness_pass(h, TRIED);
	assert_int_equal(leased.asked[DW_OP_GIVE], 1);
	assert_true(leased.shards[0].foreign);
	leased_end(&leased);
}

/* ---- Who shares the store ------------------------------------------------------------------ */

static int members_told;

static void show_members(dw *d, int status, const dw_member_list *list, void *user)
{
	(void)d;
	(void)user;
	members_told = status == DW_OK ? 1 : -1;
	if (status != DW_OK) {
		assert_int_equal(status, DW_ENOMEM);
		return;
	}
	assert_int_equal(list->count, 1);
	assert_int_equal(list->shard_count, LEASED_SHARDS);
	assert_string_equal(list->members->who, "host pid 1");
	assert_int_equal(list->members->shard_count, 2);
	assert_int_equal(list->members->shards[1], LEASED_SHARDS - 1);
}

static void members_are_told_or_there_is_no_memory(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	members_told = 0;
	for (size_t i = 1; members_told != 1 && i < 100; i++) {
		int status;

		h->allocations = 0;
		h->fail_at = i;
		members_told = 0;
		status = engine_members(h->engine, show_members, NULL);
		harness_turn(h);
		assert_int_equal(status == DW_OK, members_told != 0);
		assert_true(status == DW_OK || status == DW_ENOMEM);
	}
	h->fail_at = 0;
	assert_int_equal(members_told, 1);
	assert_int_equal(engine_owns(h->engine, "a"), 1);
	leased_tell_shard(&leased, 0, DW_SHARD_FOREIGN);
	harness_turn(h);
	assert_int_equal(engine_owns(h->engine, "a"), 0);
	assert_int_equal(engine_owns(h->engine, ""), DW_EINVAL);
	leased_end(&leased);
}

/* The store answers each operation at once with a failure. */
static void claims_are_given_back_once_while_the_store_fails(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	for (unsigned i = 1; i < LEASED_SHARDS; i++)
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
	harness_turn(h);
	(void)harness_put(h, "a", DW_MILLISECONDS(20));
	harness_pass(h, DW_MILLISECONDS(19));
	assert_int_equal(leased.asked[DW_OP_CLAIM], 1);
	leased.failing = DW_ESTORE;
	leased_want_fewer(&leased, 1, DW_SECONDS(1));
	assert_true(leased.asked[DW_OP_RETRY] >= 1);
	assert_true(leased.asked[DW_OP_RETRY] < 40);
	leased.failing = DW_OK;
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(harness_stats(h).timers, 0);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(given_shard_leaves_memory_and_others_fire),
	    cmocka_unit_test(peer_without_a_shard_is_a_client_and_gains_again),
	    cmocka_unit_test(peer_that_has_lost_all_joins_again),
	    cmocka_unit_test(claims_are_given_back_first),
	    cmocka_unit_test(claims_are_given_back_once_while_the_store_fails),
	    cmocka_unit_test(claims_that_are_not_due_are_given_back),
	    cmocka_unit_test(claim_is_not_given_back_beside_another_operation),
	    cmocka_unit_test(shard_with_a_delivery_is_given_when_that_has_ended),
	    cmocka_unit_test(timers_start_after_an_attempt_that_failed),
	    cmocka_unit_test(shards_wait_together_for_deliveries_of_some_seconds),
	    cmocka_unit_test(shards_do_not_wait_often_for_long_deliveries),
	    cmocka_unit_test(call_waits_and_is_a_clients),
	    cmocka_unit_test(call_waits_and_is_the_owners_if_the_store_refuses),
	    cmocka_unit_test(operation_under_way_is_waited_for),
	    cmocka_unit_test(members_are_told_or_there_is_no_memory),
	};
	return cmocka_run_group_tests_name("engine_giving", tests, NULL, NULL);
}
