/* What outlives a handle on a SQLite file: timers, holds, the owner's lock; and forks. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/seen.h"
#include "support/temp.h"

static int child_is_kept_out(dw *d)
{
	if (dw_turn(d) != DW_EFORK || dw_run(d) != DW_EFORK || dw_sync(d, 0) != DW_EFORK ||
	    dw_after(d, "t", "b", 0, NULL, 0) != DW_EFORK)
		return 1;
	return dw_close(d, PATIENCE) == DW_OK ? 0 : 2;
}

static void forked_child_may_only_close(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	struct seen seen = {.stop_at = 1};
	dw *d;
	pid_t child;
	int status;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	d = open_store(url, DW_OWNER);
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", DW_MILLISECONDS(50), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	child = fork();
	if (child == 0) {
		/* By another program: a leak checker would not like what is left on purpose. */
		(void)execlp(child_is_kept_out(d) == 0 ? "true" : "false", "child", (char *)NULL);
		_exit(127); /* there is no such program */
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

/* ---- Restarting ---------------------------------------------------------------------------- */

static void on_page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		    void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->status = status;
	seen->listed += count;
	if (status != DW_OK)
		return;
	assert_true(next->ended);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(timers[i].topic, "t");
}

static void on_status(dw *d, int status, const dw_store_status *store, void *user)
{
	struct seen *seen = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(store->pending, 1);
	(void)snprintf(seen->owner, sizeof seen->owner, "%s", store->owner);
}

static void timer_survives_a_restart(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	struct seen seen = {.stop_at = 1};
	dw *d;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	d = open_store(url, DW_OWNER);
	assert_int_equal(dw_after(d, "t", "a", 0, "kept", 4), DW_OK);
	assert_int_equal(dw_get(d, "a", on_page, &seen), DW_OK);
	assert_int_equal(dw_get_status(d, on_status, &seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.listed, 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	d = open_store(url, DW_OWNER);
	assert_int_equal(dw_on(d, "*", on_due, &seen), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.attempt, 1);
	assert_string_equal(seen.data, "kept");
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

static void hold_open_at_close_is_delivered_by_the_next_owner(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	struct seen seen = {.stop_at = 1, .verdict = DW_HOLD};
	dw *d;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	for (int i = 1; i <= 2; i++) {
		seen.starts = 0;
		d = open_store(url, DW_OWNER);
		assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
		if (i == 1)
			assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
		assert_int_equal(dw_run(d), DW_OK);
		assert_int_equal(seen.attempt, i);
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	}
	temp_remove(folder);
}

static dw_usec clock_of_test(void *user)
{
	return *(const dw_usec *)user;
}

/* The attempt of a claim is spent, or a late copy of the claim would be a new one. */
static void claim_given_back_at_close_counts_as_an_attempt(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	dw_usec now = DW_SECONDS(1700000000);
	dw_options options = {
	    .size = sizeof options, .store = url, .clock = clock_of_test, .clock_user = &now};
	struct seen seen = {.stop_at = 1};
	dw *d;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
	/* So soon due that it is stored as claimed; but the clock stands still. */
	assert_int_equal(dw_after(d, "t", "a", 1, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(seen.starts, 0);
	now += DW_SECONDS(1);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.attempt, 2);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

static void second_owner_is_refused_and_client_is_not(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	dw_options options = {.size = sizeof options, .store = url};
	struct seen seen = {.stop_at = 1};
	dw *owner;
	dw *client;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	owner = open_store(url, DW_OWNER);
	refused(&options, DW_EOWNED, "own");
	client = open_store(url, DW_CLIENT);
	assert_int_equal(dw_on(client, "t", on_due, &seen), DW_EROLE);
	assert_int_equal(dw_after(client, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
	assert_int_equal(dw_on(owner, "t", on_due, &seen), DW_OK);
	assert_int_equal(dw_run(owner), DW_OK);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(forked_child_may_only_close),
	    cmocka_unit_test(timer_survives_a_restart),
	    cmocka_unit_test(hold_open_at_close_is_delivered_by_the_next_owner),
	    cmocka_unit_test(claim_given_back_at_close_counts_as_an_attempt),
	    cmocka_unit_test(second_owner_is_refused_and_client_is_not),
	};

	return cmocka_run_group_tests_name("api_restart", tests, NULL, NULL);
}
