/* A slot of a cluster's node moves, and what is asked of its shard is refused (TRYAGAIN). The
 * timers of this shard wait, all others fire. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/free_port.h"
#include "support/sharded.h"

enum { MOVING = 7 };

static const char name[] = "moving";

struct node {
	struct redis_server server;
	char bus[8]; /* the port on which the nodes talk */
	const char *options[5];
	redisContext *redis;
	char id[64];
};

static struct node source, target;

static redisReply *ask(const struct node *node, const char *format, const char *word, int slot)
{
	redisReply *reply = redisCommand(node->redis, format, slot, word);

	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s: %s", format, reply->str);
	return reply;
}

static void tell(const struct node *node, const char *format, const char *word, int slot)
{
	freeReplyObject(ask(node, format, word, slot));
}

static void start_node(struct node *node)
{
	redisReply *reply;

	(void)snprintf(node->bus, sizeof node->bus, "%u", free_port());
	node->options[0] = "--cluster-enabled";
	node->options[1] = "yes";
	node->options[2] = "--cluster-port";
	node->options[3] = node->bus;
	redis_server_start(&node->server, true, node->options);
	node->redis = redisConnectUnix(node->server.path);
	assert_non_null(node->redis);
	reply = redisCommand(node->redis, "CLUSTER MYID");
	assert_non_null(reply);
	(void)snprintf(node->id, sizeof node->id, "%s", reply->str);
	freeReplyObject(reply);
}

/* await_in waits until the node's answer has these words. */
static void await_in(const struct node *node, const char *command, const char *words)
{
	for (int i = 0;; i++) {
		redisReply *reply = redisCommand(node->redis, command);
		bool found = reply && reply->str && strstr(reply->str, words);

		freeReplyObject(reply);
		if (found)
			return;
		assert_true(i < 60000);
		(void)poll(NULL, 0, 10);
	}
}

/* make_cluster gives all slots to the source. */
static void make_cluster(void)
{
	redisReply *reply;

	start_node(&source);
	start_node(&target);
	tell(&source, "CLUSTER ADDSLOTSRANGE 0 16383", "", 0);
	reply = redisCommand(source.redis, "CLUSTER MEET 127.0.0.1 %u %s", target.server.port,
			     target.bus);
	assert_non_null(reply);
	freeReplyObject(reply);
	await_in(&source, "CLUSTER INFO", "cluster_state:ok");
	await_in(&source, "CLUSTER NODES", target.id);
}

static int slot_of(unsigned shard)
{
	char key[32];
	redisReply *reply;
	int slot;

	(void)snprintf(key, sizeof key, "{%s:%02u}:m", name, shard);
	reply = redisCommand(source.redis, "CLUSTER KEYSLOT %s", key);
	assert_non_null(reply);
	slot = (int)reply->integer;
	freeReplyObject(reply);
	return slot;
}

static void its_timers_wait_and_all_others_fire(void **state)
{
	struct viewer viewer = {0};
	int more;

	(void)state;
	sharded_open(&viewer, &source.server, name);
	sharded_put_all(&viewer, DW_SECONDS(2));
	tell(&source, "CLUSTER SETSLOT %d MIGRATING %s", target.id, slot_of(MOVING));
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_FAILED], 1);
	assert_non_null(strstr(viewer.trouble, "{moving:07}"));
	assert_non_null(strstr(viewer.trouble, "TRYAGAIN"));
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	more = sharded_outlast_lease(&viewer, MOVING + 1);
	assert_int_equal(viewer.events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(viewer.events[DW_EVENT_OWNER_LOST], 0);
	tell(&source, "CLUSTER SETSLOT %d STABLE", "", slot_of(MOVING));
	viewer_await(&viewer, &viewer.starts, TIMERS + more);
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_BACK], 1);
	viewer_sync(&viewer, DW_OK);
	more += sharded_outlast_lease(&viewer, MOVING);
	assert_int_equal(viewer.starts, TIMERS + more);
	assert_int_equal(viewer.events[DW_EVENT_SHARD_FAILED], 1);
	viewer_close(&viewer);
}

static void open_standby(struct viewer *viewer)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {
	    .store = url, .name = name, .role = DW_STANDBY, .lease_us = DW_SECONDS(2)};

	(void)snprintf(url, sizeof url, "unix://%s", source.server.path);
	if (viewer_open(viewer, &options) != DW_OK)
		fail_msg("%s", viewer->message);
	assert_int_equal(dw_on(viewer->d, "t", viewer_due, viewer), DW_OK);
}

/* A standby asks for all shards, and the server refuses one. That is no failure of the store. */
static void standby_takes_all_others(void **state)
{
	struct viewer viewer = {0}, standby = {0};

	(void)state;
	sharded_open(&viewer, &source.server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	viewer_close(&viewer);
	tell(&source, "CLUSTER SETSLOT %d MIGRATING %s", target.id, slot_of(MOVING));
	open_standby(&standby);
	viewer_await(&standby, &standby.events[DW_EVENT_OWNER], 1);
	viewer_await(&standby, &standby.events[DW_EVENT_SHARD_FAILED], 1);
	viewer_await(&standby, &standby.starts, TIMERS - EACH);
	assert_int_equal(standby.events[DW_EVENT_STORE_FAILED], 0);
	tell(&source, "CLUSTER SETSLOT %d STABLE", "", slot_of(MOVING));
	viewer_await(&standby, &standby.starts, TIMERS);
	assert_int_equal(standby.events[DW_EVENT_SHARD_FAILED], 1);
	assert_int_equal(standby.events[DW_EVENT_STORE_FAILED], 0);
	viewer_close(&standby);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(its_timers_wait_and_all_others_fire),
	    cmocka_unit_test(standby_takes_all_others),
	};
	int failed;

	make_cluster();
	failed = cmocka_run_group_tests_name("redis_moving_slot", tests, NULL, NULL);
	redisFree(source.redis);
	redisFree(target.redis);
	redis_server_end(&source.server);
	redis_server_end(&target.server);
	return failed;
}
