/* Stores whose server Sentinels name: what is refused in words, and a majority that is away. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/sentinel_town.h"

#define PATIENCE_SECONDS 120

static struct sentinel_town town;

struct owner {
	dw *d;
	int starts, failures, returns;
	char words[DW_MESSAGE_SIZE];
};

static int start_town(void **state)
{
	(void)state;
	sentinel_town_start(&town, 1);
	return 0;
}

static int end_town(void **state)
{
	(void)state;
	sentinel_town_end(&town);
	return 0;
}

static void note(dw *d, const dw_event *event, void *user)
{
	struct owner *owner = user;

	(void)d;
	owner->returns += event->kind == DW_EVENT_STORE_BACK;
	if (event->kind != DW_EVENT_STORE_FAILED)
		return;
	owner->failures++;
	(void)snprintf(owner->words, sizeof owner->words, "%s", event->message);
}

static dw_verdict fired(dw *d, const dw_firing *firing, void *user)
{
	struct owner *owner = user;

	(void)d;
	(void)firing;
	owner->starts++;
	return DW_DONE;
}

static void refuse(const char *url, const char *words)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "sentinel",
			      .role = DW_CLIENT,
			      .open_patience_us = DW_SECONDS(2)};
	dw *d;

	assert_int_equal(dw_open(&d, &options, message), DW_ESTORE);
	if (!strstr(message, words))
		fail_msg("%s: \"%s\" does not say \"%s\"", url, message, words);
	assert_null(strstr(message, "hunter2"));
}

static void what_names_no_server_is_refused_in_words(void **state)
{
	unsigned sentinel = town.sentinels[0].port;
	char url[256];

	(void)state;
	(void)snprintf(url, sizeof url, "redis+sentinel://program:x@127.0.0.1:%u/other", sentinel);
	refuse(url, "the Sentinels watch no master other, but orders: name one of theirs at the");
	(void)snprintf(url, sizeof url, "redis+sentinel://127.0.0.1:%u/orders",
		       town.servers[0].port);
	refuse(url, "it is no Sentinel, but a server: name Sentinels (port 26379), or use "
		    "redis:// or redis+cluster://");
	refuse("redis+sentinel://127.0.0.1:1/orders", "Sentinel 127.0.0.1:1");
	(void)snprintf(url, sizeof url, "redis+sentinel://program:hunter2@127.0.0.1:%u/orders",
		       sentinel);
	refuse(url, "does not accept this user and password");
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", sentinel);
	refuse(url, "redis+sentinel://HOST,HOST,HOST/MASTER");
}

static void open_owner(struct owner *owner)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options,
			      .store = town.url,
			      .name = "sentinel",
			      .role = DW_OWNER,
			      .open_patience_us = DW_SECONDS(60),
			      .lease_us = DW_MINUTES(1),
			      .on_event = note,
			      .on_event_user = owner};

	*owner = (struct owner){.d = NULL};
	if (dw_open(&owner->d, &options, message) != DW_OK)
		fail_msg("%s", message);
	assert_int_equal(dw_on(owner->d, "t", fired, owner), DW_OK);
}

static void await(struct owner *owner, const int *count, int wanted)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;

	while (*count < wanted) {
		struct pollfd ready = {.fd = dw_fd(owner->d), .events = POLLIN};

		assert_true(time(NULL) < end);
		(void)poll(&ready, 1, 10);
		assert_int_equal(dw_turn(owner->d), DW_OK);
	}
}

/* One Sentinel of three is left: nobody can say which server is the master. The lease, which is
 * longer, counts no more. */
static void without_a_majority_nothing_fires(void **state)
{
	struct owner owner;

	(void)state;
	open_owner(&owner);
	assert_int_equal(dw_after(owner.d, "t", "before", 0, NULL, 0), DW_OK);
	await(&owner, &owner.starts, 1);
	redis_server_kill(&town.sentinels[0]);
	redis_server_kill(&town.sentinels[2]);
	await(&owner, &owner.failures, 1);
	if (!strstr(owner.words, "no majority of the Sentinels"))
		fail_msg("%s", owner.words);
	(void)dw_after(owner.d, "t", "after", 0, NULL, 0);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(dw_turn(owner.d), DW_OK);
		(void)poll(NULL, 0, 5);
	}
	assert_int_equal(owner.starts, 1);
	redis_server_restart(&town.sentinels[0]);
	await(&owner, &owner.returns, 1);
	await(&owner, &owner.starts, 2);
	assert_int_equal(dw_close(owner.d, DW_SECONDS(60)), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_names_no_server_is_refused_in_words),
	    cmocka_unit_test(without_a_majority_nothing_fires),
	};

	return cmocka_run_group_tests(tests, start_town, end_town);
}
