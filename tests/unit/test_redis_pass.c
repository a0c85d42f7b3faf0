/* The owner's pass through the namespace finds what another program has deleted, also where as many
 * entries as values are missing. */
#include <stdio.h>
#include <stdlib.h>

#include "support/ask.h"
#include "support/cmocka.h"
#include "support/twin_store.h"

enum { TIMERS = 40 };

static void done(struct twin_store *twin, dw_op *op)
{
	assert_non_null(twin_store_done(twin, op));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
}

static const char *id_of(int number)
{
	static char id[16];

	(void)snprintf(id, sizeof id, "t%d", number);
	return id;
}

static void delete_one(struct twin_store *twin, int number)
{
	const char *const entry[] = {"ZREM", "{twin:00}:z", id_of(number), NULL};
	const char *const value[] = {"HDEL", "{twin:00}:h", id_of(number), NULL};

	twin_store_command(twin, number < 3 ? entry : value);
}

/* The owner lives, and reads none of its timers meanwhile. */
static void as_many_entries_as_values_are_missed_within_a_minute(void **state)
{
	struct twin_store *twin = calloc(1, sizeof *twin);

	(void)state;
	twin_store_open(twin);
	done(twin, ask_plain(DW_OP_OWN));
	for (int i = 0; i < TIMERS; i++)
		done(twin, ask_put(id_of(i), DW_HOURS(1000), 0));
	twin_store_wait(twin, DW_SECONDS(100));
	for (int i = 0; i < 6; i++)
		delete_one(twin, i);
	assert_false(twin_is_even(twin->twin, "{twin:00}:"));
	twin->store->type->submit(twin->store, ask_plain(DW_OP_LOSS));
	twin_store_wait(twin, DW_SECONDS(60));
	assert_true(twin_is_even(twin->twin, "{twin:00}:"));
	twin_store_close(twin);
	free(twin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_many_entries_as_values_are_missed_within_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
