/* Indexes that do not match their table, and counters that do not: the table decides. */
#include "support/cmocka.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sqlite_fixture.h"

static int root_of(sqlite3 *handle, const char *index)
{
	sqlite3_stmt *statement = NULL;
	int root;

	assert_int_equal(sqlite3_prepare_v2(handle,
					    "SELECT rootpage FROM sqlite_schema WHERE name = ?", -1,
					    &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_bind_text(statement, 1, index, -1, SQLITE_STATIC), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	root = sqlite3_column_int(statement, 0);
	(void)sqlite3_finalize(statement); /* it had its row */
	return root;
}

/* change_index changes the entries of an index alone, as a table of these columns. */
static void change_index(const struct fixture *f, const char *index, const char *columns,
			 const char *sql)
{
	char table[128];
	sqlite3 *handle = NULL;
	int root;

	assert_int_equal(sqlite3_open(f->path, &handle), SQLITE_OK);
	root = root_of(handle, index);
	(void)snprintf(table, sizeof table, "CREATE TABLE entry(%s, PRIMARY KEY(%s)) WITHOUT ROWID",
		       columns, columns);
	assert_int_equal(sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, handle, "main", 1, root),
			 SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, table, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, handle, "main", 0, 0),
			 SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(handle), 1);
	assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static void change_due(const struct fixture *f, const char *sql)
{
	change_index(f, "timer_due", "due, generation, place", sql);
}

static void change_id(const struct fixture *f, const char *sql)
{
	change_index(f, "sqlite_autoindex_timer_1", "id, place", sql);
}

/* fill leaves three timers in a file that nobody has open. */
static void fill(struct fixture *f)
{
	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "order-a", 100);
	ask_put_one(&f->owner, "order-b", 200);
	ask_put_one(&f->owner, "order-c", 300);
	ask_end(&f->owner);
}

/* expect_list: a scan shows all three in their order. */
static void expect_list(struct ask *ask)
{
	static const char *const ids[] = {"order-a", "order-b", "order-c"};
	dw_op *scan = ask_done(ask, ask_scan(NULL, 10, NULL));
	const dw_row *row = scan->rows;

	assert_int_equal(scan->row_count, 3);
	for (int i = 0; i < 3; i++, row = row->next) {
		dw_head head;

		assert_string_equal(row->id, ids[i]);
		assert_int_equal(row->status, DW_OK);
		assert_int_equal(row->head.due, 100 * (i + 1));
		assert_int_equal(ask_stored(ask, ids[i], &head), DW_OK);
	}
	ask_free(scan);
}

/* expect_sound: the owner shows all three, and no flaw is left. */
static void expect_sound(struct fixture *f)
{
	dw_op *check;

	expect_list(&f->owner);
	check = ask_done(&f->owner, ask_plain(DW_OP_CHECK));
	assert_int_equal(check->count, 0);
	ask_free(check);
}

static const char *const of_due[] = {
    "DELETE FROM entry WHERE due = 200",
    "UPDATE entry SET due = 9000 WHERE due = 200",
    "UPDATE entry SET place = place + 1000000 WHERE due = 200",
    "UPDATE entry SET place = (SELECT max(place) FROM entry) WHERE due = 200",
    "INSERT INTO entry VALUES(50, 1, 1)",
};

static const char *const of_id[] = {
    "DELETE FROM entry WHERE id = 'order-b'",
    "UPDATE entry SET id = 'order-z' WHERE id = 'order-b'",
    "UPDATE entry SET place = place + 1 WHERE id = 'order-b'",
    "INSERT INTO entry VALUES('order-bb', 7)",
};

static void index_that_does_not_match_is_rebuilt_by_an_owner(void **state)
{
	struct fixture *f = *state;
	size_t dues = sizeof of_due / sizeof *of_due;
	size_t all = dues + sizeof of_id / sizeof *of_id;

	fill(f);
	for (size_t i = 0; i < all; i++) {
		dw_op *first;

		if (i < dues)
			change_due(f, of_due[i]);
		else
			change_id(f, of_id[i - dues]);
		fixture_open(f, &f->owner, DW_OWNER);
		assert_non_null(strstr(f->owner.logged, "rebuilt"));
		first = ask_done(&f->owner, ask_get("order-a"));
		assert_true(first->flags & DW_OP_MENDED);
		ask_free(first);
		first = ask_done(&f->owner, ask_get("order-a"));
		assert_false(first->flags & DW_OP_MENDED); /* told once */
		ask_free(first);
		expect_sound(f);
		ask_end(&f->owner);
	}
}

static void index_that_breaks_under_an_owner_is_rebuilt(void **state)
{
	struct fixture *f = *state;
	uint64_t generation;
	dw_op *bury;
	dw_head head;

	fill(f);
	fixture_open(f, &f->owner, DW_OWNER);
	assert_string_equal(f->owner.logged, "");
	generation = ask_put_one(&f->owner, "last", 400);
	change_due(f, "DELETE FROM entry WHERE due = 400");
	bury = ask_done(&f->owner, ask_cancel("last", 0));
	assert_int_equal(bury->status, DW_OK);
	assert_true(bury->flags & DW_OP_MENDED);
	ask_free(bury);
	assert_true(generation > 0);
	assert_int_equal(ask_stored(&f->owner, "last", &head), DW_ENOENT);
	expect_sound(f);
}

/* A client rebuilds nothing: the owner does when it opens. */
static void client_passes_over_an_entry_without_a_timer(void **state)
{
	struct fixture *f = *state;
	dw_op *scan;

	fill(f);
	change_due(f, "UPDATE entry SET place = 5 WHERE due = 200"); /* no timer has it */
	fixture_open(f, &f->other, DW_CLIENT);
	scan = ask_done(&f->other, ask_scan(NULL, 10, NULL));
	assert_int_equal(scan->status, DW_OK);
	assert_int_equal(scan->row_count, 2);
	ask_free(scan);
}

/* patch_id changes the id that stands in the table, which is the first one with the topic behind
 * it. */
static void patch_id(const struct fixture *f, const char *from, const char *to)
{
	char bytes[256 * 1024];
	FILE *file = fopen(f->path, "r+b");
	char *at;
	size_t size;

	assert_non_null(file);
	size = fread(bytes, 1, sizeof bytes, file);
	at = memmem(bytes, size, from, strlen(from));
	assert_non_null(at);
	assert_int_equal(fseek(file, at - bytes, SEEK_SET), 0);
	assert_int_equal(fwrite(to, 1, strlen(to), file), strlen(to));
	assert_int_equal(fclose(file), 0);
}

static void damaged_timer_with_anothers_id_gets_a_new_one(void **state)
{
	struct fixture *f = *state;
	dw_head head;
	dw_op *scan;
	char id[DW_ID_MAX + 1];
	uint64_t generation;

	fill(f);
	patch_id(f, "order-btopic", "order-ctopic");
	fixture_open(f, &f->owner, DW_OWNER);
	assert_int_equal(ask_stored(&f->owner, "order-c", &head), DW_OK);
	assert_int_equal(head.due, 300);
	scan = ask_done(&f->owner, ask_scan(NULL, 10, NULL));
	assert_int_equal(scan->row_count, 3);
	assert_int_equal(scan->rows->next->status, DW_ECORRUPT);
	(void)snprintf(id, sizeof id, "%s", scan->rows->next->id);
	generation = scan->rows->next->head.generation;
	ask_free(scan);
	assert_non_null(strstr(id, "damaged-"));
	assert_int_equal(ask_status(&f->owner, ask_about(DW_OP_BURY, id, generation, 0)), DW_OK);
	assert_int_equal(ask_stored(&f->owner, "order-a", &head), DW_OK);
	assert_int_equal(ask_stored(&f->owner, "order-c", &head), DW_OK);
}

static void new_owner_counts_afresh(void **state)
{
	static const char *const wrong[] = {
	    "UPDATE meta SET pending = 77",
	    "UPDATE meta SET claimed = 1, pending = 2",
	    "UPDATE meta SET dead = 5",
	};
	struct fixture *f = *state;

	fill(f);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		fixture_raw(f, wrong[i]);
		fixture_open(f, &f->owner, DW_OWNER);
		expect_sound(f); /* a check compares them */
		ask_end(&f->owner);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(index_that_does_not_match_is_rebuilt_by_an_owner),
	    CASE(index_that_breaks_under_an_owner_is_rebuilt),
	    CASE(client_passes_over_an_entry_without_a_timer),
	    CASE(damaged_timer_with_anothers_id_gets_a_new_one),
	    CASE(new_owner_counts_afresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
