/* Other files in the place of the store's own, and what its own look like. */
#include "support/cmocka.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/database.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/sqlite_fixture.h"
#include "support/temp.h"

#define MADE 2000

static void write_file(const struct fixture *f, const char *bytes, size_t size)
{
	FILE *file = fopen(f->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void expect_status(struct fixture *f, int status, const char *words)
{
	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, f->path), status);
	fixture_words(f, words);
	assert_int_equal(fixture_try(f, &f->owner, DW_CLIENT, f->path), status);
	fixture_words(f, words);
}

static void expect_refusal(struct fixture *f, const char *words)
{
	expect_status(f, DW_ESTORE, words);
}

static void file_of_garbage_is_refused(void **state)
{
	struct fixture *f = *state;
	char garbage[5000];

	memset(garbage, 'g', sizeof garbage);
	write_file(f, garbage, sizeof garbage);
	expect_refusal(f, "is not a database");
}

static void file_of_another_program_is_refused_unchanged(void **state)
{
	struct fixture *f = *state;

	fixture_raw(f, "CREATE TABLE theirs(x)");
	expect_refusal(f, "is the database of another program");
	fixture_raw(f, "INSERT INTO theirs VALUES(1)");
	fixture_raw(f, "PRAGMA application_id = 1; PRAGMA user_version = 1");
	expect_refusal(f, "is the database of another program");
}

static void file_of_a_newer_version_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	fixture_raw(f, "PRAGMA user_version = 4");
	expect_status(f, DW_ENEWER, "newer durawheel");
}

static void file_of_an_older_version_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	fixture_raw(f, "PRAGMA user_version = 0"); /* there has been no version 0 */
	expect_refusal(f, "has no schema version");
	fixture_raw(f, "PRAGMA user_version = -1");
	expect_refusal(f, "has no schema version");
	fixture_raw(f, "PRAGMA user_version = 1");
	expect_refusal(f, "before its first release");
	fixture_raw(f, "PRAGMA user_version = 2"); /* with an index by topic */
	expect_refusal(f, "before its first release");
}

static void file_that_another_program_keeps_locked_is_refused(void **state)
{
	struct fixture *f = *state;
	sqlite3 *other = NULL;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", 0, 0, 0),
	    SQLITE_OK);
	ask_init(&f->owner, DW_OWNER, ++f->token, &f->now);
	f->owner.env.patience = DW_MILLISECONDS(50);
	assert_int_equal(sqlite_store_open(&f->owner.store, f->path, &f->owner.env, f->message),
			 DW_ESTORE);
	fixture_words(f, "is locked by another process");
	sqlite3_close(other);
	fixture_open(f, &f->owner, DW_OWNER);
}

static void file_that_everybody_may_write_is_reported(void **state)
{
	static const char *const ours[] = {"orders.db-owner", "orders.db-reserve"};
	struct fixture *f = *state;
	char path[TEMP_SIZE];
	struct stat status;

	write_file(f, "", 0);
	assert_int_equal(chmod(f->path, 0666), 0);
	fixture_open(f, &f->owner, DW_OWNER);
	assert_non_null(
	    strstr(f->owner.logged, "orders.db may be written by everybody (mode 0666)"));
	ask_put_one(&f->owner, "a", 1);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		assert_int_equal(stat(temp_file(path, f->folder, ours[i]), &status), 0);
		assert_int_equal(status.st_mode & 0777, 0600);
	}
}

/* A umask that takes all rights: the files can be opened again. */
static void umask_takes_no_rights_of_the_user(void **state)
{
	static const char *const ours[] = {"orders.db", "orders.db-owner", "orders.db-reserve",
					   "orders.db-wake"};
	struct fixture *f = *state;
	mode_t before = umask(0777);
	char path[TEMP_SIZE];
	struct stat status;

	fixture_open(f, &f->owner, DW_OWNER);
	(void)umask(before);
	ask_put_one(&f->owner, "a", 1);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		assert_int_equal(stat(temp_file(path, f->folder, ours[i]), &status), 0);
		assert_int_equal(status.st_mode & 0777, 0600);
	}
}

static void file_with_two_names_is_refused(void **state)
{
	struct fixture *f = *state;
	char other[TEMP_SIZE];

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	assert_int_equal(link(f->path, temp_file(other, f->folder, "other.db")), 0);
	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, other), DW_ESTORE);
	assert_non_null(strstr(f->message, "has 2 names (hard links)"));
	assert_int_equal(unlink(other), 0);
	fixture_open(f, &f->owner, DW_OWNER);
}

static void *make_files(void *user)
{
	const struct fixture *f = user;
	char path[TEMP_SIZE], message[DW_MESSAGE_SIZE], name[16];

	for (int i = 0; i < (int)environment_scaled(MADE); i++) {
		(void)snprintf(name, sizeof name, "made%d", i);
		assert_int_equal(sqlite_db_make(temp_file(path, f->folder, name), message), DW_OK);
	}
	return NULL;
}

/* Between two steps of making it, another process would refuse the file, or a kill leave it so. */
static void new_file_never_has_two_names(void **state)
{
	struct fixture *f = *state;
	char path[TEMP_SIZE], name[16];
	struct stat status;
	pthread_t maker;

	assert_int_equal(pthread_create(&maker, NULL, make_files, f), 0);
	for (int i = 0; i < (int)environment_scaled(MADE); i++) {
		(void)snprintf(name, sizeof name, "made%d", i);
		(void)temp_file(path, f->folder, name);
		while (stat(path, &status) != 0)
			assert_int_equal(errno, ENOENT);
		assert_int_equal(status.st_nlink, 1);
	}
	assert_int_equal(pthread_join(maker, NULL), 0);
}

static void link_that_leads_nowhere_is_refused(void **state)
{
	struct fixture *f = *state;
	char target[TEMP_SIZE];

	assert_int_equal(symlink(temp_file(target, f->folder, "none.db"), f->path), 0);
	expect_refusal(f, "No such file or directory");
	assert_int_equal(access(target, F_OK), -1); /* not made by the way */
}

static void file_that_was_truncated_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 1);
	ask_end(&f->owner);
	assert_int_equal(truncate(f->path, 3 * 4096), 0);
	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, f->path), DW_ESTORE);
	fixture_words(f, "damaged");
}

static void file_that_is_empty_is_used(void **state)
{
	struct fixture *f = *state;

	write_file(f, "", 0);
	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 1);
}

static void path_that_cannot_be_is_refused_in_words(void **state)
{
	struct fixture *f = *state;
	char path[TEMP_SIZE];

	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, ""), DW_ESTORE);
	fixture_words(f, "a file name must follow");
	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, f->folder), DW_ESTORE);
	fixture_words(f, "is not a file");
	temp_file(path, f->folder, "no/such.db");
	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, path), DW_ESTORE);
	fixture_words(f, "there is no such folder");
}

static void path_with_a_meaning_to_sqlite_is_a_file_name(void **state)
{
	struct fixture *f = *state;
	char before[TEMP_SIZE];
	struct stat status;

	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(f->folder), 0);
	assert_int_equal(fixture_try(f, &f->owner, DW_OWNER, ":memory:"), DW_OK);
	assert_int_equal(stat(":memory:", &status), 0);
	ask_end(&f->owner);
	assert_int_equal(chdir(before), 0);
}

static void files_are_readable_by_their_user_only(void **state)
{
	static const char *const names[] = {"orders.db", "orders.db-wal", "orders.db-shm",
					    "orders.db-owner", "orders.db-reserve"};
	struct fixture *f = *state;
	char path[TEMP_SIZE];
	struct stat status;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 1);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_int_equal(stat(temp_file(path, f->folder, names[i]), &status), 0);
		assert_int_equal(status.st_mode & 0777, 0600);
	}
	ask_end(&f->owner);
	temp_file(path, f->folder, "orders.db-wal");
	assert_int_equal(stat(path, &status), -1); /* tidy */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(file_of_garbage_is_refused),
	    CASE(file_of_another_program_is_refused_unchanged),
	    CASE(file_of_a_newer_version_is_refused),
	    CASE(file_of_an_older_version_is_refused),
	    CASE(file_that_another_program_keeps_locked_is_refused),
	    CASE(file_that_everybody_may_write_is_reported),
	    CASE(umask_takes_no_rights_of_the_user),
	    CASE(file_with_two_names_is_refused),
	    CASE(new_file_never_has_two_names),
	    CASE(link_that_leads_nowhere_is_refused),
	    CASE(file_that_was_truncated_is_refused),
	    CASE(file_that_is_empty_is_used),
	    CASE(path_that_cannot_be_is_refused_in_words),
	    CASE(path_with_a_meaning_to_sqlite_is_a_file_name),
	    CASE(files_are_readable_by_their_user_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
