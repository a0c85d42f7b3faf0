/* What only a file can show: its owner, a kill, other processes, locks. The program starts
 * itself again for the other process, because SQLite does not survive a fork. */
#include "support/cmocka.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"
#include "support/environment.h"
#include "support/sqlite_fixture.h"

enum { EXIT_OWNED = 40 };

static const char *program; /* how this one was called */

/* ---- Another process ---- */

/* start runs this program again with arguments; its stdout is *ret_output. */
static pid_t start(const char *what, const char *path, int *ret_output)
{
	int ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, what, path, (char *)NULL);
		_exit(127);
	}
	assert_true(child > 0);
	close(ends[1]);
	*ret_output = ends[0];
	return child;
}

/* run: its exit status, and its first line in f->message. */
static int run(struct fixture *f, const char *what, const char *path)
{
	int output;
	pid_t child = start(what, path, &output);
	size_t size = 0;
	ssize_t got;
	int status;

	while ((got = read(output, f->message + size, sizeof f->message - 1 - size)) > 0)
		size += (size_t)got;
	f->message[size] = '\0';
	close(output);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int child_main(const char *what, const char *path)
{
	static dw_usec now = FIXTURE_START;
	char message[DW_MESSAGE_SIZE] = "";
	bool client = strcmp(what, "client") == 0;
	struct ask ask;
	char id[16];
	int status;

	ask_init(&ask, client ? DW_CLIENT : DW_OWNER, 77, &now);
	status = sqlite_store_open(&ask.store, path, &ask.env, message);
	if (status != DW_OK) {
		printf("%s\n", message);
		return status == DW_EOWNED ? EXIT_OWNED : 1;
	}
	if (client)
		ask_put_one(&ask, "from the other process", 9);
	/* Until it is killed; a line is a promise. */
	for (int i = 0; strcmp(what, "load") == 0; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ask_put_one(&ask, id, i);
		(void)snprintf(id, sizeof id, "%7d\n", i);
		if (write(STDOUT_FILENO, id, 8) != 8)
			return 1;
	}
	ask_end(&ask);
	return 0;
}

/* ---- Owner ---- */

static void owner_in_this_process_refuses_a_second_one(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	assert_int_equal(fixture_try(f, &f->other, DW_OWNER, f->path), DW_EOWNED);
	fixture_words(f, "orders.db is owned by this process itself since 1970-01-01T00:00:01Z");
	/* and that attempt did not drop the lock */
	assert_int_equal(run(f, "own", f->path), EXIT_OWNED);
	ask_put_one(&f->owner, "a", 1);
	ask_end(&f->owner);
	fixture_open(f, &f->other, DW_OWNER);
}

static void owner_refuses_another_process_in_words(void **state)
{
	struct fixture *f = *state;
	char pid[32];

	(void)snprintf(pid, sizeof pid, "pid %ld,", (long)getpid());
	fixture_open(f, &f->owner, DW_OWNER);
	assert_int_equal(run(f, "own", f->path), EXIT_OWNED);
	fixture_words(f, "orders.db is owned by ");
	fixture_words(f, pid);
	fixture_words(f, "stop it, or open with role DW_CLIENT");
	ask_end(&f->owner);
	assert_int_equal(run(f, "own", f->path), 0);
}

static void owner_by_a_symbolic_link_is_the_same(void **state)
{
	struct fixture *f = *state;
	char link[TEMP_SIZE];

	fixture_open(f, &f->owner, DW_OWNER);
	temp_file(link, f->folder, "link.db");
	assert_int_equal(symlink(f->path, link), 0);
	assert_int_equal(run(f, "own", link), EXIT_OWNED);
	assert_int_equal(fixture_try(f, &f->other, DW_OWNER, link), DW_EOWNED);
}

static void owner_that_was_killed_leaves_what_it_confirmed(void **state)
{
	enum { LINES = 300 };
	struct fixture *f = *state;
	int output;
	pid_t child = start("load", f->path, &output);
	char line[9] = "";
	unsigned confirmed = 0;
	dw_head head;
	int status;

	while (read(output, line, 8) == 8) { /* short writes to a pipe are whole */
		confirmed = (unsigned)strtoul(line, NULL, 10) + 1;
		if (confirmed == environment_scaled(LINES))
			assert_int_equal(kill(child, SIGKILL), 0);
	}
	close(output);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_true(confirmed >= environment_scaled(LINES));
	fixture_open(f, &f->owner, DW_OWNER);
	for (unsigned i = 0; i < confirmed; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%u", i);
		assert_int_equal(ask_stored(&f->owner, id, &head), DW_OK);
		assert_int_equal(head.due, i);
	}
}

static void owner_is_not_lost_by_a_forked_child(void **state)
{
	struct fixture *f = *state;
	pid_t child;
	int status;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 1);
	child = fork();
	if (child == 0) {
		status = f->owner.store->type->stop(f->owner.store, DW_SECONDS(5));
		f->owner.store->type->free(f->owner.store);
		/* By another program: a leak checker would not like what is left on purpose. */
		execl("/bin/sh", "sh", "-c", status == DW_OK ? "exit 0" : "exit 1", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(run(f, "own", f->path), EXIT_OWNED);
	ask_put_one(&f->owner, "b", 1);
}

static void client_of_another_process_reaches_the_owner(void **state)
{
	struct fixture *f = *state;
	dw_op *inbox = ask_plain(DW_OP_INBOX);

	fixture_open(f, &f->owner, DW_OWNER);
	ask_send(&f->owner, inbox);
	assert_int_equal(run(f, "client", f->path), 0);
	ask_await(&f->owner, inbox);
	assert_int_equal(inbox->row_count, 1);
	assert_string_equal(inbox->rows->id, "from the other process");
	assert_int_equal(inbox->rows->head.due, 9);
	ask_free(inbox);
}

/* ---- What the store's thread is doing ---- */

/* Counts how often a statement is begun, on every connection opened while it is watched for. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	const char *sql;
	unsigned count;
} watch = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static int see(unsigned kind, void *user, void *statement, void *sql)
{
	(void)kind;
	(void)user;
	(void)statement;
	pthread_mutex_lock(&watch.mutex);
	if (watch.sql && strcmp(sql, watch.sql) == 0)
		watch.count++;
	pthread_cond_broadcast(&watch.cond);
	pthread_mutex_unlock(&watch.mutex);
	return 0;
}

static int watch_connection(sqlite3 *handle, char **error, const void *api)
{
	(void)error;
	(void)api;
	return sqlite3_trace_v2(handle, SQLITE_TRACE_STMT, see, NULL);
}

static void watch_for(const char *sql)
{
	pthread_mutex_lock(&watch.mutex);
	watch.sql = sql;
	watch.count = 0;
	pthread_mutex_unlock(&watch.mutex);
}

static void await_seen(unsigned count)
{
	pthread_mutex_lock(&watch.mutex);
	while (watch.count < count)
		pthread_cond_wait(&watch.cond, &watch.mutex);
	pthread_mutex_unlock(&watch.mutex);
}

static int set_up_watched(void **state)
{
	(void)sqlite3_auto_extension((void (*)(void))watch_connection);
	return fixture_set_up(state);
}

static int tear_down_watched(void **state)
{
	watch_for(NULL);
	sqlite3_reset_auto_extension();
	return fixture_tear_down(state);
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void owner_that_is_idle_looks_for_news_once_a_second(void **state)
{
	enum { LOOKS = 2 };
	struct fixture *f = *state;
	dw_op *inbox = ask_plain(DW_OP_INBOX);
	double began;
	double worked;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 1);
	watch_for("PRAGMA data_version");
	ask_send(&f->owner, inbox);
	await_seen(1);
	began = seconds_of(CLOCK_MONOTONIC);
	worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	await_seen(1 + LOOKS);
	began = seconds_of(CLOCK_MONOTONIC) - began;
	worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - worked;
	assert_true(began > LOOKS * 0.9);
	assert_true(worked < began * 0.05); /* without valgrind it is below 0.001 */
	ask_end(&f->owner);
	ask_free(inbox);
}

/* ---- Others in the way ---- */

/* hold takes the write lock with another connection. */
static sqlite3 *hold(const struct fixture *f)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(f->path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return handle;
}

static void lock_of_another_is_waited_for_with_patience(void **state)
{
	struct fixture *f = *state;
	sqlite3 *other;
	dw_op *op = ask_put("b", 1, 0);

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	ask_init(&f->owner, DW_OWNER, ++f->token, &f->now);
	f->owner.env.patience = DW_MILLISECONDS(50);
	assert_int_equal(sqlite_store_open(&f->owner.store, f->path, &f->owner.env, NULL), DW_OK);
	other = hold(f);
	assert_int_equal(ask_status(&f->owner, ask_put("a", 1, 0)), DW_ESTORE);
	assert_int_equal(ask_status(&f->owner, ask_get("a")), DW_ENOENT); /* reading goes on */
	sqlite3_close(other);
	assert_int_equal(ask_status(&f->owner, op), DW_OK);
}

static void lock_of_another_does_not_hold_up_stop(void **state)
{
	struct fixture *f = *state;
	dw_op *op = ask_put("a", 1, 0);
	sqlite3 *other;

	fixture_open(f, &f->owner, DW_OWNER); /* its patience is 20 s */
	other = hold(f);
	watch_for("BEGIN IMMEDIATE");
	ask_send(&f->owner, op);
	await_seen(1); /* else it would not be begun */
	assert_int_equal(f->owner.store->type->stop(f->owner.store, DW_SECONDS(10)), DW_OK);
	ask_end(&f->owner);
	assert_int_equal(op->status, DW_ECLOSED);
	ask_free(op);
	sqlite3_close(other);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
#define WATCHED(name) cmocka_unit_test_setup_teardown(name, set_up_watched, tear_down_watched)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    CASE(owner_in_this_process_refuses_a_second_one),
	    CASE(owner_refuses_another_process_in_words),
	    CASE(owner_by_a_symbolic_link_is_the_same),
	    CASE(owner_that_was_killed_leaves_what_it_confirmed),
	    CASE(owner_is_not_lost_by_a_forked_child),
	    CASE(client_of_another_process_reaches_the_owner),
	    CASE(lock_of_another_is_waited_for_with_patience),
	    WATCHED(lock_of_another_does_not_hold_up_stop),
	    WATCHED(owner_that_is_idle_looks_for_news_once_a_second),
	};

	if (argc == 3)
		return child_main(argv[1], argv[2]);
	program = argv[0];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
