/* Which copy of a topic's settings counts. */
#include "store/redis/heal/copies_differ.h"
#include "support/cmocka.h"

enum { COPIES = 4 };

/* sorted: the number of the copy that counts, when they were told in this order. */
static uint64_t sorted(dw_row *copies, const unsigned *order)
{
	struct rows rows = {0};

	for (unsigned i = 0; i < COPIES; i++) {
		copies[order[i]].next = NULL;
		rows_push(&rows, &copies[order[i]]);
	}
	return copies_last(copies_sort(&rows))->number;
}

/* Of equal versions a sound one counts before a damaged one, and one with numbers before one
 * without. The order in which the shards have told them does not matter. */
static void newest_sound_copy_counts(void **state)
{
	static const unsigned orders[][COPIES] = {
	    {0, 1, 2, 3}, {3, 2, 1, 0}, {2, 3, 0, 1}, {1, 3, 2, 0}};
	dw_row copies[COPIES] = {
	    {.id = "t", .token = "", .head.generation = 8, .number = 1},
	    {.id = "t", .token = "", .head.generation = 9, .number = 2, .status = DW_ECORRUPT},
	    {.id = "t", .token = "", .head.generation = 9, .number = 3},
	    {.id = "t", .token = " waiting=5", .head.generation = 9, .number = 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		copies[1].token = copies[2].token = "";
		copies[3].status = DW_OK;
		assert_int_equal(sorted(copies, orders[i]), 4);
		copies[1].token = " waiting=5";
		copies[3].status = DW_ECORRUPT;
		assert_int_equal(sorted(copies, orders[i]), 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(newest_sound_copy_counts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
