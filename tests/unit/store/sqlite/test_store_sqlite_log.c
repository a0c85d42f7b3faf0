/* The write-ahead log of the SQLite store: synced before an answer, and copied into the file in the
 * background, so that it stays short. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "support/environment.h"
#include "support/faulty.h"
#include "support/sqlite_fixture.h"

enum {
	PAGE = 4096 + 24,        /* in the log */
	LOG_ASKED = 2200 * PAGE, /* from 2,000 pages on it is copied */
	LOG_GROWN = 60 << 20,
	LOG_MOST = 12000 * PAGE, /* from 8,000 pages on the writer copies, too */
	TIMERS = 20000,
	BATCH = 100,
};

static long long log_size(const struct fixture *f)
{
	char path[TEMP_SIZE];
	struct stat status;

	return stat(temp_file(path, f->folder, "orders.db-wal"), &status) == 0 ? status.st_size : 0;
}

/* put_batch: timers whose ids and deadlines are spread over all pages of the indexes. */
static void put_batch(struct fixture *f, unsigned first)
{
	struct op_queue queue = {0};
	dw_op *ops[BATCH];
	char id[16];

	for (unsigned i = 0; i < BATCH; i++) {
		unsigned mixed = (first + i) * 2654435761u;

		(void)snprintf(id, sizeof id, "%08x", mixed);
		ops[i] = ask_put(id, DW_HOURS(1) + mixed, 0);
		op_queue_push(&queue, ops[i]);
	}
	ask_send(&f->owner, op_queue_take(&queue));
	for (unsigned i = 0; i < BATCH; i++) {
		assert_int_equal(ask_await(&f->owner, ops[i])->status, DW_OK);
		ask_free(ops[i]);
	}
}

static void commit_is_synced_before_its_answer(void **state)
{
	struct fixture *f = *state;
	char id[16];

	fixture_open(f, &f->owner, DW_OWNER);
	for (unsigned i = 0; i < 10; i++) {
		faulty_watch();
		(void)snprintf(id, sizeof id, "%u", i);
		ask_put_one(&f->owner, id, DW_HOURS(1));
		assert_true(faulty_log_writes() > 0);
		assert_true(faulty_log_is_synced());
	}
}

/* The writer's claims do not wait for a copy. */
static void log_is_copied_by_another_thread(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "first", DW_HOURS(1));
	faulty_watch();
	for (unsigned i = 0; i < TIMERS && log_size(f) < LOG_ASKED; i += BATCH)
		put_batch(f, i);
	assert_int_equal(faulty_await_copier(), FAULTY_ANOTHER);
}

static void log_of_many_timers_stays_short(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	for (unsigned i = 0; i < environment_scaled(TIMERS); i += BATCH)
		put_batch(f, i);
	assert_in_range(log_size(f), 1, LOG_MOST);
}

/* Another program reads for long, so the log grows. Afterwards its file is given back, though
 * nothing is written any more. */
static void log_that_was_read_for_long_is_given_back(void **state)
{
	enum { MANY = 300 };
	struct fixture *f = *state;
	char path[TEMP_SIZE];
	sqlite3 *reader;
	dw_op *inbox;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "first", DW_HOURS(1));
	assert_int_equal(sqlite3_open(temp_file(path, f->folder, "orders.db"), &reader), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM timer", NULL, NULL, NULL), SQLITE_OK);
	for (unsigned i = 0; i < MANY * BATCH && log_size(f) < LOG_GROWN; i += BATCH)
		put_batch(f, i);
	assert_true(log_size(f) >= LOG_GROWN);
	assert_int_equal(sqlite3_close(reader), SQLITE_OK);
	inbox = ask_plain(DW_OP_INBOX); /* as an engine, which makes the store look each second */
	ask_send(&f->owner, inbox);
	for (int i = 0; i < 600 && log_size(f) >= LOG_GROWN; i++)
		(void)poll(NULL, 0, 100);
	assert_in_range(log_size(f), 0, PAGE);
	ask_end(&f->owner);
	ask_free(inbox);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(commit_is_synced_before_its_answer),
	    CASE(log_is_copied_by_another_thread),
	    CASE(log_of_many_timers_stays_short),
	    CASE(log_that_was_read_for_long_is_given_back),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
