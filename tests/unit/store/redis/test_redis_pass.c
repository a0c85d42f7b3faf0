/* The owner's pass through the namespace finds what another program has deleted, also where as many
 * entries as values are missing. */
#include <stdio.h>
#include <stdlib.h>

#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "keyspace/store.h"

enum { TIMERS = 40, SHARDS = 16 };

static void done(struct keyspace_store *twin, dw_op *op)
{
	assert_non_null(keyspace_store_done(twin, op));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
}

static const char *id_of(int number)
{
	static char id[16];

	(void)snprintf(id, sizeof id, "t%d", number);
	return id;
}

static void delete_one(struct keyspace_store *twin, int number)
{
	const char *const entry[] = {"ZREM", "{twin:00}:z", id_of(number), NULL};
	const char *const value[] = {"HDEL", "{twin:00}:h", id_of(number), NULL};

	keyspace_store_command(twin, number < 3 ? entry : value);
}

/* The owner lives, and reads none of its timers meanwhile. */
static void as_many_entries_as_values_are_missed_within_a_minute(void **state)
{
	struct keyspace_store *twin = calloc(1, sizeof *twin);

	(void)state;
	keyspace_store_open(twin);
	done(twin, ask_plain(DW_OP_OWN));
	for (int i = 0; i < TIMERS; i++)
		done(twin, ask_put(id_of(i), DW_HOURS(1000), 0));
	keyspace_store_wait(twin, DW_SECONDS(100));
	for (int i = 0; i < 6; i++)
		delete_one(twin, i);
	assert_false(keyspace_is_even(twin->keyspace, "{twin:00}:"));
	twin->store->type->submit(twin->store, ask_plain(DW_OP_LOSS));
	keyspace_store_wait(twin, DW_SECONDS(60));
	assert_true(keyspace_is_even(twin->keyspace, "{twin:00}:"));
	keyspace_store_close(twin);
	free(twin);
}

/* tear puts six timers of one shard and deletes the entries of three and the values of the others.
 */
static void tear(struct keyspace_store *twin, const char *prefix, int round)
{
	char id[24], key[24];

	for (int i = 0; i < 6; i++) {
		bool entry = i < 3;
		const char *const words[] = {entry ? "ZREM" : "HDEL", key, id, NULL};

		(void)snprintf(key, sizeof key, "%s%s", prefix, entry ? "z" : "h");
		(void)snprintf(id, sizeof id, "{one}%d", 6 * round + i);
		done(twin, ask_put(id, DW_HOURS(1000), 0));
		keyspace_store_command(twin, words);
	}
}

/* At whatever shard the pass is: a new owner need not wait until it comes around. */
static void scan_makes_a_torn_shard_the_next_one(void **state)
{
	struct keyspace_store *twin = calloc(1, sizeof *twin);
	char prefix[16];

	(void)state;
	twin->shards = SHARDS;
	(void)snprintf(prefix, sizeof prefix, "{twin:%02u}:", crc16_of("{one}") % SHARDS);
	keyspace_store_open(twin);
	done(twin, ask_plain(DW_OP_OWN));
	twin->store->type->submit(twin->store, ask_plain(DW_OP_LOSS));
	for (int round = 0; round < 4; round++) {
		keyspace_store_wait(twin, DW_SECONDS(11));
		tear(twin, prefix, round);
		assert_false(keyspace_is_even(twin->keyspace, prefix));
		done(twin, ask_plain(DW_OP_SCAN));
		keyspace_store_wait(twin, DW_SECONDS(2));
		assert_true(keyspace_is_even(twin->keyspace, prefix));
	}
	keyspace_store_close(twin);
	free(twin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_many_entries_as_values_are_missed_within_a_minute),
	    cmocka_unit_test(scan_makes_a_torn_shard_the_next_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
