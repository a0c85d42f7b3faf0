/* Drops of dead letters that look for a letter in the shard of another id. */
#include "store/redis/heal/restore.h"
#include "support/cmocka.h"
#include "support/stub_link.h"

enum { SHARDS = 4 };

/* own makes the store the owner of all shards. */
static void own(struct redis_store *store)
{
	store->ownership.role = DW_OWNER;
	for (unsigned i = 0; i < SHARDS; i++) {
		store->shards[i].lease.is_ours = true;
		store->shards[i].lease.until = DW_NEVER;
	}
}

/* The id's own shard is not lost, so its engine must not hear DW_EFENCED. */
static void drop_goes_on_if_the_shard_that_it_asks_is_lost(void **state)
{
	struct stub_link stub;
	struct redis_store *store = stub_open(&stub, SHARDS);
	dw_op *drop = op_new(&store->alloc, DW_OP_DROP, "order:42", NULL, 0);
	unsigned home = shard_of(store, "order:42")->number;
	struct shard *lost = &store->shards[(home + 1) % SHARDS];
	struct shard *next = &store->shards[(home + 2) % SHARDS];

	(void)state;
	assert_non_null(drop);
	own(store);
	assert_true(stray_ask_next(store, &store->shards[home], drop));
	assert_ptr_equal(lost->queues.waiting.first, drop);
	restore_fenced(store, lost);
	assert_false(shard_is_ours(lost));
	assert_null(store->completion.answers.first);
	assert_ptr_equal(op_queue_take(&next->queues.waiting), drop);
	op_free(&store->alloc, drop);
	stub_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(drop_goes_on_if_the_shard_that_it_asks_is_lost),
	};

	return cmocka_run_group_tests_name("redis_stray", tests, NULL, NULL);
}
