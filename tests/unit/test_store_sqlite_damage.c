/* Stored bytes that somebody else has changed: never another deadline, never another timer. */
#include "support/cmocka.h"

#include <sqlite3.h>

#include "support/sqlite_fixture.h"

/* damage changes a stored timer among two sound ones, behind the store's back. */
static uint64_t damage(struct fixture *f, const char *sql)
{
	uint64_t generation;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "before", 100);
	generation = ask_put_one(&f->owner, "it", 200);
	ask_put_one(&f->owner, "behind", 300);
	fixture_raw(f, sql);
	return generation;
}

static const char *const damages[] = {
    "UPDATE timer SET due = due + 1 WHERE id = 'it'",
    "UPDATE timer SET attempt = 7 WHERE id = 'it'",
    "UPDATE timer SET attempt = 4294967296 WHERE id = 'it'",
    "UPDATE timer SET retries = 1 WHERE id = 'it'",
    "UPDATE timer SET crashes = 1 WHERE id = 'it'",
    "UPDATE timer SET state = 1 WHERE id = 'it'",
    "UPDATE timer SET state = 2 WHERE id = 'it'",
    "UPDATE timer SET state = state + 256 WHERE id = 'it'",
    "UPDATE timer SET open = open + 256 WHERE id = 'it'",
    "UPDATE timer SET open = 1 - open WHERE id = 'it'",
    "UPDATE timer SET claim = 1 WHERE id = 'it'",
    "UPDATE timer SET seal = seal + 1 WHERE id = 'it'",
    "UPDATE timer SET seal = seal + 4294967296 WHERE id = 'it'",
    "UPDATE timer SET topic = 'topia' WHERE id = 'it'",
    "UPDATE timer SET body = (SELECT body FROM timer WHERE id = 'before') WHERE id = 'it'",
    "UPDATE timer SET body = x'' WHERE id = 'it'",
    "UPDATE timer SET body = zeroblob(100000) WHERE id = 'it'",
};

static void damaged_timer_is_corrupt_and_alone(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		uint64_t generation = damage(f, damages[i]);
		dw_op *scan;
		dw_head head;

		assert_int_equal(ask_stored(&f->owner, "it", &head), DW_ECORRUPT);
		assert_int_equal(ask_status(&f->owner, ask_about(DW_OP_CLAIM, "it", generation, 0)),
				 DW_ECORRUPT);
		scan = ask_done(&f->owner, ask_scan(NULL, 10, NULL));
		assert_int_equal(scan->row_count, 3);
		assert_int_equal(scan->rows->status, DW_OK);
		assert_int_equal(scan->rows->next->status, DW_ECORRUPT);
		assert_int_equal(scan->rows->next->next->status, DW_OK);
		ask_free(scan);
		assert_int_equal(ask_status(&f->owner, ask_cancel("it", 0)), DW_OK);
		assert_int_equal(ask_stored(&f->owner, "it", &head), DW_ENOENT);
		ask_end(&f->owner);
	}
}

/* flip changes one byte of a stored body; again, and it is as before. */
static void flip(sqlite3 *handle, int64_t generation, int at)
{
	sqlite3_blob *blob = NULL;
	unsigned char byte;

	assert_int_equal(sqlite3_blob_open(handle, "main", "timer", "body", generation, 1, &blob),
			 SQLITE_OK);
	assert_int_equal(sqlite3_blob_read(blob, &byte, 1, at), SQLITE_OK);
	byte ^= 0x10;
	assert_int_equal(sqlite3_blob_write(blob, &byte, 1, at), SQLITE_OK);
	assert_int_equal(sqlite3_blob_close(blob), SQLITE_OK);
}

static void damaged_byte_of_the_body_is_corrupt(void **state)
{
	struct fixture *f = *state;
	sqlite3 *handle = NULL;
	uint64_t generation;
	dw_head head;
	dw_op *get;

	fixture_open(f, &f->owner, DW_OWNER);
	generation = ask_put_one(&f->owner, "it", 1);
	get = ask_done(&f->owner, ask_get("it"));
	assert_int_equal(sqlite3_open(f->path, &handle), SQLITE_OK);
	for (int at = 0; at < (int)get->rows->body_size; at++) {
		flip(handle, (int64_t)generation, at);
		assert_int_equal(ask_stored(&f->owner, "it", &head), DW_ECORRUPT);
		flip(handle, (int64_t)generation, at);
		assert_int_equal(ask_stored(&f->owner, "it", &head), DW_OK);
	}
	ask_free(get);
	sqlite3_close(handle);
}

static void damaged_id_is_corrupt(void **state)
{
	struct fixture *f = *state;
	dw_head head;

	damage(f, "UPDATE timer SET id = 'ti' WHERE id = 'it'");
	assert_int_equal(ask_stored(&f->owner, "ti", &head), DW_ECORRUPT);
	assert_int_equal(ask_stored(&f->owner, "it", &head), DW_ENOENT);
}

static void damaged_timer_is_replaced_or_buried(void **state)
{
	struct fixture *f = *state;
	uint64_t generation = damage(f, "UPDATE timer SET due = 201 WHERE id = 'it'");
	dw_head head;

	assert_int_equal(ask_status(&f->owner, ask_put("it", 5, DW_OP_NEW)), DW_EEXIST);
	assert_int_equal(ask_head(&f->owner, ask_put("it", 5, 0), &head), DW_OK);
	assert_int_equal(head.open, 1); /* it may have been claimed */
	assert_int_equal(ask_stored(&f->owner, "it", &head), DW_OK);
	fixture_raw(f, "UPDATE timer SET due = 201 WHERE id = 'it'");
	assert_int_equal(ask_status(&f->owner, ask_about(DW_OP_BURY, "it", generation, 0)),
			 DW_ECORRUPT);
	assert_int_equal(ask_status(&f->owner, ask_about(DW_OP_BURY, "it", head.generation, 0)),
			 DW_OK);
	assert_int_equal(ask_stored(&f->owner, "it", &head), DW_ENOENT);
}

/* client_cancels: what a client's cancel of the damaged timer answers; it is gone in any case, and
 * the owner is told. */
static int client_cancels(struct fixture *f, const char *sql)
{
	int status;
	dw_head head;
	dw_op *inbox;

	damage(f, sql);
	fixture_open(f, &f->other, DW_CLIENT);
	status = ask_status(&f->other, ask_cancel("it", 0));
	assert_int_equal(ask_stored(&f->other, "it", &head), DW_ENOENT);
	inbox = ask_done(&f->owner, ask_plain(DW_OP_INBOX));
	assert_int_equal(inbox->row_count, 1);
	assert_int_equal(inbox->rows->gone, 1);
	ask_free(inbox);
	ask_end(&f->other);
	ask_end(&f->owner);
	return status;
}

static void damaged_timer_is_cancelled_by_a_client(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(client_cancels(f, "UPDATE timer SET due = 201 WHERE id = 'it'"), DW_OK);
	/* It may have been claimed, and then it may still start. */
	assert_int_equal(client_cancels(f, "UPDATE timer SET state = 1 WHERE id = 'it'"), DW_ELATE);
	assert_int_equal(client_cancels(f, "UPDATE timer SET claim = 9 WHERE id = 'it'"), DW_ELATE);
	assert_int_equal(client_cancels(f, "UPDATE timer SET open = 1 WHERE id = 'it'"), DW_ELATE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(damaged_timer_is_corrupt_and_alone),
	    CASE(damaged_byte_of_the_body_is_corrupt),
	    CASE(damaged_id_is_corrupt),
	    CASE(damaged_timer_is_replaced_or_buried),
	    CASE(damaged_timer_is_cancelled_by_a_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
