/* The store's threads keep their share of the CPU beside other programs. */
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/sqlite_fixture.h"

/* look_at_thread: it is as nice as the program. 1: it interrupts nobody when it wakes. */
static int look_at_thread(pid_t thread)
{
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)thread),
			 getpriority(PRIO_PROCESS, (id_t)getpid()));
	return sched_getscheduler(thread) == SCHED_BATCH;
}

static void threads_of_the_store_are_batch_and_no_nicer(void **state)
{
	struct fixture *f = *state;
	DIR *tasks;
	const struct dirent *task;
	int batch = 0;

	fixture_open(f, &f->owner, DW_OWNER);
	(void)ask_put_one(&f->owner, "a", 1); /* its thread is at work */
	tasks = opendir("/proc/self/task");
	assert_non_null(tasks);
	while ((task = readdir(tasks)))
		if (task->d_name[0] != '.')
			batch += look_at_thread((pid_t)strtol(task->d_name, NULL, 10));
	(void)closedir(tasks);
	assert_true(batch >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(threads_of_the_store_are_batch_and_no_nicer,
					    fixture_set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests_name("store_sqlite_share", tests, NULL, NULL);
}
