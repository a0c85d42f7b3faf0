/* Stored bytes that somebody else has changed: never another deadline, never another timer. */
#include "support/cmocka.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "support/seed.h"
#include "support/sqlite_fixture.h"
#include "support/viewer.h"
#include "timer/record.h"

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

/* ---- Bytes of the files ---- */

enum { TIMERS = 12, HEADER = 100, CUTS = 60 };

/* fill stores timers 0, 1, ... with the due of their number, each in a commit of its own. */
static void fill(struct fixture *f)
{
	char id[12];

	for (int i = 0; i < TIMERS; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ask_put_one(&f->owner, id, i);
	}
}

/* flip_byte: of a file that nobody has open. */
static void flip_byte(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int byte;

	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	byte = fgetc(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	(void)fputc(byte ^ 0x10, file); /* fclose tells */
	assert_int_equal(fclose(file), 0);
}

static long size_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (long)status.st_size;
}

/* check_rows: what is said to be sound has its own deadline. */
static void check_rows(struct ask *ask)
{
	dw_op *scan = ask_done(ask, ask_scan(NULL, 10L * TIMERS, NULL));

	for (const dw_row *row = scan->rows; row; row = row->next)
		if (row->status == DW_OK)
			assert_int_equal(row->head.due, strtol(row->id, NULL, 10));
	ask_free(scan);
}

/* look_at opens a damaged file and looks through it; a refusal has its reason. */
static void look_at(struct fixture *f, const char *path)
{
	if (fixture_try(f, &f->other, DW_OWNER, path) != DW_OK) {
		assert_true(strlen(f->message) > strlen(path));
		return;
	}
	check_rows(&f->other);
	(void)ask_status(&f->other, ask_put("0", 0, 0)); /* whatever it answers */
	check_rows(&f->other);
	ask_end(&f->other);
}

static void look_at_damaged_byte(struct fixture *f, long at)
{
	char damaged[TEMP_SIZE];

	temp_copy(f->path, temp_file(damaged, f->folder, "damaged.db"));
	flip_byte(damaged, at);
	look_at(f, damaged);
}

static void damaged_byte_of_the_file_is_refused_or_harmless(void **state)
{
	struct fixture *f = *state;
	struct rng rng = seed_of_test();

	fixture_open(f, &f->owner, DW_OWNER);
	fill(f);
	ask_end(&f->owner);
	for (int i = 0; i < HEADER; i += (int)environment_step(10))
		look_at_damaged_byte(f, i);
	for (uint64_t i = environment_scaled(100); i > 0; i--)
		look_at_damaged_byte(f, (long)rng_below(&rng, (uint64_t)size_of(f->path)));
}

/* stored_of counts what is there, which must be a beginning of what was stored: commits are whole,
 * and none is there without the ones before it. */
static int stored_of(struct fixture *f, const char *path)
{
	char id[12];
	dw_head head;
	int count = 0;
	int found = 0;

	if (fixture_try(f, &f->other, DW_CLIENT, path) != DW_OK)
		return 0; /* not even its schema is left */
	for (int i = 0; i < TIMERS; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		if (ask_stored(&f->other, id, &head) != DW_OK)
			continue;
		assert_int_equal(head.due, i);
		found++;
		count = i + 1;
	}
	assert_int_equal(found, count);
	ask_put_one(&f->other, "one more", 1);
	ask_end(&f->other);
	return count;
}

/* damage_log: the file as a kill would leave it, with a log that is cut, or has a wrong byte. */
static int damage_log(struct fixture *f, long at, bool cut)
{
	char log[TEMP_SIZE];
	char copy[TEMP_SIZE];

	temp_copy(f->path, temp_file(copy, f->folder, "copy.db"));
	temp_copy(temp_file(log, f->folder, "orders.db-wal"),
		  temp_file(copy, f->folder, "copy.db-wal"));
	if (cut)
		assert_int_equal(truncate(copy, at), 0);
	else
		flip_byte(copy, at);
	return stored_of(f, temp_file(copy, f->folder, "copy.db"));
}

static void damaged_log_loses_its_end_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	char log[TEMP_SIZE];
	int most = 0;
	long size;

	fixture_open(f, &f->owner, DW_OWNER);
	fill(f);
	size = size_of(temp_file(log, f->folder, "orders.db-wal"));
	for (long i = 0; i < CUTS; i += (long)environment_step(10)) {
		int left = damage_log(f, size * i / CUTS, true);

		assert_true(left >= most); /* a longer one never holds less */
		most = left;
		(void)damage_log(f, size * i / CUTS, false);
	}
	assert_true(most > TIMERS / 2);
	assert_int_equal(damage_log(f, size, true), TIMERS);
	check_rows(&f->owner); /* and nobody has touched the one in use */
}

/* check: how many flaws; the first one's words and id must be these. */
static uint64_t check(struct fixture *f, const char *id, const char *words)
{
	dw_op *op = ask_done(&f->other, ask_plain(DW_OP_CHECK));
	uint64_t count = op->count;

	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, count < DW_FLAWS_MAX ? count : DW_FLAWS_MAX);
	if (count > 0) {
		assert_string_equal(op->rows->id, id);
		assert_non_null(strstr(op->rows->body, words));
	}
	ask_free(op);
	return count;
}

static void check_names_what_is_damaged(void **state)
{
	struct fixture *f = *state;

	(void)damage(f, "SELECT 1");
	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(check(f, "", ""), 0);
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		ask_end(&f->owner);
		(void)damage(f, damages[i]);
		assert_int_equal(check(f, "it", "does not match its checksum"), 1);
	}
}

static void check_names_the_limit_that_a_timer_breaks(void **state)
{
	struct fixture *f = *state;
	unsigned char body[RECORD_HEADER_SIZE + 256];
	char topic[200], sql[2 * sizeof body + 100];
	struct record record = {.id = "it", .id_size = 2, .topic = topic, .topic_size = 200};
	int at = snprintf(sql, sizeof sql, "UPDATE timer SET body = x'");

	memset(topic, 't', sizeof topic);
	record_encode(&record, body);
	for (size_t i = 0; i < record_size(&record); i++)
		at += snprintf(sql + at, sizeof sql - (size_t)at, "%02x", body[i]);
	(void)snprintf(sql + at, sizeof sql - (size_t)at, "' WHERE id = 'it'"); /* it fits */
	(void)damage(f, sql);
	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(
	    check(f, "it", "the timer has a topic of 200 bytes, at most 63 are allowed"), 1);
}

static void check_compares_counts_and_shows_a_hundred_flaws(void **state)
{
	struct fixture *f = *state;
	dw_op *op;
	char id[16];

	fixture_open(f, &f->owner, DW_OWNER);
	fixture_open(f, &f->other, DW_CLIENT);
	for (int i = 0; i < DW_FLAWS_MAX + 5; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ask_put_one(&f->owner, id, 1);
	}
	fixture_raw(f, "UPDATE meta SET pending = pending + 1");
	assert_int_equal(check(f, "", "105 pending timers are stored, the counter says 106"), 1);
	fixture_raw(f, "UPDATE timer SET attempt = 3");
	assert_int_equal(check(f, "0", "checksum"), DW_FLAWS_MAX + 5);
	op = ask_done(&f->owner, ask_plain(DW_OP_PURGE));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
	assert_int_equal(check(f, "", ""), 0);
}

/* A letter that was buried for its damage is no news. */
static void check_of_dead_letters_knows_the_corrupt_ones(void **state)
{
	struct fixture *f = *state;
	uint64_t generation = damage(f, "UPDATE timer SET due = 201 WHERE id = 'it'");
	dw_op *bury = ask_about(DW_OP_BURY, "it", generation, 0);

	bury->reason = DW_REASON_CORRUPT;
	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(ask_status(&f->owner, bury), DW_OK);
	assert_int_equal(check(f, "", ""), 0);
	fixture_raw(f, "UPDATE dead SET reason = 'LATE'");
	assert_int_equal(check(f, "it", "dead letter"), 1);
}

/* A flipped bit makes no UTF-8 of an id, and the letter can be dropped all the same. */
static void letter_with_an_id_of_any_bytes_is_dropped(void **state)
{
	struct fixture *f = *state;
	char url[TEMP_SIZE + 8];
	dw_options options = {.store = url};
	struct viewer viewer = {0};

	(void)damage(f, "UPDATE timer SET id = CAST(x'f4e96d' AS TEXT) WHERE id = 'it'");
	ask_end(&f->owner);
	(void)snprintf(url, sizeof url, "sqlite:%s", f->path);
	assert_int_equal(viewer_open(&viewer, &options), DW_OK);
	viewer_await(&viewer, &viewer.events[DW_EVENT_DEAD], 1);
	viewer_sync(&viewer, dw_dead_list(viewer.d, NULL, NULL, 8, viewer_letters, &viewer));
	assert_int_equal(viewer.count, 1);
	assert_int_equal(
	    viewer_answer(&viewer, dw_dead_drop(viewer.d, "\xf4\xe9m", 0, viewer_done, &viewer)),
	    DW_OK);
	viewer_sync(&viewer, dw_dead_list(viewer.d, NULL, NULL, 8, viewer_letters, &viewer));
	assert_int_equal(viewer.count, 0);
	viewer_close(&viewer);
}

/* The check is a transaction of its own, and the put beside it is done all the same. */
static void check_in_a_batch_with_writes_answers_all(void **state)
{
	struct fixture *f = *state;
	dw_op *put = ask_put("a", 1, 0);
	dw_op *look = ask_plain(DW_OP_CHECK);
	dw_op *last = ask_put("b", 1, 0);

	put->next = look;
	look->next = last;
	fixture_open(f, &f->owner, DW_OWNER);
	ask_send(&f->owner, put);
	(void)ask_await(&f->owner, last);
	assert_int_equal(put->status, DW_OK);
	assert_int_equal(look->status, DW_OK);
	assert_int_equal(look->count, 0);
	assert_int_equal(look->store_status->pending, 1);
	assert_int_equal(last->status, DW_OK);
	ask_free(put);
	ask_free(look);
	ask_free(last);
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
	    CASE(damaged_byte_of_the_file_is_refused_or_harmless),
	    CASE(damaged_log_loses_its_end_and_nothing_else),
	    CASE(letter_with_an_id_of_any_bytes_is_dropped),
	    CASE(check_names_what_is_damaged),
	    CASE(check_names_the_limit_that_a_timer_breaks),
	    CASE(check_compares_counts_and_shows_a_hundred_flaws),
	    CASE(check_of_dead_letters_knows_the_corrupt_ones),
	    CASE(check_in_a_batch_with_writes_answers_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
