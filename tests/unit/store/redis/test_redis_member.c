/* The record of a peer, as text. */
#include "store/redis/owner/member.h"

#include <string.h>

#include "support/cmocka.h"

#define HOLDER "host, pid 12, durawheel 1.0|boot 1 12 34"

static void member_is_read_as_it_was_written(void **state)
{
	static const uint64_t sets[][4] = {{0, 0, 0, 0},
					   {1, 0, 0, 0},
					   {0xffff, 0, 0, 0},
					   {0, 0, 0, UINT64_C(1) << 63},
					   {UINT64_MAX, 0, 5, 0}};
	char text[MEMBER_SIZE], again[MEMBER_SIZE];
	const char *holder;

	(void)state;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		dw_member_row row = {
		    .since = 1795478400000000, .room = 16, .clock = -120, .version = "1.0"};
		dw_member_row found;

		memcpy(row.shards, sets[i], sizeof row.shards);
		row.is_leaving = i & 1;
		memcpy(row.zones, i ? "2026a" : "", i ? 6 : 1);
		member_write(&row, HOLDER, text);
		assert_true(member_read(text, &found, &holder));
		assert_memory_equal(found.shards, row.shards, sizeof row.shards);
		assert_int_equal(found.clock, -120);
		assert_string_equal(found.zones, row.zones);
		assert_int_equal(found.is_leaving, row.is_leaving);
		assert_string_equal(holder, HOLDER);
		member_write(&found, holder, again);
		assert_string_equal(again, text);
	}
}

static void member_is_written_for_people(void **state)
{
	dw_member_row row = {.since = 5, .shards = {0x8001}, .room = 16, .version = "1.0"};
	char text[MEMBER_SIZE];

	(void)state;
	member_write(&row, HOLDER, text);
	assert_string_equal(text, "5 8001 16 0 1.0 - - " HOLDER);
	assert_int_equal(member_count(&row), 2);
	assert_true(member_has(&row, 15));
	assert_false(member_has(&row, 14));
}

static void member_that_is_none_is_refused(void **state)
{
	static const char *const texts[] = {"",
					    "x",
					    "5",
					    "5 ",
					    "5 8001",
					    "5 g 16 0 1.0 - - h",
					    "5 8001 x 0 1.0 - - h",
					    "5 8001 16 x 1.0 - - h",
					    "5 8001 16 0",
					    "5 8001 16 0 1.0",
					    "5 8001 16 0 1.0 -",
					    "5 8001 16 0 1.0 - -",
					    "5 10000000000000000000000000000000000000000000000000"
					    "000000000000000 16 0 1.0 - - h"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *holder = NULL;
		dw_member_row row;

		assert_false(member_read(texts[i], &row, &holder));
		assert_null(holder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(member_is_read_as_it_was_written),
	    cmocka_unit_test(member_is_written_for_people),
	    cmocka_unit_test(member_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
