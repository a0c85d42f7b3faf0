/* The server refuses one shard, because the user may not use its keys any more. Its timers wait,
 * all others fire. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "durawheel/metrics.h"
#include "support/sharded.h"

enum { ALL = SHARDS };

static struct redis_server server;
static redisContext *redis;
static unsigned spaces;
static char name[16];

/* refuse takes the right to the shard's keys away, or to the keys of all shards. */
static void refuse(unsigned shard)
{
	char line[1024];
	int size = snprintf(line, sizeof line, "ACL SETUSER default resetkeys ~{%s}*", name);
	redisReply *reply;

	for (unsigned i = 0; i < SHARDS && shard != ALL; i++)
		if (i != shard)
			size += snprintf(line + size, sizeof line - (size_t)size, " ~{%s:%02u}:*",
					 name, i);
	reply = redisCommand(redis, line);
	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s", reply->str);
	freeReplyObject(reply);
}

static void allow(void)
{
	redisReply *reply = redisCommand(redis, "ACL SETUSER default allkeys");

	assert_non_null(reply);
	freeReplyObject(reply);
}

static void assert_told_of(const struct viewer *viewer, unsigned shard)
{
	char key[32];

	(void)snprintf(key, sizeof key, "{%s:%02u}", name, shard);
	assert_non_null(strstr(viewer->trouble, key));
	assert_non_null(strstr(viewer->trouble, "NOPERM"));
}

static void assert_no_other_trouble(const struct viewer *viewer)
{
	assert_int_equal(viewer->events[DW_EVENT_SHARD_FAILED], 1);
	assert_int_equal(viewer->events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(viewer->events[DW_EVENT_STORE_BACK], 0);
	assert_int_equal(viewer->events[DW_EVENT_OWNER_LOST], 0);
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(name, sizeof name, "n%u", ++spaces);
	allow();
	return 0;
}

static void its_timers_wait_and_all_others_fire(void **state)
{
	struct viewer viewer = {0};
	int more;

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	refuse(7);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_FAILED], 1);
	assert_told_of(&viewer, 7);
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	more = sharded_outlast_lease(&viewer, 8);
	assert_no_other_trouble(&viewer);
	allow();
	viewer_await(&viewer, &viewer.starts, TIMERS + more);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_BACK], 1);
	viewer_sync(&viewer, DW_OK);
	more += sharded_outlast_lease(&viewer, 7);
	assert_int_equal(viewer.starts, TIMERS + more);
	assert_no_other_trouble(&viewer);
	viewer_close(&viewer);
}

static void first_shard_is_refused_as_any_other(void **state)
{
	struct viewer viewer = {0};
	int more;

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	refuse(0);
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	more = sharded_outlast_lease(&viewer, 8);
	assert_no_other_trouble(&viewer);
	allow();
	viewer_await(&viewer, &viewer.starts, TIMERS + more);
	viewer_close(&viewer);
}

static void calls_for_other_shards_work(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_HOURS(1));
	refuse(7);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_FAILED], 1);
	for (int i = 0; i < 300; i++) /* with the store's patience this would take 20 minutes */
		assert_int_equal(sharded_put(&viewer, 7, 90), DW_ESTORE);
	for (unsigned i = 0; i < SHARDS; i++)
		assert_int_equal(sharded_put(&viewer, i, 90), i == 7 ? DW_ESTORE : DW_OK);
	allow();
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_BACK], 1);
	assert_int_equal(sharded_put(&viewer, 7, 90), DW_OK);
	viewer_close(&viewer);
}

static void keep_status(dw *d, int status, const dw_store_status *store, void *user)
{
	struct viewer *viewer = user;

	viewer->status = status;
	viewer->count = status == DW_OK ? (size_t)store->pending : 0;
	/* Whoever gets these counts can know that they leave the shard out. */
	assert_int_equal(dw_health(d, viewer->message), status == DW_OK ? DW_ESTORE : DW_OK);
}

/* The first question of a new client meets the refusal. */
static void status_leaves_it_out(void **state)
{
	struct viewer owner = {0}, client = {0};
	char url[TEMP_SIZE + 16];
	dw_options options = {.store = url, .name = name, .role = DW_CLIENT};

	(void)state;
	sharded_open(&owner, &server, name);
	sharded_put_all(&owner, DW_HOURS(1));
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	refuse(7);
	assert_int_equal(viewer_open(&client, &options), DW_OK);
	viewer_sync(&client, dw_get_status(client.d, keep_status, &client));
	assert_int_equal(client.status, DW_OK);
	assert_int_equal(client.count, TIMERS - EACH);
	assert_non_null(strstr(client.message, "shard 7"));
	allow();
	viewer_await(&client, &client.events[DW_EVENT_SHARD_BACK], 1);
	viewer_close(&client);
	viewer_close(&owner);
}

static int drop(struct viewer *viewer, unsigned shard)
{
	return viewer_answer(
	    viewer, dw_dead_drop(viewer->d, sharded_id(shard, 90), 0, viewer_done, viewer));
}

/* A letter of the id may be in a wrong shard, so a drop that finds none asks all others. It leaves
 * out the one that is refused, also if it is the first to meet the refusal. */
static void drop_of_a_letter_asks_no_refused_shard(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_HOURS(1));
	refuse(7);
	assert_int_equal(drop(&viewer, 6), DW_ENOENT);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_FAILED], 1);
	for (unsigned i = 0; i < SHARDS; i++)
		assert_int_equal(drop(&viewer, i), i == 7 ? DW_ESTORE : DW_ENOENT);
	assert_no_other_trouble(&viewer);
	allow();
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_BACK], 1);
	assert_int_equal(drop(&viewer, 7), DW_ENOENT);
	viewer_close(&viewer);
}

/* The letter is behind the refused shard, where another program has put its timer. */
static void drop_finds_a_letter_in_a_wrong_shard(void **state)
{
	struct viewer viewer = {0};
	char from[32], to[32];

	(void)state;
	sharded_open(&viewer, &server, name);
	assert_int_equal(dw_after(viewer.d, "t", sharded_id(6, 90), DW_HOURS(1), NULL, 0), DW_OK);
	viewer_sync(&viewer, DW_OK);
	for (const char *end = "zh"; *end; end++) {
		(void)snprintf(from, sizeof from, "{%s:06}:%c", name, *end);
		(void)snprintf(to, sizeof to, "{%s:09}:%c", name, *end);
		freeReplyObject(redisCommand(redis, "RENAME %s %s", from, to));
	}
	viewer_close(&viewer);
	viewer = (struct viewer){0};
	sharded_open(&viewer, &server, name); /* buries it */
	viewer_await(&viewer, &viewer.events[DW_EVENT_RECOVERED], 1);
	refuse(7);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_FAILED], 1);
	assert_int_equal(drop(&viewer, 6), DW_OK);
	assert_int_equal(drop(&viewer, 6), DW_ENOENT);
	allow();
	viewer_close(&viewer);
}

static void new_owner_loads_all_others(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	viewer_close(&viewer);
	viewer = (struct viewer){0};
	refuse(7);
	sharded_open(&viewer, &server, name);
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_FAILED], 1);
	assert_no_other_trouble(&viewer);
	allow();
	viewer_await(&viewer, &viewer.starts, TIMERS);
	assert_int_equal(viewer.events[DW_EVENT_SHARD_BACK], 1);
	viewer_close(&viewer);
}

/* A whole store that is refused is one outage, and not one for each shard. */
static void all_shards_are_one_outage(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	refuse(ALL);
	viewer_await(&viewer, &viewer.events[DW_EVENT_STORE_FAILED], 1);
	assert_non_null(strstr(viewer.trouble, "NOPERM"));
	allow();
	viewer_await(&viewer, &viewer.starts, TIMERS);
	viewer_await(&viewer, &viewer.events[DW_EVENT_STORE_BACK], 1);
	assert_int_equal(viewer.events[DW_EVENT_STORE_FAILED], 1);
	assert_int_equal(viewer.events[DW_EVENT_SHARD_FAILED], 0);
	viewer_close(&viewer);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(its_timers_wait_and_all_others_fire),
	    CASE(first_shard_is_refused_as_any_other),
	    CASE(calls_for_other_shards_work),
	    CASE(new_owner_loads_all_others),
	    CASE(all_shards_are_one_outage),
	    CASE(drop_of_a_letter_asks_no_refused_shard),
	    CASE(drop_finds_a_letter_in_a_wrong_shard),
	    CASE(status_leaves_it_out),
	};
	int failed;

	redis_server_start(&server, false, NULL);
	redis = redisConnectUnix(server.path);
	assert_non_null(redis);
	failed = cmocka_run_group_tests_name("redis_refused_shard", tests, NULL, NULL);
	redisFree(redis);
	redis_server_end(&server);
	return failed;
}
