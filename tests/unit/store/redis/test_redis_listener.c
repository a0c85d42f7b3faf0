/* The owner's second connection, which hears of what clients write. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

static struct redis_server server;

static dw *open_as(dw_role role)
{
	char url[64];
	char message[DW_MESSAGE_SIZE];
	/* So long a lease is renewed every 90 s: until then the renewals say nothing. */
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "news",
			      .role = role,
			      .lease_us = DW_MINUTES(5)};
	dw *d;

	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

static uint64_t known(const dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	return stats.timers;
}

/* await_known turns the owner for less than the time of a renewal. */
static void await_known(dw *owner, uint64_t count)
{
	for (int i = 0; i < 600 && known(owner) < count; i++) {
		struct pollfd ready = {dw_fd(owner), POLLIN, 0};

		(void)poll(&ready, 1, 100);
		assert_int_equal(dw_turn(owner), DW_OK);
	}
	assert_int_equal(known(owner), count);
}

static void put(dw *client, const char *id)
{
	assert_int_equal(dw_after(client, "t", id, DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(client, DW_SECONDS(60)), DW_OK);
}

static long long kill_any(void)
{
	redisContext *redis = redisConnect("127.0.0.1", (int)server.port);
	redisReply *reply = redisCommand(redis, "CLIENT KILL TYPE pubsub");
	long long killed;

	assert_non_null(reply);
	killed = reply->integer;
	freeReplyObject(reply);
	redisFree(redis);
	return killed;
}

/* kill_listener waits until there is one. */
static void kill_listener(dw *owner)
{
	for (int i = 0; i < 6000; i++) {
		if (kill_any() > 0)
			return;
		assert_int_equal(dw_turn(owner), DW_OK);
		(void)poll(NULL, 0, 10);
	}
	fail_msg("nobody listens");
}

/* What a client writes while nobody listens is read when the listener is back. */
static void listener_that_comes_back_reads_the_inbox(void **state)
{
	dw *owner, *client;

	(void)state;
	redis_server_start(&server, true, NULL);
	owner = open_as(DW_OWNER);
	client = open_as(DW_CLIENT);
	await_known(owner, 0);
	put(client, "heard");
	await_known(owner, 1);
	for (uint64_t i = 2; i <= 4; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "unheard%d", (int)i);
		kill_listener(owner);
		put(client, id); /* the owner has no turn meanwhile */
		await_known(owner, i);
	}
	assert_int_equal(dw_close(client, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(listener_that_comes_back_reads_the_inbox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
