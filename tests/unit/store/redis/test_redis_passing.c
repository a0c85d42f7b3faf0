/* A refusal that passes (TRYAGAIN) cuts a shard off only if it lasts for a second. */
#include "support/cmocka.h"
#include "support/stub_link.h"

enum { SHARD = 1, SHARDS = 4 };

static bool moves; /* the slot of the shard moves */

static struct reply *answer_types(struct stub_link *stub)
{
	struct reply *reply = reply_new(&stub->alloc);

	assert_non_null(reply);
	if (moves) {
		assert_true(reply_bytes(reply, reply, REPLY_ERROR, "TRYAGAIN", 8));
		return reply;
	}
	assert_true(reply_items(reply, reply, KEYS_OF_SHARD));
	for (unsigned i = 0; i < KEYS_OF_SHARD; i++)
		assert_true(reply_bytes(reply, &reply->items[i], REPLY_BULK, "none", 4));
	return reply;
}

/* look lets the store ask once more about the shards that were refused. */
static void look(struct redis_store *store, const struct stub_link *stub)
{
	store->now = stub->now;
	cut_off_work(store);
	node_wire(store, &store->node);
}

/* refuse_once refuses a command, so that the store asks about the shard. */
static void refuse_once(struct redis_store *store, const struct stub_link *stub)
{
	moves = true;
	store->now = stub->now;
	cut_off_look(store, &store->shards[SHARD]);
	node_wire(store, &store->node);
}

static void refusal_that_lasts_cuts_the_shard_off(void **state)
{
	struct stub_link stub;
	struct redis_store *store = stub_open(&stub, SHARDS);

	(void)state;
	stub.answer = answer_types;
	refuse_once(store, &stub);
	stub.now += DW_MILLISECONDS(999);
	look(store, &stub);
	assert_false(shard_is_cut_off(&store->shards[SHARD]));
	stub.now += DW_MILLISECONDS(1);
	assert_in_range(cut_off_due(store), 0, stub.now);
	look(store, &stub);
	assert_true(shard_is_cut_off(&store->shards[SHARD]));
	stub_close(store);
}

static void refusals_far_apart_cut_nothing_off(void **state)
{
	struct stub_link stub;
	struct redis_store *store = stub_open(&stub, SHARDS);

	(void)state;
	stub.answer = answer_types;
	for (int i = 0; i < 3; i++) {
		refuse_once(store, &stub);
		moves = false;
		stub.now += DW_SECONDS(1);
		look(store, &stub);
		assert_false(shard_is_cut_off(&store->shards[SHARD]));
		assert_int_equal(cut_off_due(store), DW_NEVER);
		stub.now += DW_SECONDS(10);
	}
	stub_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refusal_that_lasts_cuts_the_shard_off),
	    cmocka_unit_test(refusals_far_apart_cut_nothing_off),
	};

	return cmocka_run_group_tests_name("redis_passing", tests, NULL, NULL);
}
