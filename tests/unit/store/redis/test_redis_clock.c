/* A server that was lost comes back empty, with an earlier clock: what clients put from then on is
 * newer than what the owner knows, and stays. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "store/redis/store.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(60)
#define IDS 40

struct scene {
	struct redis_server server;
	dw *owner;
	dw *client;
	int losses;
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct scene *scene = user;

	(void)d;
	scene->losses += event->kind == DW_EVENT_LOSS;
}

static dw *open_as(struct scene *scene, dw_role role)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "clock",
			      .role = role,
			      .lease_us = PATIENCE,
			      .on_event = happened,
			      .on_event_user = scene};
	dw *d;

	(void)snprintf(url, sizeof url, "unix://%s", scene->server.path);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	return d;
}

static void put_all(dw *d, const char *data)
{
	for (int i = 0; i < IDS; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "t%d", i);
		assert_int_equal(dw_after(d, "t", id, DW_HOURS(1), data, strlen(data)), DW_OK);
	}
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
}

static void await_loss(struct scene *scene)
{
	for (int i = 0; i < 600 && scene->losses == 0; i++) {
		struct pollfd readable = {.fd = dw_fd(scene->owner), .events = POLLIN};

		(void)poll(&readable, 1, 100);
		assert_int_equal(dw_turn(scene->owner), DW_OK);
	}
	assert_int_equal(scene->losses, 1);
	assert_int_equal(dw_sync(scene->owner, PATIENCE), DW_OK);
}

/* expect_all: each timer is stored with that data. */
static void expect_all(struct scene *scene, const char *data)
{
	redisContext *redis = redisConnectUnix(scene->server.path);
	size_t size = strlen(data);

	assert_true(redis && !redis->err);
	for (int i = 0; i < IDS; i++) {
		redisReply *value;
		char id[16];

		(void)snprintf(id, sizeof id, "t%d", i);
		value = redisCommand(redis, "HGET {clock:%02u}:h %s", crc16_of(id) % 16, id);
		assert_non_null(value);
		assert_int_equal(value->type, REDIS_REPLY_STRING);
		assert_true(value->len > size);
		assert_string_equal(value->str + value->len - size, data);
		freeReplyObject(value);
	}
	redisFree(redis);
}

/* begin: a server that is 30 s ahead, an owner that knows timers on it, and a client. */
static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	assert_non_null(scene);
	assert_int_equal(setenv("LD_PRELOAD", DW_CLOCK_AHEAD, 1), 0);
	assert_int_equal(setenv("DW_CLOCK_AHEAD_S", "30", 1), 0);
	redis_server_start(&scene->server, false, NULL);
	assert_int_equal(unsetenv("LD_PRELOAD"), 0);
	scene->owner = open_as(scene, DW_OWNER);
	scene->client = open_as(scene, DW_CLIENT);
	put_all(scene->owner, "old");
	expect_all(scene, "old");
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(dw_close(scene->client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(scene->owner, PATIENCE), DW_OK);
	redis_server_end(&scene->server);
	free(scene);
	return 0;
}

/* The owner has not heard of the loss yet. */
static void what_clients_put_before_the_owner_is_back_stays(void **state)
{
	struct scene *scene = *state;

	redis_server_kill(&scene->server);
	redis_server_restart(&scene->server);
	put_all(scene->client, "new");
	await_loss(scene);
	expect_all(scene, "new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(what_clients_put_before_the_owner_is_back_stays, begin,
					    end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
