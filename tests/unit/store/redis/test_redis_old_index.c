/* A namespace of a build before 0.1.0 has an index by topic in each shard. An owner deletes it. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <stdio.h>

#include "durawheel/durawheel.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(30)

enum { SHARDS = 16, MEMBERS = 20000 };

static struct redis_server server;

static dw *open_as(dw_role role)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options, .store = url, .name = "old", .role = role};
	dw *d;

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	return d;
}

/* sum_of: the sum of the integers that the command answers for each shard. */
static long long sum_of(redisContext *redis, const char *command)
{
	long long sum = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		redisReply *reply = redisCommand(redis, command, i);

		assert_true(reply && reply->type == REDIS_REPLY_INTEGER);
		sum += reply->integer;
		freeReplyObject(reply);
	}
	return sum;
}

/* make_index: some shards have a long one, others none. */
static void make_index(redisContext *redis)
{
	redisReply *reply;

	for (unsigned i = 0; i < SHARDS; i += 3) {
		reply =
		    redisCommand(redis, "EVAL %s 1 {old:%02u}:k %d",
				 "for n = 1, ARGV[1] do redis.call('ZADD', KEYS[1], 0, 't' .. n)"
				 " end",
				 i, MEMBERS);
		assert_true(reply && reply->type != REDIS_REPLY_ERROR);
		freeReplyObject(reply);
	}
}

static void an_owner_deletes_an_old_index(void **state)
{
	redisContext *redis = redisConnectUnix(server.path);
	dw *d = open_as(DW_OWNER);

	(void)state;
	assert_true(redis && !redis->err);
	assert_int_equal(dw_after(d, "topic", "id", DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	make_index(redis);
	d = open_as(DW_CLIENT);
	assert_int_equal(sum_of(redis, "EXISTS {old:%02u}:k"), 6);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	d = open_as(DW_OWNER);
	assert_int_equal(sum_of(redis, "EXISTS {old:%02u}:k"), 0);
	assert_int_equal(sum_of(redis, "HLEN {old:%02u}:h"), 1);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	redisFree(redis);
}

static int set_up(void **state)
{
	(void)state;
	redis_server_start(&server, false, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	redis_server_end(&server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(an_owner_deletes_an_old_index, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
