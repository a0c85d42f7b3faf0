/* The owner's pass through the namespace finds what another program has deleted, also where as many
 * entries as values are missing. */
#include <stdio.h>
#include <stdlib.h>

#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "script_model/store.h"

enum { TIMERS = 40, SHARDS = 16 };

static void done(struct model_store *model, dw_op *op)
{
	assert_non_null(model_store_done(model, op));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
}

static const char *id_of(int number)
{
	static char id[16];

	(void)snprintf(id, sizeof id, "t%d", number);
	return id;
}

static void delete_one(struct model_store *model, int number)
{
	const char *const entry[] = {"ZREM", "{model:00}:z", id_of(number), NULL};
	const char *const value[] = {"HDEL", "{model:00}:h", id_of(number), NULL};

	model_store_command(model, number < 3 ? entry : value);
}

/* The owner lives, and reads none of its timers meanwhile. */
static void as_many_entries_as_values_are_missed_within_a_minute(void **state)
{
	struct model_store *model = calloc(1, sizeof *model);

	(void)state;
	model_store_open(model);
	done(model, ask_plain(DW_OP_OWN));
	for (int i = 0; i < TIMERS; i++)
		done(model, ask_put(id_of(i), DW_HOURS(1000), 0));
	model_store_wait(model, DW_SECONDS(100));
	for (int i = 0; i < 6; i++)
		delete_one(model, i);
	assert_false(model_is_even(model->model, "{model:00}:"));
	model->store->type->submit(model->store, ask_plain(DW_OP_LOSS));
	model_store_wait(model, DW_SECONDS(60));
	assert_true(model_is_even(model->model, "{model:00}:"));
	model_store_close(model);
	free(model);
}

/* tear puts six timers of one shard and deletes the entries of three and the values of the others.
 */
static void tear(struct model_store *model, const char *prefix, int round)
{
	char id[24], key[24];

	for (int i = 0; i < 6; i++) {
		bool entry = i < 3;
		const char *const words[] = {entry ? "ZREM" : "HDEL", key, id, NULL};

		(void)snprintf(key, sizeof key, "%s%s", prefix, entry ? "z" : "h");
		(void)snprintf(id, sizeof id, "{one}%d", 6 * round + i);
		done(model, ask_put(id, DW_HOURS(1000), 0));
		model_store_command(model, words);
	}
}

/* At whatever shard the pass is: a new owner need not wait until it comes around. */
static void scan_makes_a_torn_shard_the_next_one(void **state)
{
	struct model_store *model = calloc(1, sizeof *model);
	char prefix[16];

	(void)state;
	model->shards = SHARDS;
	(void)snprintf(prefix, sizeof prefix, "{model:%02u}:", crc16_of("{one}") % SHARDS);
	model_store_open(model);
	done(model, ask_plain(DW_OP_OWN));
	model->store->type->submit(model->store, ask_plain(DW_OP_LOSS));
	for (int round = 0; round < 4; round++) {
		model_store_wait(model, DW_SECONDS(11));
		tear(model, prefix, round);
		assert_false(model_is_even(model->model, prefix));
		done(model, ask_plain(DW_OP_SCAN));
		model_store_wait(model, DW_SECONDS(2));
		assert_true(model_is_even(model->model, prefix));
	}
	model_store_close(model);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_many_entries_as_values_are_missed_within_a_minute),
	    cmocka_unit_test(scan_makes_a_torn_shard_the_next_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
