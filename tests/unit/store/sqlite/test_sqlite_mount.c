/* A database file that is mounted alone has a second name, with a log and a lock of its own. A file
 * that is mounted read-only is refused in words. */
#include "support/cmocka.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/file/mount.h"
#include "support/sqlite_fixture.h"

enum { IS_REFUSED, NOT_MOUNTED, IS_OPENED, OTHER_WORDS, FOLDER_IS_REFUSED };

static bool enter_namespace(void)
{
	return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
	       mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool mount_file(const char *from, const char *to)
{
	int fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	return fd >= 0 && close(fd) == 0 && mount(from, to, "none", MS_BIND, NULL) == 0;
}

/* look: in a process of its own. The folder is mounted, too: what is in it has one name there. */
static int look(struct fixture *f)
{
	char other[TEMP_SIZE], inside[TEMP_SIZE];

	if (!enter_namespace() || !mount_file(f->path, temp_file(other, f->folder, "other one.db")))
		return NOT_MOUNTED;
	if (fixture_try(f, &f->owner, DW_OWNER, other) != DW_ESTORE)
		return IS_OPENED;
	if (!strstr(f->message, "other one.db is a file that is mounted alone"))
		return OTHER_WORDS;
	if (mount(f->folder, f->folder, "none", MS_BIND, NULL) != 0)
		return NOT_MOUNTED;
	temp_file(inside, f->folder, "new.db");
	return fixture_try(f, &f->other, DW_OWNER, inside) == DW_OK ? IS_REFUSED
								    : FOLDER_IS_REFUSED;
}

static void is_refused(struct fixture *f, int (*look_at)(struct fixture *))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(look_at(f));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_MOUNTED)
		not_tested("no namespace to mount in: run as root, or permit user namespaces");
	assert_int_equal(WEXITSTATUS(status), IS_REFUSED);
}

static void file_that_is_mounted_alone_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	ask_end(&f->owner);
	is_refused(f, look);
	fixture_open(f, &f->owner, DW_OWNER); /* the other side stays */
}

/* look_read_only: the folder is mounted read-only, for every role. */
static int look_read_only(struct fixture *f)
{
	static const dw_role roles[] = {DW_CLIENT, DW_STANDBY, DW_OWNER};

	if (!enter_namespace() || mount(f->folder, f->folder, "none", MS_BIND, NULL) != 0 ||
	    mount("none", f->folder, "none", MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0)
		return NOT_MOUNTED;
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
		if (fixture_try(f, &f->other, roles[i], f->path) != DW_ESTORE)
			return IS_OPENED;
		if (!strstr(f->message, "orders.db: is on a read-only file system: mount it "
					"writable, or copy the file and its -wal to"))
			return OTHER_WORDS;
	}
	return IS_REFUSED;
}

static void file_on_a_read_only_mount_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	is_refused(f, look_read_only); /* with a log */
	ask_end(&f->owner);
	is_refused(f, look_read_only); /* without */
	fixture_open(f, &f->owner, DW_OWNER);
}

/* What an old kernel tells. */
static void table_of_mounts_is_read(void **state)
{
	char table[] = "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
		       "40 27 0:30 /x.db /data/x.db rw shared:1 - ext4 /dev/sda1 rw\n"
		       "41 27 0:30 /y /data/a\\040b\\134c.db rw - ext4 /dev/sda1 rw\n"
		       "42 27 0:30\n";
	static const char *const mounted[] = {"/proc", "/data/x.db", "/data/a b\\c.db"};
	static const char *const others[] = {"/data/x.d", "/data/x.db2", "/x.db", "/data",
					     "",          "rw,relatime"};

	(void)state;
	for (size_t i = 0; i < sizeof mounted / sizeof mounted[0]; i++) {
		FILE *file = fmemopen(table, sizeof table - 1, "r");

		assert_non_null(file);
		assert_true(sqlite_mount_is_listed(file, mounted[i]));
		(void)fclose(file);
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		FILE *file = fmemopen(table, sizeof table - 1, "r");

		assert_non_null(file);
		assert_false(sqlite_mount_is_listed(file, others[i]));
		(void)fclose(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(file_that_is_mounted_alone_is_refused, fixture_set_up,
					    fixture_tear_down),
	    cmocka_unit_test_setup_teardown(file_on_a_read_only_mount_is_refused, fixture_set_up,
					    fixture_tear_down),
	    cmocka_unit_test(table_of_mounts_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
