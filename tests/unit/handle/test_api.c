/* The public API as a program uses it: opening, driving, threads, closing. */
#include "durawheel/select.h"
#include "support/cmocka.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/seen.h"

static dw *open_memory(struct seen *seen)
{
	dw *d = open_store("memory:", DW_OWNER);

	*seen = (struct seen){.stop_at = 1};
	assert_int_equal(dw_on(d, "t", on_due, seen), DW_OK);
	return d;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static void open_of_bad_options_says_what_is_wrong(void **state)
{
	struct {
		dw_options known;
		int unknown;
	} newer = {.known = {.size = sizeof newer, .store = "memory:"}, .unknown = 1};
	dw_options o = {0};

	(void)state;
	refused(NULL, DW_EINVAL, "NULL");
	refused(&o, DW_EINVAL, "sizeof(dw_options)");
	o.size = sizeof o;
	refused(&o, DW_EINVAL, "options.store");
	o.store = "memory";
	refused(&o, DW_EINVAL, "sqlite:FILE");
	o.store = "sqlite:";
	refused(&o, DW_EINVAL, "sqlite:FILE");
	o.store = "MEMORY:";
	o.role = DW_CLIENT;
	refused(&o, DW_EINVAL, "has no clients");
	o.role = DW_OWNER;
	o.store = "postgres://me:secret@127.0.0.1";
	refused(&o, DW_EINVAL, "the store \"postgres:...\" is of no known kind");
	o.store = "secret@127.0.0.1:6379";
	refused(&o, DW_EINVAL, "the store \"...\" is of no known kind");
	o.store = "secret";
	refused(&o, DW_EINVAL, "the store \"...\" is of no known kind");
	o.store = "redis://me:secret@127.0.0.1:1/0";
	refused(&o, DW_EINVAL, DW_WITH_REDIS ? "options.name" : "without Redis");
	o.name = "orders";
	o.open_patience_us = DW_MILLISECONDS(200);
	refused(&o, DW_WITH_REDIS ? DW_ESTORE : DW_EINVAL,
		DW_WITH_REDIS ? "127.0.0.1:1" : "without Redis");
	o.store = "memory:";
	o.role = (dw_role)7;
	refused(&o, DW_EINVAL, "role");
	o.role = DW_CLIENT;
	refused(&o, DW_EINVAL, "memory:");
	o.role = DW_OWNER;
	o.data_max_bytes = DW_DATA_MAX + 1;
	refused(&o, DW_EINVAL, "data_max_bytes");
	refused(&newer.known, DW_EINVAL, "newer");
	assert_int_equal(dw_open(NULL, &o, NULL), DW_EINVAL);
}

static void open_of_what_is_no_file_says_what_to_write(void **state)
{
	dw_options o = {.size = sizeof o};

	(void)state;
	o.store = "sqlite::memory:";
	refused(&o, DW_EINVAL, "write memory:");
	o.store = "sqlite:memory:";
	refused(&o, DW_EINVAL, "write memory:");
	o.store = "sqlite:/nowhere/x.db?mode=ro";
	refused(&o, DW_EINVAL, "write sqlite:/nowhere/x.db");
	o.store = "sqlite://rel.db";
	refused(&o, DW_EINVAL, "would be /rel.db: write sqlite:rel.db");
	o.store = "sqlite:file:/nowhere/x.db?mode=ro";
	refused(&o, DW_EINVAL, "write sqlite:/nowhere/x.db");
	o.store = "sqlite:file::memory:?cache=shared";
	refused(&o, DW_EINVAL, "write memory:");
	o.store = "sqlite:?x";
	refused(&o, DW_EINVAL, "needs a file");
	assert_int_not_equal(access(":memory:", F_OK), 0);
}

static void open_of_a_shared_store_names_what_is_wrong(void **state)
{
	static const char long_name[] =
	    "0123456789012345678901234567890123456789012345678901234567890123";
	dw_options o = {.size = sizeof o, .store = "memory:"};
	dw *d;

	(void)state;
	o.name = long_name;
	refused(&o, DW_EINVAL, "options.name");
	o.name = "a b";
	refused(&o, DW_EINVAL, "options.name");
	o.name = long_name + 1;
	o.shards = 257;
	refused(&o, DW_EINVAL, "options.shards");
	o.shards = 256;
	o.lease_us = DW_SECONDS(1) - 1;
	refused(&o, DW_EINVAL, "options.lease_us");
	o.lease_us = DW_HOURS(24) + 1;
	refused(&o, DW_EINVAL, "options.lease_us");
	o.lease_us = -1;
	refused(&o, DW_EINVAL, "options.lease_us");
	o.lease_us = DW_SECONDS(1);
	o.outage = DW_OUTAGE_FIRE;
	refused(&o, DW_EINVAL, "needs a journal");
	o.outage = (dw_outage)2;
	refused(&o, DW_EINVAL, "DW_OUTAGE_HOLD or DW_OUTAGE_FIRE");
	o.outage = DW_OUTAGE_HOLD;
	assert_int_equal(dw_open(&d, &o, NULL), DW_OK);
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void open_of_older_and_newer_options_works(void **state)
{
	struct {
		dw_options known;
		int unknown;
	} newer = {.known = {.size = sizeof newer, .store = "memory:"}};
	dw_options older = {.size = offsetof(dw_options, timers_max), .store = "memory:"};
	dw *d;

	(void)state;
	older.timers_max = 1; /* beyond its size: not looked at */
	assert_int_equal(dw_open(&d, &newer.known, NULL), DW_OK);
	assert_int_equal(dw_close(d, 0), DW_OK);
	assert_int_equal(dw_open(&d, &older, NULL), DW_OK);
	assert_int_equal(dw_at(d, "t", "a", DW_NEVER, NULL, 0), DW_OK);
	assert_int_equal(dw_at(d, "t", "b", DW_NEVER, NULL, 0), DW_OK);
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void null_arguments_are_refused(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_timer timer = {.size = sizeof timer - 1, .topic = "t"};

	(void)state;
	assert_int_equal(dw_put(NULL, NULL, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_put(d, NULL, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(d), "size"));
	assert_int_equal(dw_at(d, NULL, "a", 0, NULL, 0), DW_EINVAL);
	assert_int_equal(dw_after(d, "t", "a", -1, NULL, 0), DW_EINVAL);
	assert_int_equal(dw_after(d, "t", "a", INT64_MAX, NULL, 1), DW_EINVAL);
	assert_int_equal(dw_after(d, "t", "a", INT64_MAX, NULL, 0), DW_OK);
	assert_int_equal(dw_cancel(d, NULL, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_on(d, NULL, on_due, NULL), DW_EINVAL);
	assert_int_equal(dw_settle(d, NULL, DW_DONE, 0, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_get(d, "a", NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_list(d, NULL, NULL, 1, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_get_stats(d, NULL), DW_EINVAL);
	assert_int_equal(dw_run(NULL), DW_EINVAL);
	assert_true(dw_fd(NULL) < 0);
	dw_stop(NULL);
	assert_int_equal(dw_close(d, 0), DW_OK);
	assert_int_equal(dw_close(NULL, 0), DW_OK);
}

/* ---- Driving ------------------------------------------------------------------------------- */

static void run_fires_and_stops(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(dw_after(d, "t", "a", 1000, "data", 4), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.starts, 1);
	assert_string_equal(seen.data, "data");
	dw_stop(d);
	assert_int_equal(dw_run(d), DW_OK); /* stopped before: returns at once */
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void *stop_it(void *user)
{
	dw_stop(user);
	return NULL;
}

static void stop_from_another_thread_ends_run(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, stop_it, d), 0);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void fd_is_readable_when_a_turn_has_work(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	struct pollfd fd = {.fd = dw_fd(d), .events = POLLIN};

	(void)state;
	while (poll(&fd, 1, 0) > 0)
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 2000, NULL, 0), DW_OK);
	while (seen.starts == 0) {
		assert_int_equal(poll(&fd, 1, 20000), 1);
		assert_int_equal(dw_turn(d), DW_OK);
	}
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static dw_verdict drive_inside(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	(void)firing;
	assert_int_equal(dw_run(d), DW_EBUSY);
	assert_int_equal(dw_turn(d), DW_EBUSY);
	assert_int_equal(dw_sync(d, 0), DW_EBUSY);
	assert_int_equal(dw_close(d, 0), DW_EBUSY);
	seen->starts++;
	dw_stop(d);
	return DW_DONE;
}

static void driving_inside_a_callback_is_busy(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(dw_on(d, "inside", drive_inside, &seen), DW_OK);
	assert_int_equal(dw_after(d, "inside", NULL, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void sync_returns_the_failure_nobody_heard(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(dw_cancel(d, "nothing", NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_ENOENT);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_cancel(d, "nothing", on_done, &seen), DW_OK);
	assert_int_equal(seen.answers, 0);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.status, DW_ENOENT);
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void memory_confirms_no_more_than_accepted(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_timer timer = {.size = sizeof timer, .topic = "t", .due = DW_NEVER};

	(void)state;
	assert_int_equal(dw_put(d, &timer, on_done, &seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.level, DW_ACCEPTED);
	assert_int_equal(dw_close(d, 0), DW_OK);
}

/* ---- Threads ------------------------------------------------------------------------------ */

static void *call_from_elsewhere(void *user)
{
	dw *d = user;
	dw_stats stats = {.size = sizeof stats};
	int ok = dw_turn(d) == DW_ETHREAD && dw_run(d) == DW_ETHREAD &&
		 dw_sync(d, 0) == DW_ETHREAD && dw_fd(d) == DW_ETHREAD &&
		 dw_close(d, 0) == DW_ETHREAD && dw_count(d, NULL, NULL, NULL) == DW_ETHREAD &&
		 dw_get_stats(d, &stats) == DW_ETHREAD && dw_on(d, "t", NULL, NULL) == DW_ETHREAD &&
		 dw_retry_in(d, 0) == DW_ETHREAD && dw_get(d, "a", NULL, NULL) == DW_ETHREAD &&
		 strcmp(dw_last_error(d), dw_strerror(DW_ETHREAD)) == 0;

	return ok ? user : NULL;
}

static void calls_from_another_thread_are_refused(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, call_from_elsewhere, d), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, d);
	assert_int_equal(dw_after(d, "t", "a", -1, NULL, 0), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(d), "negative")); /* of this thread's calls only */
	assert_int_equal(dw_close(d, 0), DW_OK);
}

static void close_answers_what_was_not_sent(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_timer timer = {.size = sizeof timer, .topic = "t", .due = DW_NEVER};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(dw_put(d, &timer, on_done, &seen), DW_OK);
	assert_int_equal(dw_close(d, 0), DW_OK);
	assert_int_equal(seen.answers, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(open_of_bad_options_says_what_is_wrong),
	    cmocka_unit_test(open_of_what_is_no_file_says_what_to_write),
	    cmocka_unit_test(open_of_a_shared_store_names_what_is_wrong),
	    cmocka_unit_test(open_of_older_and_newer_options_works),
	    cmocka_unit_test(null_arguments_are_refused),
	    cmocka_unit_test(run_fires_and_stops),
	    cmocka_unit_test(stop_from_another_thread_ends_run),
	    cmocka_unit_test(fd_is_readable_when_a_turn_has_work),
	    cmocka_unit_test(driving_inside_a_callback_is_busy),
	    cmocka_unit_test(sync_returns_the_failure_nobody_heard),
	    cmocka_unit_test(memory_confirms_no_more_than_accepted),
	    cmocka_unit_test(calls_from_another_thread_are_refused),
	    cmocka_unit_test(close_answers_what_was_not_sent),
	};

	return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
