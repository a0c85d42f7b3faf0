/* A server that stands still: every call is answered all the same, within its patience. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "durawheel/durawheel.h"
#include "support/seen.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define IDS 3
#define CALLS 60
#define ROLES 2

static struct redis_server server;

struct asker {
	dw *d;
	int answers;
	int refused;
	int unknown;
	int starts;
	dw_verdict verdict;
	dw_token token;
};

static void answered(dw *d, const dw_result *result, void *user)
{
	struct asker *asker = user;

	(void)d;
	asker->answers++;
	asker->refused += result->status == DW_ESTORE;
	asker->unknown += result->status == DW_EUNKNOWN;
}

static dw_verdict fired(dw *d, const dw_firing *firing, void *user)
{
	struct asker *asker = user;

	(void)d;
	asker->starts++;
	asker->token = *firing->token;
	return asker->verdict;
}

static void open_in(struct asker *asker, dw_role role, const char *name)
{
	char message[DW_MESSAGE_SIZE];
	char url[64];
	dw_options options = {.size = sizeof options, .store = url, .name = name, .role = role};

	*asker = (struct asker){.verdict = DW_DONE};
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	if (dw_open(&asker->d, &options, message) != DW_OK)
		fail_msg("%s", message);
	if (role == DW_OWNER)
		assert_int_equal(dw_on(asker->d, "t", fired, asker), DW_OK);
	assert_int_equal(dw_sync(asker->d, DW_SECONDS(60)), DW_OK);
}

static void open_asker(struct asker *asker, dw_role role)
{
	redis_server_start(&server, true, NULL);
	open_in(asker, role, "patience");
}

static void close_asker(struct asker *asker)
{
	assert_int_equal(dw_close(asker->d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

static void put(struct asker *asker, const char *id, dw_usec delay)
{
	dw_timer timer = {
	    .size = sizeof timer, .id = id, .topic = "t", .due = DW_SECONDS(time(NULL)) + delay};

	assert_int_equal(dw_put(asker->d, &timer, answered, asker), DW_OK);
}

static void turn_for(struct asker *asker, int milliseconds)
{
	struct pollfd ready = {dw_fd(asker->d), POLLIN, 0};

	(void)poll(&ready, 1, milliseconds);
	assert_int_equal(dw_turn(asker->d), DW_OK);
}

static uint64_t count(const struct asker *asker)
{
	uint64_t timers = 0;

	timers = known_timers(asker->d);
	return timers;
}

/* await turns until so many are answered, for six times a call's patience. */
static void await(struct asker *asker, int answers)
{
	time_t end = time(NULL) + 30;

	while (asker->answers < answers && time(NULL) < end)
		turn_for(asker, 20);
	assert_int_equal(asker->answers, answers);
}

static void ask(struct asker *asker, int count)
{
	for (int i = 0; i < count; i++) {
		char id[8];

		(void)snprintf(id, sizeof id, "t%d", i % IDS);
		if (i / IDS % 2 == 0)
			put(asker, id, DW_HOURS(1));
		else
			assert_int_equal(dw_cancel(asker->d, id, answered, asker), DW_OK);
	}
}

/* ask_all: an owner and a client, each in a namespace of its own. */
static void ask_all(struct asker *askers, int calls)
{
	for (int i = 0; i < ROLES; i++)
		ask(&askers[i], calls);
}

/* await_all: both wait at the same time. */
static void await_all(struct asker *askers, int answers)
{
	time_t end = time(NULL) + 30;

	for (int i = 0; i < ROLES; i = askers[i].answers < answers ? 0 : i + 1) {
		assert_true(time(NULL) < end);
		for (int k = 0; k < ROLES; k++)
			turn_for(&askers[k], 10);
	}
	for (int i = 0; i < ROLES; i++)
		assert_int_equal(askers[i].answers, answers);
}

static void calls_on_one_id_share_one_patience(void **state)
{
	static const dw_role roles[ROLES] = {DW_OWNER, DW_CLIENT};
	static const char *const names[ROLES] = {"owner", "client"};
	struct asker askers[ROLES];

	(void)state;
	redis_server_start(&server, true, NULL);
	for (int i = 0; i < ROLES; i++)
		open_in(&askers[i], roles[i], names[i]);
	ask_all(askers, IDS);
	await_all(askers, IDS); /* their shards have met us */
	redis_server_pause(&server);
	ask_all(askers, CALLS);
	await_all(askers, IDS + CALLS);
	for (int i = 0; i < ROLES; i++) {
		assert_int_equal(askers[i].unknown, IDS);
		assert_int_equal(askers[i].refused, CALLS - IDS);
		/* A call behind a put that nobody knows about yet. */
		assert_int_equal(dw_cancel(askers[i].d, "t0", answered, &askers[i]), DW_OK);
	}
	await_all(askers, IDS + CALLS + 1);
	/* Nobody waits for what durawheel sends again. */
	for (int i = 0; i < ROLES; i++)
		assert_int_equal(dw_sync(askers[i].d, DW_SECONDS(60)), DW_OK);
	redis_server_resume(&server);
	for (int i = 0; i < ROLES; i++) {
		put(&askers[i], "t1", DW_HOURS(1));
		assert_int_equal(dw_sync(askers[i].d, DW_SECONDS(60)), DW_OK);
		assert_int_equal(dw_close(askers[i].d, DW_SECONDS(60)), DW_OK);
	}
	redis_server_end(&server);
}

static void close_does_not_wait_for_what_is_sent_again(void **state)
{
	struct asker asker;

	(void)state;
	open_asker(&asker, DW_CLIENT);
	ask(&asker, 1);
	await(&asker, 1);
	redis_server_pause(&server);
	ask(&asker, 1);
	await(&asker, 2);
	assert_int_equal(asker.unknown, 1);
	(void)dw_close(asker.d, DW_HOURS(1)); /* this test's time-out is shorter */
	redis_server_end(&server);
}

/* Nobody knows whether the put was done, and it was not: the client sends it again when the server
 * is back, and not only when it is closed. */
static void put_that_nobody_knows_of_is_sent_again(void **state)
{
	static const char *const keeps_all[] = {"--appendonly", "yes", "--appendfsync", "always",
						NULL};
	time_t end = time(NULL) + 60;
	struct asker client, owner;

	(void)state;
	redis_server_start(&server, true, keeps_all);
	open_in(&client, DW_CLIENT, "patience");
	put(&client, "t", DW_HOURS(1)); /* the shard has met us */
	await(&client, 1);
	redis_server_pause(&server);
	put(&client, "t", 0);
	await(&client, 2);
	assert_int_equal(client.unknown, 1);
	redis_server_kill(&server);
	redis_server_restart(&server);
	open_in(&owner, DW_OWNER, "patience");
	while (owner.starts == 0 && time(NULL) < end) {
		turn_for(&client, 10);
		turn_for(&owner, 10);
	}
	assert_int_equal(owner.starts, 1);
	assert_int_equal(dw_close(client.d, DW_SECONDS(60)), DW_OK);
	close_asker(&owner);
}

/* The verdict of a dw_settle is sent until it is stored; whoever called does not wait for that. */
static void settle_is_answered_and_its_verdict_stored_later(void **state)
{
	struct asker asker;

	(void)state;
	open_asker(&asker, DW_OWNER);
	asker.verdict = DW_HOLD;
	put(&asker, "held", 0);
	while (asker.starts == 0)
		turn_for(&asker, 20);
	redis_server_pause(&server);
	assert_int_equal(dw_settle(asker.d, &asker.token, DW_DONE, -1, answered, &asker), DW_OK);
	await(&asker, 2);
	assert_int_equal(asker.unknown, 1);
	redis_server_resume(&server);
	while (count(&asker) > 0)
		turn_for(&asker, 20);
	assert_int_equal(asker.starts, 1);
	close_asker(&asker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_on_one_id_share_one_patience),
	    cmocka_unit_test(put_that_nobody_knows_of_is_sent_again),
	    cmocka_unit_test(close_does_not_wait_for_what_is_sent_again),
	    cmocka_unit_test(settle_is_answered_and_its_verdict_stored_later),
	};

	return cmocka_run_group_tests_name("redis_patience", tests, NULL, NULL);
}
