/* What a handler on a worker leaves behind when its handle is closed around it. */
#include "support/cmocka.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/watch.h"
#include "support/temp.h"

/* Two lives of a program on one file. */
struct lives {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int begun;
	int open;
	uint32_t attempt; /* of the last start */
};

static dw_verdict wait_here(dw *d, const dw_firing *firing, void *user)
{
	struct lives *lives = user;

	(void)d;
	pthread_mutex_lock(&lives->mutex);
	lives->attempt = firing->attempt;
	lives->begun = 1;
	while (!lives->open)
		pthread_cond_wait(&lives->changed, &lives->mutex);
	pthread_mutex_unlock(&lives->mutex);
	return DW_DONE;
}

static dw_verdict note_attempt(dw *d, const dw_firing *firing, void *user)
{
	struct lives *lives = user;

	lives->attempt = firing->attempt;
	dw_stop(d);
	return DW_DONE;
}

static int has_begun(struct lives *lives)
{
	int begun;

	pthread_mutex_lock(&lives->mutex);
	begun = lives->begun;
	pthread_mutex_unlock(&lives->mutex);
	return begun;
}

static dw *open_file(const char *file, unsigned workers)
{
	char url[TEMP_SIZE + 8];
	dw_options options = {.size = sizeof options, .store = url, .workers = workers};
	char message[DW_MESSAGE_SIZE];
	dw *d = NULL;

	(void)snprintf(url, sizeof url, "sqlite:%s", file);
	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

/* first_life closes its handle around a handler that never returns, and ends. */
static _Noreturn void first_life(const char *file, struct lives *lives)
{
	dw *d = open_file(file, 1);
	int status = dw_on_worker(d, "t", wait_here, lives);

	if (status == DW_OK)
		status = dw_after(d, "t", "a", 0, NULL, 0);
	while (status == DW_OK && !has_begun(lives))
		status = dw_sync(d, PATIENCE);
	_exit(status == DW_OK && dw_close(d, DW_MILLISECONDS(100)) == DW_ETIMEOUT ? 0 : 1);
}

static void delivery_without_a_verdict_is_repeated(void **state)
{
	struct lives lives = {.mutex = PTHREAD_MUTEX_INITIALIZER,
			      .changed = PTHREAD_COND_INITIALIZER};
	char folder[TEMP_SIZE];
	char file[TEMP_SIZE];
	int status;
	pid_t pid;
	dw *d;

	(void)state;
	temp_make(folder);
	(void)temp_file(file, folder, "timers.db");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		first_life(file, &lives);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	d = open_file(file, 0);
	assert_int_equal(dw_on(d, "t", note_attempt, &lives), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(lives.attempt, 2);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

static void close_brings_the_verdict_into_the_file(void **state)
{
	struct lives lives = {
	    .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .open = 1};
	char folder[TEMP_SIZE];
	char file[TEMP_SIZE];
	uint64_t count;
	dw *d;

	(void)state;
	temp_make(folder);
	d = open_file(temp_file(file, folder, "timers.db"), 1);
	assert_int_equal(dw_on_worker(d, "t", wait_here, &lives), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	while (!has_begun(&lives))
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	d = open_file(file, 0);
	for (dw_stats stats = {.size = sizeof stats, .recovering = 1}; stats.recovering;) {
		assert_int_equal(dw_turn(d), DW_OK);
		assert_int_equal(dw_get_stats(d, &stats), DW_OK);
		count = stats.timers;
	}
	assert_int_equal(count, 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(delivery_without_a_verdict_is_repeated),
	    cmocka_unit_test(close_brings_the_verdict_into_the_file),
	};

	return cmocka_run_group_tests_name("workers_restart", tests, NULL, NULL);
}
