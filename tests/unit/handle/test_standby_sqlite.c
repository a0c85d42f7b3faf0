/* A standby: a client beside an owner, and the owner once that is gone, however it went. */
#include "support/cmocka.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "support/temp.h"

#define PATIENCE DW_SECONDS(60) /* far beyond what a loaded machine needs */

struct place {
	char folder[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
};

struct seen {
	int owner;
	int recovered;
	int starts;
	int status;
	uint32_t attempt;
};

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	if (event->kind == DW_EVENT_OWNER) {
		assert_int_equal(seen->recovered, 0);
		seen->owner++;
	}
	seen->recovered += event->kind == DW_EVENT_RECOVERED;
	if (event->kind == DW_EVENT_STORE_FAILED)
		fail_msg("%s", event->message); /* a refused standby is no failure */
}

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	seen->starts++;
	seen->attempt = firing->attempt;
	dw_stop(d);
	return DW_DONE;
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct seen *)user)->status = result->status;
}

static dw *open_as(const struct place *place, dw_role role, struct seen *seen)
{
	dw_options options = {.size = sizeof options,
			      .store = place->url,
			      .role = role,
			      .on_event = on_event,
			      .on_event_user = seen};
	char message[DW_MESSAGE_SIZE];
	dw *d = NULL;

	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	assert_int_equal(dw_on(d, "t", on_due, seen), DW_OK);
	return d;
}

static int set_up(void **state)
{
	static struct place place;
	char path[TEMP_SIZE];

	temp_make(place.folder);
	(void)snprintf(place.url, sizeof place.url, "sqlite:%s",
		       temp_file(path, place.folder, "t.db"));
	*state = &place;
	return 0;
}

static int tear_down(void **state)
{
	temp_remove(((struct place *)*state)->folder);
	return 0;
}

/* turn_until: the standby turns when it has work, until *count is no longer 0. */
static void turn_until(dw *d, const int *count)
{
	struct pollfd readable = {.fd = dw_fd(d), .events = POLLIN};

	while (*count == 0) {
		assert_int_equal(poll(&readable, 1, (int)(PATIENCE / 1000)), 1);
		assert_int_equal(dw_turn(d), DW_OK);
	}
}

static void standby_of_a_free_store_owns_it_at_once(void **state)
{
	struct seen seen = {0};
	dw *d = open_as(*state, DW_STANDBY, &seen);
	dw_stats stats = {.size = sizeof stats, .is_owner = 7};

	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	assert_int_equal(stats.is_owner, 0);
	assert_int_equal(dw_purge(d, NULL, NULL), DW_EROLE);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK); /* as a client, or not */
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.owner, 1);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.attempt, 1);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	assert_int_equal(stats.is_owner, 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void standby_is_a_client_until_the_owner_closes(void **state)
{
	struct seen first = {0};
	struct seen second = {0};
	dw *owner = open_as(*state, DW_OWNER, &first);
	dw *standby = open_as(*state, DW_STANDBY, &second);
	dw *third;

	assert_int_equal(dw_after(standby, "t", "far", DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_after(standby, "t", "near", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(standby, PATIENCE), DW_OK);
	assert_int_equal(dw_run(owner), DW_OK);
	assert_int_equal(first.starts, 1); /* the owner's */
	assert_int_equal(second.owner, 0);
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	turn_until(standby, &second.recovered);
	assert_int_equal(second.owner, 1);
	assert_int_equal(dw_move(standby, "far", 0, on_done, &second), DW_OK);
	assert_int_equal(dw_run(standby), DW_OK);
	assert_int_equal(second.starts, 1);
	assert_int_equal(second.status, DW_OK);
	third = open_as(*state, DW_STANDBY, &first); /* it is a proper owner: others are kept out */
	assert_int_equal(dw_cancel(third, "none", on_done, &first), DW_OK);
	assert_int_equal(dw_sync(third, PATIENCE), DW_OK);
	assert_int_equal(first.owner, 0);
	assert_int_equal(dw_close(third, PATIENCE), DW_OK);
	assert_int_equal(dw_close(standby, PATIENCE), DW_OK);
}

/* hold_and_hang: the child owns the store, starts a timer, and is killed in its handler. */
static dw_verdict hang(dw *d, const dw_firing *firing, void *user)
{
	const int *ready = user;

	(void)d;
	(void)firing;
	if (write(*ready, "x", 1) == 1)
		for (;;)
			(void)pause();
	return DW_DONE;
}

static void own_and_hang(const struct place *place, int ready)
{
	struct seen seen = {0};
	dw *d = open_as(place, DW_OWNER, &seen);

	if (dw_on(d, "t", hang, &ready) == DW_OK && dw_after(d, "t", "a", 0, NULL, 0) == DW_OK)
		(void)dw_run(d);
	_exit(1); /* it should not come to this */
}

static void standby_takes_over_from_a_killed_owner(void **state)
{
	struct seen seen = {0};
	int ready[2];
	char byte;
	pid_t child;
	dw *standby;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0)
		own_and_hang(*state, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	standby = open_as(*state, DW_STANDBY, &seen);
	assert_int_equal(dw_cancel(standby, "a", on_done, &seen), DW_OK);
	assert_int_equal(dw_sync(standby, PATIENCE), DW_OK);
	assert_int_equal(seen.status, DW_ELATE); /* the owner is at it */
	assert_int_equal(seen.owner, 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(dw_run(standby), DW_OK);
	assert_int_equal(seen.owner, 1);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.attempt, 2);
	assert_int_equal(dw_close(standby, PATIENCE), DW_OK);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(standby_of_a_free_store_owns_it_at_once),
	    CASE(standby_is_a_client_until_the_owner_closes),
	    CASE(standby_takes_over_from_a_killed_owner),
	};

	return cmocka_run_group_tests_name("standby_sqlite", tests, NULL, NULL);
}
