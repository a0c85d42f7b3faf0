/* The index by topic on a real server: other programs delete and write its members, and the owner
 * corrects it. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "store/redis/store.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(30)
#define LATER DW_HOURS(1)

enum { TIMERS = 20, SHARDS = 16, TRIES = 600 };

struct indexed {
	dw *d;
	redisContext *redis;
	uint64_t flaws;
	bool names_index; /* a flaw does */
	size_t listed;
};

static struct redis_server server;

/* ---- The owner ------------------------------------------------------------------------------- */

static void count_page(dw *d, int status, const dw_info *items, size_t count, const dw_cursor *next,
		       void *user)
{
	struct indexed *t = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(items[i].topic, "t");
	t->listed = count;
}

/* list_topic: how many timers the list of the topic has. */
static size_t list_topic(struct indexed *t)
{
	assert_int_equal(dw_list(t->d, &(dw_select){.size = sizeof(dw_select), .topic = "t"}, NULL,
				 2 * TIMERS, count_page, t),
			 DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
	return t->listed;
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct indexed *t = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	t->flaws = report->flaw_count;
	for (size_t i = 0; i < report->flaw_count && i < DW_FLAWS_MAX; i++)
		t->names_index |= strstr(report->flaws[i].what, "index by topic") != NULL;
}

static void check(struct indexed *t)
{
	t->names_index = false;
	assert_int_equal(dw_check(t->d, checked, t), DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
}

static void turn(struct indexed *t)
{
	struct pollfd readable = {.fd = dw_fd(t->d), .events = POLLIN};

	(void)poll(&readable, 1, 50);
	assert_int_equal(dw_turn(t->d), DW_OK);
}

static void open_as(struct indexed *t, dw_role role)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "index",
			      .role = role,
			      .lease_us = DW_SECONDS(1)};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&t->d, &options, NULL), DW_OK);
}

static void put(struct indexed *t, const char *topic)
{
	char id[24];

	for (int i = 0; i < TIMERS; i++) {
		(void)snprintf(id, sizeof id, "%s%d", topic, i);
		assert_int_equal(dw_after(t->d, topic, id, LATER, NULL, 0), DW_OK);
	}
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
}

static int set_up(void **state)
{
	static struct indexed indexed;

	indexed = (struct indexed){0};
	redis_server_start(&server, false, NULL);
	indexed.redis = redisConnectUnix(server.path);
	assert_true(indexed.redis && !indexed.redis->err);
	open_as(&indexed, DW_OWNER);
	put(&indexed, "t");
	put(&indexed, "other");
	*state = &indexed;
	return 0;
}

static int tear_down(void **state)
{
	struct indexed *t = *state;

	redisFree(t->redis);
	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	redis_server_end(&server);
	return 0;
}

/* ---- Other programs -------------------------------------------------------------------------- */

/* run makes a script look at the index of the shard of "t3"; the script's number. */
static long long run(struct indexed *t, const char *script)
{
	redisReply *reply =
	    redisCommand(t->redis, "EVAL %s 1 {index:%02u}:k", script, crc16_of("t3") % SHARDS);
	long long number;

	assert_true(reply && reply->type == REDIS_REPLY_INTEGER);
	number = reply->integer;
	freeReplyObject(reply);
	return number;
}

/* delete_all deletes the indexes of all shards. */
static void delete_all(struct indexed *t)
{
	for (unsigned i = 0; i < SHARDS; i++)
		freeReplyObject(redisCommand(t->redis, "DEL {index:%02u}:k", i));
}

static long long members(struct indexed *t)
{
	long long sum = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		redisReply *reply = redisCommand(t->redis, "ZCARD {index:%02u}:k", i);

		sum += reply->integer;
		freeReplyObject(reply);
	}
	return sum;
}

#define FIND                                                                                       \
	"local found for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do"               \
	" if name:sub(11) == 't3' then found = name end end "

/* await_whole: the owner leaves no flaw, and each timer has its member. */
static void await_whole(struct indexed *t)
{
	for (int i = 0; i < TRIES; i++) {
		check(t);
		if (t->flaws == 0 && members(t) == (long long)2 * TIMERS)
			return;
		turn(t);
	}
	fail_msg("%llu flaws are left", (unsigned long long)t->flaws);
}

/* see_flaw: a check names the index, unless the owner was faster. */
static void see_flaw(struct indexed *t)
{
	check(t);
	assert_true(t->names_index || t->flaws == 0);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_deleted_index_is_built_again(void **state)
{
	struct indexed *t = *state;

	delete_all(t);
	assert_int_equal(list_topic(t), TIMERS); /* from all timers */
	see_flaw(t);
	await_whole(t);
	assert_int_equal(list_topic(t), TIMERS);
}

/* So it is with a namespace of a library that had no index. */
static void an_owner_that_finds_no_index_builds_it(void **state)
{
	struct indexed *t = *state;

	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	delete_all(t);
	open_as(t, DW_CLIENT);
	assert_int_equal(list_topic(t), TIMERS);
	check(t);
	assert_true(t->names_index);
	assert_int_equal(members(t), 0); /* a client only reads */
	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	open_as(t, DW_OWNER);
	await_whole(t);
	assert_int_equal(list_topic(t), TIMERS);
}

static void a_deleted_member_comes_back(void **state)
{
	struct indexed *t = *state;

	assert_int_equal(run(t, FIND "return redis.call('ZREM', KEYS[1], found)"), 1);
	assert_int_equal(list_topic(t), TIMERS);
	see_flaw(t);
	await_whole(t);
}

static void a_foreign_member_goes(void **state)
{
	static const char *const foreign[] = {"''", "'x'", "'t\\0'", "'t\\0' .. ('x'):rep(600)",
					      "'t\\0\\0\\0\\0\\0\\0\\0\\0\\9nobody'"};
	struct indexed *t = *state;
	char script[128];

	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		(void)snprintf(script, sizeof script, "return redis.call('ZADD', KEYS[1], %s)",
			       i % 2 ? "0, 'y', 0, 'z'" : "5, 'y'");
		assert_true(run(t, script) > 0);
		(void)snprintf(script, sizeof script, "return redis.call('ZADD', KEYS[1], 0, %s)",
			       foreign[i]);
		assert_int_equal(run(t, script), 1);
		assert_int_equal(list_topic(t), TIMERS);
		see_flaw(t);
		await_whole(t);
	}
}

/* The counts are equal then: a list that meets the wrong member notices it. */
static void a_member_with_another_deadline_is_corrected(void **state)
{
	struct indexed *t = *state;

	assert_int_equal(run(t, FIND "redis.call('ZREM', KEYS[1], found) return "
				     "redis.call('ZADD', KEYS[1], 0, "
				     "found:sub(1, 9) .. '\\1' .. found:sub(11))"),
			 1);
	(void)list_topic(t);
	await_whole(t);
	assert_int_equal(list_topic(t), TIMERS);
}

static void an_emptied_server_gets_the_index_again(void **state)
{
	struct indexed *t = *state;

	freeReplyObject(redisCommand(t->redis, "FLUSHALL"));
	for (int i = 0; i < TRIES && members(t) < (long long)2 * TIMERS; i++)
		turn(t);
	await_whole(t);
	assert_int_equal(list_topic(t), TIMERS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_deleted_index_is_built_again),
	    CASE(an_owner_that_finds_no_index_builds_it),
	    CASE(a_deleted_member_comes_back),
	    CASE(a_foreign_member_goes),
	    CASE(a_member_with_another_deadline_is_corrected),
	    CASE(an_emptied_server_gets_the_index_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
