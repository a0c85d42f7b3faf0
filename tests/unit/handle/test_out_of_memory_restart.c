/* An owner loads stored timers and hears of a client's new timers while its allocations fail. In
 * the end it knows all timers, and starts each exactly once. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/seen.h"
#include "support/shortage.h"
#include "support/temp.h"

enum { TIMERS = 12, PATIENCE_TURNS = 1000 };

struct restart {
	struct shortage shortage;
	const char *url;
	dw *client;
	dw *owner;
	int starts[2 * TIMERS];
	int started;
};

static dw_verdict start(dw *d, const dw_firing *firing, void *user)
{
	struct restart *restart = user;
	long number = strtol(firing->id, NULL, 10);

	(void)d;
	assert_in_range(number, 0, 2 * TIMERS - 1);
	assert_int_equal(firing->attempt, 1);
	restart->starts[number]++;
	restart->started++;
	return DW_DONE;
}

/* put puts timers that are long due. They are stored when it returns. */
static void put(struct restart *restart, int first)
{
	char id[16];

	for (int i = first; i < first + TIMERS; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(dw_at(restart->client, "t", id, i, NULL, 0), DW_OK);
	}
	assert_int_equal(dw_sync(restart->client, PATIENCE), DW_OK);
}

static void open_owner(struct restart *restart)
{
	dw_options options = {.size = sizeof options,
			      .store = restart->url,
			      .resize = shortage_resize,
			      .resize_user = &restart->shortage};
	int status = dw_open(&restart->owner, &options, NULL);

	if (status == DW_ENOMEM) {
		shortage_end(&restart->shortage);
		status = dw_open(&restart->owner, &options, NULL);
	}
	assert_int_equal(status, DW_OK);
}

static void turn(struct restart *restart, int patience_ms)
{
	struct pollfd fd = {.fd = dw_fd(restart->owner), .events = POLLIN};

	(void)poll(&fd, 1, patience_ms);
	assert_int_equal(dw_turn(restart->owner), DW_OK);
}

/* restart_once returns false if the scenario did not reach the allocation. */
static bool restart_once(const char *url, size_t nth, bool always)
{
	struct restart restart = {.shortage = SHORTAGE_NONE, .url = url};
	int status;

	restart.client = open_store(url, DW_CLIENT);
	put(&restart, 0);
	shortage_begin(&restart.shortage, nth, always);
	open_owner(&restart);
	status = dw_on(restart.owner, "t", start, &restart);
	assert_true(status == DW_OK || status == DW_ENOMEM);
	for (int i = 0; i < 5; i++)
		turn(&restart, 5);
	put(&restart, TIMERS);
	/* This ends when an allocation has failed, or when all timers have started. */
	for (int i = 0; i < PATIENCE_TURNS; i++) {
		if (i >= 5 && (shortage_failed(&restart.shortage) || restart.started == 2 * TIMERS))
			break;
		turn(&restart, 5);
	}
	shortage_end(&restart.shortage);
	assert_int_equal(dw_on(restart.owner, "t", start, &restart), DW_OK);
	for (int i = 0; i < PATIENCE_TURNS && restart.started < 2 * TIMERS; i++)
		turn(&restart, 5);
	for (int i = 0; i < 2 * TIMERS; i++)
		if (restart.starts[i] != 1)
			fail_msg("%d starts %d times", i, restart.starts[i]);
	assert_int_equal(dw_close(restart.client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(restart.owner, PATIENCE), DW_OK);
	assert_int_equal(restart.shortage.blocks, 0);
	return shortage_failed(&restart.shortage);
}

static void owner_without_memory_learns_all_in_the_end(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	size_t nth = 1;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	while (restart_once(url, nth, false) || restart_once(url, nth, true))
		nth += shortage_step() + nth / 20;
	print_message("%zu allocations\n", nth - 1);
	assert_true(nth > 50); /* otherwise the scenario was not reached */
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(owner_without_memory_learns_all_in_the_end),
	};

	return cmocka_run_group_tests_name("out_of_memory_restart", tests, NULL, NULL);
}
