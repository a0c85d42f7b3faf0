/* Files of the store that are taken away while it is open: nothing is confirmed that nobody could
 * find again, and what is brought back is used again. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "support/faulty.h"
#include "support/sqlite_fixture.h"

static char *beside(const struct fixture *f, const char *ending, char path[TEMP_SIZE])
{
	int size = snprintf(path, TEMP_SIZE, "%s%s", f->path, ending);

	assert_true(size > 0 && size < TEMP_SIZE);
	return path;
}

static void take_away(const struct fixture *f)
{
	char path[TEMP_SIZE];

	assert_int_equal(rename(f->path, beside(f, ".away", path)), 0);
}

static void bring_back(const struct fixture *f)
{
	char path[TEMP_SIZE];

	assert_int_equal(rename(beside(f, ".away", path), f->path), 0);
}

static void delete_beside(const struct fixture *f, const char *ending)
{
	char path[TEMP_SIZE];

	assert_int_equal(unlink(beside(f, ending, path)), 0);
}

/* logs: the last line must say the words. */
static void logs(const struct fixture *f, const char *words)
{
	if (!strstr(f->owner.logged, words))
		fail_msg("\"%s\" says nothing of \"%s\"", f->owner.logged, words);
}

static int set_up(void **state)
{
	struct fixture *f;

	(void)fixture_set_up(state);
	f = *state;
	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 100);
	return 0;
}

/* ---- The database ---- */

static void file_deleted_while_open_confirms_nothing(void **state)
{
	struct fixture *f = *state;
	dw_head head;

	delete_beside(f, "");
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EGONE);
	logs(f, "orders.db was deleted or moved away while it was open");
	assert_int_equal(ask_status(&f->owner, ask_cancel("a", 0)), DW_EGONE);
	assert_int_equal(ask_stored(&f->owner, "a", &head), DW_EGONE);
	assert_int_equal(access(f->path, F_OK), -1); /* not made again either */
}

static void file_deleted_during_a_commit_is_not_confirmed(void **state)
{
	struct fixture *f = *state;
	dw_op *op = ask_put("b", 1, 0);

	faulty_block();
	ask_send(&f->owner, op);
	faulty_await_blocked();
	delete_beside(f, "");
	faulty_unblock();
	assert_int_equal(ask_await(&f->owner, op)->status, DW_EUNKNOWN);
	ask_free(op);
}

static void file_moved_away_and_back_is_used_again(void **state)
{
	struct fixture *f = *state;
	dw_head head;

	take_away(f);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EGONE);
	bring_back(f);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_OK);
	logs(f, "orders.db is back");
	assert_int_equal(ask_stored(&f->owner, "a", &head), DW_OK);
	assert_int_equal(head.due, 100);
}

static void news_while(struct fixture *f, void (*change)(const struct fixture *), int status)
{
	dw_op *inbox = ask_plain(DW_OP_INBOX);

	ask_send(&f->owner, inbox);
	change(f);
	assert_int_equal(ask_await(&f->owner, inbox)->status, status);
	ask_free(inbox);
}

/* Nobody asks an idle owner's store anything but for news. Again, because the store looks more than
 * once, and the change may come between two looks. */
static void file_moved_away_is_noticed_by_an_idle_owner(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20; i++) {
		news_while(f, take_away, DW_EGONE);
		news_while(f, bring_back, DW_OK);
	}
}

/* The other one's log and memory bear the names that ours had. */
static void file_replaced_is_left_to_those_who_use_it(void **state)
{
	struct fixture *f = *state;
	dw_head head;

	take_away(f);
	delete_beside(f, "-wal"); /* with it no new file is made */
	fixture_open(f, &f->other, DW_CLIENT);
	ask_put_one(&f->other, "theirs", 7);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EGONE);
	logs(f, "orders.db was replaced by another file while it was open");
	ask_end(&f->owner);
	ask_put_one(&f->other, "theirs, too", 8);
	ask_end(&f->other);
	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(ask_stored(&f->other, "theirs", &head), DW_OK);
	assert_int_equal(ask_stored(&f->other, "theirs, too", &head), DW_OK);
	assert_int_equal(ask_stored(&f->other, "a", &head), DW_ENOENT);
}

static void file_that_lost_what_was_stored_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_raw(f, "UPDATE meta SET batch = batch - 1");
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EGONE);
	logs(f, "orders.db has lost stored timers");
	fixture_raw(f, "UPDATE meta SET batch = batch + 1");
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_OK);
}

/* ---- What stands beside it ---- */

static void check_both_stored(struct fixture *f)
{
	dw_head head;

	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(ask_stored(&f->other, "a", &head), DW_OK);
	assert_int_equal(ask_stored(&f->other, "b", &head), DW_OK);
	assert_int_equal(ask_status(&f->other, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(ask_stored(&f->owner, "a", &head), DW_ENOENT);
}

static void log_deleted_while_open_loses_nothing(void **state)
{
	struct fixture *f = *state;

	delete_beside(f, "-wal");
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_OK);
	logs(f, "orders.db-wal was deleted while it was open");
	check_both_stored(f);
}

static void memory_deleted_while_open_loses_nothing(void **state)
{
	struct fixture *f = *state;

	delete_beside(f, "-shm");
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_OK);
	logs(f, "orders.db-shm was deleted while it was open");
	check_both_stored(f);
}

static void log_deleted_during_a_commit_loses_nothing(void **state)
{
	struct fixture *f = *state;
	dw_op *op = ask_put("b", 1, 0);

	faulty_block();
	ask_send(&f->owner, op);
	faulty_await_blocked();
	delete_beside(f, "-wal");
	faulty_unblock();
	assert_int_equal(ask_await(&f->owner, op)->status, DW_OK);
	ask_free(op);
	check_both_stored(f);
}

static void log_of_another_is_not_used(void **state)
{
	struct fixture *f = *state;
	char path[TEMP_SIZE];
	FILE *file;

	delete_beside(f, "-wal");
	file = fopen(beside(f, "-wal", path), "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EGONE);
	logs(f, "orders.db-wal was replaced by another file");
}

/* Whoever makes the lock file again owns the database, too. */
static void lock_file_deleted_while_open_ends_the_ownership(void **state)
{
	struct fixture *f = *state;

	delete_beside(f, "-owner");
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EGONE);
	logs(f, "orders.db-owner was deleted or moved away");
	ask_end(&f->owner);
	fixture_open(f, &f->owner, DW_OWNER);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_OK);
}

/* ---- As a program sees it ---- */

struct seen {
	int failed;
	int back;
};

static void note_event(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	if (event->kind == DW_EVENT_STORE_FAILED) {
		seen->failed++;
		/* DW_EUNKNOWN when a commit was under way at that moment. */
		assert_true(event->status == DW_EGONE || event->status == DW_EUNKNOWN);
		if (!strstr(event->message, dw_strerror(event->status)))
			fail_msg("\"%s\" does not say why", event->message);
	}
	seen->back += event->kind == DW_EVENT_STORE_BACK;
}

static void turn_until(dw *d, const int *count)
{
	struct pollfd ready = {.fd = dw_fd(d), .events = POLLIN};

	while (*count == 0) {
		assert_int_equal(poll(&ready, 1, 60000), 1);
		assert_int_equal(dw_turn(d), DW_OK);
	}
}

static void program_is_told_once_that_the_file_is_gone_and_back(void **state)
{
	struct fixture *f = *state;
	struct seen seen = {0};
	char url[TEMP_SIZE + 8];
	dw_options options = {
	    .size = sizeof options, .store = url, .on_event = note_event, .on_event_user = &seen};
	dw *d;

	ask_end(&f->owner);
	(void)snprintf(url, sizeof url, "sqlite:%s", f->path); /* it fits */
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
	take_away(f);
	turn_until(d, &seen.failed);
	assert_int_equal(dw_after(d, "t", "b", DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_EGONE);
	bring_back(f);
	turn_until(d, &seen.back);
	assert_int_equal(seen.failed, 1);
	assert_int_equal(dw_after(d, "t", "b", DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(file_deleted_while_open_confirms_nothing),
	    CASE(file_deleted_during_a_commit_is_not_confirmed),
	    CASE(file_moved_away_and_back_is_used_again),
	    CASE(file_moved_away_is_noticed_by_an_idle_owner),
	    CASE(file_replaced_is_left_to_those_who_use_it),
	    CASE(file_that_lost_what_was_stored_is_refused),
	    CASE(log_deleted_while_open_loses_nothing),
	    CASE(memory_deleted_while_open_loses_nothing),
	    CASE(log_deleted_during_a_commit_loses_nothing),
	    CASE(log_of_another_is_not_used),
	    CASE(lock_file_deleted_while_open_ends_the_ownership),
	    CASE(program_is_told_once_that_the_file_is_gone_and_back),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
