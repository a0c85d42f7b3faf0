/* The SQLite store on a full disk: who spends the reserve, and who is told. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/file/reserve.h"
#include "support/faulty.h"
#include "support/sqlite_fixture.h"

static char reserve[TEMP_SIZE];

static int set_up(void **state)
{
	struct fixture *f;

	(void)fixture_set_up(state);
	f = *state;
	temp_file(reserve, f->folder, "orders.db-reserve");
	return 0;
}

static off_t reserved(void)
{
	struct stat status;

	return stat(reserve, &status) == 0 ? status.st_size : -1;
}

/* limit_files: no file of this process grows to the size of the reserve, which is as good as a full
 * disk. */
static void limit_files(bool limited)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = limited ? SQLITE_RESERVE_SIZE - 1 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int tear_down(void **state)
{
	faulty_limit(0, NULL, 0);
	limit_files(false);
	return fixture_tear_down(state);
}

static void reserve_is_made_by_a_client_that_is_the_first(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(reserved(), SQLITE_RESERVE_SIZE);
}

static void put_on_a_full_disk_leaves_the_reserve(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "a", 1);
	fixture_open(f, &f->other, DW_CLIENT);
	faulty_limit(0, reserve, SQLITE_RESERVE_SIZE);
	assert_int_equal(ask_status(&f->other, ask_put("b", 1, 0)), DW_EFULL);
	assert_int_equal(ask_status(&f->owner, ask_put("c", 1, 0)), DW_EFULL);
	assert_int_equal(reserved(), SQLITE_RESERVE_SIZE);
	assert_string_equal(f->other.logged, ""); /* the answer says it */
	assert_non_null(strstr(f->owner.logged, "the disk is full"));
	assert_non_null(strstr(f->owner.logged, " KiB are free"));
	assert_int_equal(ask_status(&f->other, ask_cancel("a", 0)), DW_OK);
}

static void reserve_that_another_spends_refuses_puts(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	fixture_open(f, &f->other, DW_CLIENT);
	limit_files(true); /* so that nobody can restore it */
	assert_int_equal(truncate(reserve, SQLITE_RESERVE_SIZE - 1), 0);
	assert_int_equal(ask_status(&f->other, ask_put("a", 1, 0)), DW_EFULL);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_EFULL);
	limit_files(false);
	while (ask_status(&f->owner, ask_put("b", 1, 0)) != DW_OK)
		; /* a second; the test has its time limit */
	assert_int_equal(reserved(), SQLITE_RESERVE_SIZE);
	while (ask_status(&f->other, ask_put("a", 1, 0)) != DW_OK)
		; /* the same */
	assert_non_null(strstr(f->owner.logged, "the disk has space again"));
	assert_string_equal(f->other.logged, "");
}

/* Longer than the mark of a reserve. */
static const char text[] = "A diary. It rained all day, and nobody came to see the new machine.\n";

static void write_text(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, sizeof text - 1);
}

static void make_empty(const char *path)
{
	write_text(path);
	assert_int_equal(truncate(path, 0), 0);
}

/* refuse_reserve: the owner says that it has no reserve, and leaves the file empty. */
static void refuse_reserve(struct fixture *f, const char *path)
{
	struct stat status;

	fixture_open(f, &f->owner, DW_OWNER);
	assert_non_null(strstr(f->owner.logged, "orders.db-reserve cannot be made"));
	ask_end(&f->owner);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 0);
}

/* It was padded to 12 MiB, and cut on a full disk. */
static void file_of_somebody_is_no_reserve(void **state)
{
	struct fixture *f = *state;
	char diary[TEMP_SIZE];

	write_text(reserve);
	fixture_open(f, &f->owner, DW_OWNER);
	assert_non_null(strstr(f->owner.logged, "orders.db-reserve cannot be made"));
	ask_put_one(&f->owner, "a", 1);
	ask_end(&f->owner);
	expect_text(reserve);
	assert_int_equal(unlink(reserve), 0);

	make_empty(temp_file(diary, f->folder, "diary"));
	assert_int_equal(link(diary, reserve), 0);
	refuse_reserve(f, diary);
}

static void link_to_a_file_is_no_reserve(void **state)
{
	struct fixture *f = *state;
	char diary[TEMP_SIZE];

	make_empty(temp_file(diary, f->folder, "diary"));
	assert_int_equal(symlink(diary, reserve), 0);
	refuse_reserve(f, diary);
}

/* It has the mark and the size of a reserve, because it is that of another store. */
static void link_to_another_reserve_is_not_spent(void **state)
{
	struct fixture *f = *state;
	char other[TEMP_SIZE];
	struct sqlite_reserve ours = {.path = reserve};
	struct sqlite_reserve another = {.path = temp_file(other, f->folder, "other")};

	assert_true(sqlite_reserve_take(&another));
	assert_int_equal(symlink(other, reserve), 0);
	assert_false(sqlite_reserve_spend(&ours));
	assert_true(sqlite_reserve_is_whole(&another));
	assert_true(sqlite_reserve_spend(&another));
	assert_false(sqlite_reserve_is_whole(&another));
}

static void file_of_somebody_is_not_spent(void **state)
{
	struct sqlite_reserve ours = {.path = reserve};

	(void)state;
	write_text(reserve);
	assert_false(sqlite_reserve_spend(&ours));
	expect_text(reserve);
}

static void file_of_another_user_is_no_reserve(void **state)
{
	struct fixture *f = *state;

	make_empty(reserve);
	if (chown(reserve, 65534, (gid_t)-1) != 0)
		not_tested("only root gives a file to another user");
	refuse_reserve(f, reserve);
}

static void reserve_that_cannot_be_is_reported_and_refuses_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(symlink(f->path, reserve), 0); /* never followed */
	fixture_open(f, &f->owner, DW_OWNER);
	assert_non_null(strstr(f->owner.logged, "orders.db-reserve cannot be made"));
	assert_int_equal(ask_status(&f->owner, ask_put("a", 1, 0)), DW_OK);
	fixture_open(f, &f->other, DW_CLIENT);
	assert_int_equal(ask_status(&f->other, ask_put("b", 1, 0)), DW_OK);
	assert_string_equal(f->other.logged, "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(reserve_is_made_by_a_client_that_is_the_first),
	    CASE(put_on_a_full_disk_leaves_the_reserve),
	    CASE(reserve_that_another_spends_refuses_puts),
	    CASE(file_of_somebody_is_no_reserve),
	    CASE(file_of_somebody_is_not_spent),
	    CASE(link_to_another_reserve_is_not_spent),
	    CASE(link_to_a_file_is_no_reserve),
	    CASE(file_of_another_user_is_no_reserve),
	    CASE(reserve_that_cannot_be_is_reported_and_refuses_nothing),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
