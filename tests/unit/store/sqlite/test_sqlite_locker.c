/* A process that stops in its write transaction stops all firing. The event says who it is. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "durawheel/durawheel.h"
#include "store/sqlite/file/locker.h"
#include "support/cmocka.h"
#include "support/temp.h"

static char folder[TEMP_SIZE], path[TEMP_SIZE];

static int set_up(void **state)
{
	(void)state;
	temp_make(folder);
	(void)temp_file(path, folder, "db");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	temp_remove(folder);
	return 0;
}

/* A process that takes the lock when it is told to. It is forked before there are threads. */
struct locker {
	pid_t pid;
	int go, done;
};

static void lock_when_told(int go, int done)
{
	char byte;
	sqlite3 *db;

	if (read(go, &byte, 1) != 1 || sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_busy_timeout(db, 60000) != SQLITE_OK ||
	    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
	    write(done, "x", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

static struct locker begin_locker(void)
{
	int go[2], done[2];
	struct locker locker;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	locker = (struct locker){.pid = fork(), .go = go[1], .done = done[0]};
	assert_true(locker.pid >= 0);
	if (locker.pid == 0)
		lock_when_told(go[0], done[1]);
	(void)close(go[0]);
	(void)close(done[1]);
	return locker;
}

static void lock(const struct locker *locker)
{
	char byte;

	assert_int_equal(write(locker->go, "x", 1), 1);
	assert_int_equal(read(locker->done, &byte, 1), 1);
}

static void end_locker(const struct locker *locker)
{
	assert_int_equal(kill(locker->pid, SIGKILL), 0);
	assert_int_equal(waitpid(locker->pid, NULL, 0), locker->pid);
	(void)close(locker->go);
	(void)close(locker->done);
}

struct program {
	int slow, starts;
	char message[DW_MESSAGE_SIZE];
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct program *program = user;

	(void)d;
	if (event->kind != DW_EVENT_STORE_SLOW)
		return;
	program->slow++;
	(void)snprintf(program->message, sizeof program->message, "%s", event->message);
}

static dw_verdict started(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct program *)user)->starts++;
	return DW_DONE;
}

static void turn_until(dw *d, const int *counter)
{
	while (*counter == 0) {
		struct pollfd ready = {dw_fd(d), POLLIN, 0};

		(void)poll(&ready, 1, 20);
		assert_int_equal(dw_turn(d), DW_OK);
	}
}

static void process_that_holds_the_lock_is_named(void **state)
{
	struct program program = {.slow = 0};
	char url[TEMP_SIZE + 8], words[64];
	dw_options options = {
	    .size = sizeof options, .store = url, .on_event = happened, .on_event_user = &program};
	struct locker locker = begin_locker();
	dw *d;

	(void)state;
	(void)snprintf(url, sizeof url, "sqlite:%s", path);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", started, &program), DW_OK);
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
	lock(&locker);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	turn_until(d, &program.slow);
	(void)snprintf(words, sizeof words, "is locked by process %d (", (int)locker.pid);
	if (!strstr(program.message, words))
		fail_msg("%s", program.message);
	assert_int_equal(program.starts, 0);
	end_locker(&locker);
	turn_until(d, &program.starts);
	assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
}

static void nobody_is_named_without_a_lock(void **state)
{
	char words[DW_MESSAGE_SIZE] = "x";
	sqlite3 *db;

	(void)state;
	locker_words(path, words, sizeof words); /* there is no such file */
	assert_string_equal(words, "");
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE t(x);", NULL, NULL, NULL),
	    SQLITE_OK);
	locker_words(path, words, sizeof words);
	assert_string_equal(words, "");
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	locker_words(path, words, sizeof words); /* this process */
	assert_string_equal(words, "");
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(process_that_holds_the_lock_is_named, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(nobody_is_named_without_a_lock, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
