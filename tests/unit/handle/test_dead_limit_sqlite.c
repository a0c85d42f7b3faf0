/* Dead letters in a file: so many are kept, and for so long. */
#include "support/cmocka.h"

#include <sqlite3.h>
#include <string.h>

#include "support/sqlite_fixture.h"

static int64_t number_of(const struct fixture *f, const char *query)
{
	sqlite3 *handle = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t number;

	assert_int_equal(sqlite3_open(f->path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(handle, query, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return number;
}

/* bury_one: how many dead letters are dropped for it. */
static uint64_t bury_one(struct fixture *f)
{
	uint64_t generation = ask_put_one(&f->owner, "last", 1);
	dw_op *op = ask_done(&f->owner, ask_about(DW_OP_BURY, "last", generation, 0));
	uint64_t count = op->count;

	assert_int_equal(op->status, DW_OK);
	ask_free(op);
	return count;
}

static void dead_letters_are_kept_up_to_a_number(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	fixture_raw(
	    f, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
	       " INSERT INTO dead SELECT i, '', 1000000, i, '', '', 0, 0, 0, 0, 0, 0, 0, 0, x'',"
	       " NULL FROM n");
	fixture_open(f, &f->owner, DW_OWNER);
	assert_int_equal(bury_one(f), 1);
	assert_int_equal(number_of(f, "SELECT count(*) FROM dead"), 100000);
	assert_int_equal(number_of(f, "SELECT min(number) FROM dead"), 2);
	assert_int_equal(number_of(f, "SELECT count(*) FROM dead WHERE id = 'last'"), 1);
}

static void dead_letters_are_kept_for_thirty_days(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	assert_int_equal(bury_one(f), 0);
	f->now += DW_DAYS(30);
	assert_int_equal(bury_one(f), 0);
	assert_int_equal(number_of(f, "SELECT count(*) FROM dead"), 2);
	f->now += 1;
	assert_int_equal(bury_one(f), 1);
	assert_int_equal(number_of(f, "SELECT count(*) FROM dead"), 2);
	assert_int_equal(number_of(f, "SELECT min(number) FROM dead"), 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(dead_letters_are_kept_up_to_a_number),
	    CASE(dead_letters_are_kept_for_thirty_days),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
