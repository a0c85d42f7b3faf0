/* A client that changes a timer that its owner has claimed hears that the earlier one may start. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/temp.h"

#define PATIENCE DW_SECONDS(60) /* far beyond what a loaded machine needs */

static dw_verdict hold(dw *d, const dw_firing *firing, void *user)
{
	*(dw_token *)user = *firing->token;
	dw_stop(d);
	return DW_HOLD;
}

static void keep_result(dw *d, const dw_result *result, void *user)
{
	(void)d;
	assert_int_equal(result->size, sizeof *result);
	*(dw_result *)user = *result;
}

static dw *open_as(const char *url, dw_role role)
{
	dw_options options = {
	    .size = sizeof options, .store = url, .role = role, .hold_us = DW_HOURS(1)};
	char message[DW_MESSAGE_SIZE];
	dw *d = NULL;

	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

static int put(dw *d, const char *id)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .due = DW_NEVER};
	dw_result result = {.status = 1};

	assert_int_equal(dw_put(d, &timer, keep_result, &result), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(result.status, DW_OK);
	return result.earlier_may_start;
}

static int move(dw *d, const char *id)
{
	dw_result result = {.status = 1};

	assert_int_equal(dw_move(d, id, DW_NEVER - 1, keep_result, &result), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(result.status, DW_OK);
	return result.earlier_may_start;
}

static void client_hears_that_an_earlier_one_may_start(void **state)
{
	char folder[TEMP_SIZE], path[TEMP_SIZE], url[TEMP_SIZE + 16];
	dw_token token;
	dw *owner, *client;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "timers.db"));
	owner = open_as(url, DW_OWNER);
	client = open_as(url, DW_CLIENT);
	assert_int_equal(dw_on(owner, "t", hold, &token), DW_OK);
	assert_int_equal(dw_after(owner, "t", "claimed", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(owner), DW_OK); /* it is held, and so claimed */
	assert_int_equal(put(client, "new"), 0);
	assert_int_equal(put(client, "new"), 0);
	assert_int_equal(move(client, "new"), 0);
	assert_int_equal(put(client, "claimed"), 1);
	assert_int_equal(put(client, "claimed"), 1); /* over one of which it was said */
	assert_int_equal(move(client, "claimed"), 1);
	assert_int_equal(put(owner, "claimed"), 0); /* the owner knows what it has started */
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(client_hears_that_an_earlier_one_may_start),
	};

	return cmocka_run_group_tests_name("earlier_sqlite", tests, NULL, NULL);
}
