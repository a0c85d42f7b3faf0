/* A timer that ends its process each time is delivered DW_CRASHES_MAX times, and then is dead. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "durawheel/durawheel.h"
#include "support/temp.h"

/* What the processes share. */
struct lives {
	unsigned starts;
	unsigned attempt; /* of the last start */
	char url[TEMP_SIZE + 16];
};

enum { CRASHED = 42 };

static dw_verdict crash(dw *d, const dw_firing *firing, void *user)
{
	struct lives *lives = user;

	(void)d;
	lives->starts++;
	lives->attempt = firing->attempt;
	_exit(CRASHED);
}

static void stop_when_dead(dw *d, const dw_event *event, void *user)
{
	(void)user;
	if (event->kind == DW_EVENT_DEAD)
		dw_stop(d);
}

/* live is one process: until its handler crashes, or the timer is dead. */
static int live(struct lives *lives)
{
	dw_options options = {
	    .size = sizeof options, .store = lives->url, .on_event = stop_when_dead};
	dw *d;

	if (dw_open(&d, &options, NULL) != DW_OK || dw_on(d, "t", crash, lives) != DW_OK)
		return EXIT_FAILURE;
	if (lives->starts == 0 && dw_after(d, "t", "a", 0, NULL, 0) != DW_OK)
		return EXIT_FAILURE;
	return dw_run(d) == DW_OK && dw_close(d, DW_SECONDS(60)) == DW_OK ? EXIT_SUCCESS
									  : EXIT_FAILURE;
}

static int live_in_child(struct lives *lives)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(live(lives));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void keep_reason(dw *d, int status, const dw_dead *letters, size_t count,
			const dw_cursor *next, void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	assert_string_equal(letters[0].id, "a");
	assert_int_equal(letters[0].crashes, DW_CRASHES_MAX);
	*(dw_reason *)user = letters[0].reason;
}

static dw_reason reason_in(const char *url)
{
	dw_options options = {.size = sizeof options, .store = url, .role = DW_CLIENT};
	dw_reason reason = DW_REASON_UNKNOWN;
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_dead_list(d, NULL, NULL, 10, keep_reason, &reason), DW_OK);
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
	return reason;
}

static void timer_that_crashes_is_dead_after_DW_CRASHES_MAX(void **state)
{
	char folder[TEMP_SIZE], path[TEMP_SIZE];
	struct lives *lives =
	    mmap(NULL, sizeof *lives, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(lives != MAP_FAILED);
	temp_make(folder);
	(void)snprintf(lives->url, sizeof lives->url, "sqlite:%s",
		       temp_file(path, folder, "timers.db"));
	for (unsigned i = 1; i <= DW_CRASHES_MAX; i++) {
		assert_int_equal(live_in_child(lives), CRASHED);
		assert_int_equal(lives->starts, i);
		assert_int_equal(lives->attempt, i);
	}
	assert_int_equal(live_in_child(lives), EXIT_SUCCESS); /* it found the timer dead */
	assert_int_equal(lives->starts, DW_CRASHES_MAX);
	assert_int_equal(reason_in(lives->url), DW_REASON_CRASHED);
	assert_int_equal(munmap(lives, sizeof *lives), 0);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(timer_that_crashes_is_dead_after_DW_CRASHES_MAX),
	};

	return cmocka_run_group_tests_name("crashes_sqlite", tests, NULL, NULL);
}
