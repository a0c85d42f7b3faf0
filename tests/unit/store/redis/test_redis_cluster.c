/* A namespace over the three masters of a cluster: its calls, slots that move, and masters that are
 * replaced, in peace or by a kill. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "store/redis/store.h"
#include "support/redis_cluster.h"
#include "support/sharded.h"

static struct redis_cluster cluster;

static unsigned slot_of(const char *name, unsigned shard)
{
	char tag[64];

	(void)snprintf(tag, sizeof tag, "{%s:%02u}", name, shard);
	return crc16_of(tag) % CLUSTER_SLOTS;
}

static void open_as(struct viewer *viewer, const char *name, dw_role role)
{
	dw_options options = {
	    .store = cluster.url, .name = name, .role = role, .lease_us = DW_SECONDS(2)};

	if (viewer_open(viewer, &options) != DW_OK)
		fail_msg("%s", viewer->message);
	if (role != DW_CLIENT)
		assert_int_equal(dw_on(viewer->d, "t", viewer_due, viewer), DW_OK);
}

static void timers_of_all_nodes_fire_and_are_cancelled(void **state)
{
	struct viewer owner = {0}, client = {0};

	(void)state;
	open_as(&owner, "all", DW_OWNER);
	sharded_put_all(&owner, DW_SECONDS(1));
	viewer_await(&owner, &owner.starts, TIMERS);
	sharded_put_all(&owner, DW_HOURS(1));
	open_as(&client, "all", DW_CLIENT);
	for (unsigned i = 0; i < SHARDS; i++)
		assert_int_equal(viewer_answer(&client, dw_cancel(client.d, sharded_id(i, 0),
								  viewer_done, &client)),
				 DW_OK);
	viewer_sync(&client, dw_check(client.d, viewer_check, &client));
	assert_int_equal(client.flaws, 0);
	assert_int_equal(owner.starts, TIMERS);
	viewer_close(&client);
	viewer_close(&owner);
}

/* durawheel(7) has these words. */
#define ACL                                                                                        \
	"ACL SETUSER timers on >secret -@all ~{least:* ~{least}:probe &{least:* "                  \
	"&{least}:ready:* &{least}:free +ping +select +info +cluster|nodes "                       \
	"+client|setname +time +eval +evalsha +script|load +publish +subscribe +type "             \
	"+get +set +del +unlink +pexpire +pttl "                                                   \
	"+hget +hmget +hset +hdel +hlen +hstrlen +hscan +hexists "                                 \
	"+zscan +zadd +zrem +zcard +zcount +zscore +zmscore +zrank +zrevrank "                     \
	"+zrange +zrevrange +zrangebyscore +zrangebylex +zrevrangebylex +exists "                  \
	"+hgetall +hincrby +llen +lpop +rpush +lrange +lindex"

static void user_with_the_least_rights_is_refused_nothing(void **state)
{
	struct viewer owner = {0};
	char url[192];
	dw_options options = {.store = url, .name = "least", .lease_us = DW_SECONDS(2)};

	(void)state;
	redis_cluster_tell(&cluster, ACL);
	(void)snprintf(url, sizeof url, "redis+cluster://timers:secret@127.0.0.1:%u",
		       cluster.servers[2].port);
	if (viewer_open(&owner, &options) != DW_OK)
		fail_msg("%s", owner.message);
	assert_int_equal(dw_on(owner.d, "t", viewer_due, &owner), DW_OK);
	sharded_put_all(&owner, DW_SECONDS(1));
	viewer_await(&owner, &owner.starts, TIMERS);
	viewer_sync(&owner, dw_check(owner.d, viewer_check, &owner));
	assert_int_equal(owner.flaws, 0);
	viewer_close(&owner);
	assert_int_equal(redis_cluster_refusals(&cluster), 0);
}

static bool is_master(const char *name)
{
	char expected[64];

	for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
		(void)snprintf(expected, sizeof expected, "redis://127.0.0.1:%u/0 (cluster)",
			       cluster.servers[i].port); /* it fits */
		if (strcmp(name, expected) == 0)
			return true;
	}
	return false;
}

/* expect_nodes: so many servers have all shards together, and are used. Returns how many shards
 * came from another server. */
static uint64_t expect_nodes(const struct viewer *viewer, size_t count)
{
	dw_node node = {.size = sizeof node};
	uint64_t shards = 0, arrived = 0;
	size_t found = 0;

	while (dw_get_node(viewer->d, found, &node) == DW_OK) {
		assert_true(is_master(node.name));
		assert_true(node.is_connected && node.away_us == 0 && !node.why[0]);
		assert_int_equal(shards & node.shards[0], 0);
		shards |= node.shards[0];
		arrived += node.arrived;
		found++;
	}
	assert_int_equal(found, count);
	assert_int_equal(shards, (1u << SHARDS) - 1);
	return arrived;
}

static void program_is_told_of_the_nodes(void **state)
{
	struct viewer owner = {0};
	dw_node node = {.size = 1};

	(void)state;
	open_as(&owner, "told", DW_OWNER);
	assert_int_equal(expect_nodes(&owner, CLUSTER_MASTERS), 0);
	assert_int_equal(dw_get_node(owner.d, 0, &node), DW_EINVAL);
	assert_int_equal(dw_get_node(owner.d, 0, NULL), DW_EINVAL);
	node.size = sizeof node;
	assert_int_equal(dw_get_node(owner.d, CLUSTER_MASTERS, &node), DW_ENOENT);
	assert_string_equal(dw_last_error(owner.d), "there are no more servers");
	redis_cluster_move(&cluster, slot_of("told", 0), redis_cluster_owner(slot_of("told", 0)),
			   (redis_cluster_owner(slot_of("told", 0)) + 1) % CLUSTER_MASTERS);
	(void)sharded_outlast_lease(&owner, 0);
	assert_int_equal(expect_nodes(&owner, CLUSTER_MASTERS), 1);
	viewer_close(&owner);
}

static void peers_share_the_shards_of_all_nodes(void **state)
{
	struct viewer peers[2] = {{0}, {0}};

	(void)state;
	open_as(&peers[0], "peers", DW_PEER);
	viewer_await(&peers[0], &peers[0].events[DW_EVENT_OWNER], 1);
	open_as(&peers[1], "peers", DW_PEER);
	sharded_put_all(&peers[0], DW_SECONDS(15));
	while (peers[0].starts + peers[1].starts < TIMERS) {
		assert_int_equal(dw_turn(peers[0].d), DW_OK);
		assert_int_equal(dw_turn(peers[1].d), DW_OK);
		(void)poll(NULL, 0, 1); /* the loop waits as long as it takes */
	}
	assert_int_equal(peers[0].starts + peers[1].starts, TIMERS);
	assert_true(peers[0].starts > 0 && peers[1].starts > 0);
	viewer_close(&peers[1]);
	viewer_close(&peers[0]);
}

static void shard_follows_its_slot_there_and_back(void **state)
{
	enum { MOVED = 5 };
	unsigned slot = slot_of("moves", MOVED);
	unsigned from = redis_cluster_owner(slot), to = (from + 1) % CLUSTER_MASTERS;
	struct viewer owner = {0};
	int more;

	(void)state;
	open_as(&owner, "moves", DW_OWNER);
	sharded_put_all(&owner, DW_SECONDS(3));
	redis_cluster_move(&cluster, slot, from, to);
	viewer_await(&owner, &owner.starts, TIMERS);
	more = sharded_outlast_lease(&owner, MOVED);
	redis_cluster_move(&cluster, slot, to, from);
	more += sharded_outlast_lease(&owner, MOVED);
	assert_int_equal(owner.starts, TIMERS + more);
	assert_int_equal(owner.events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(owner.events[DW_EVENT_OWNER_LOST], 0);
	viewer_close(&owner);
}

static void timers_of_a_killed_master_fire_at_its_replica(void **state)
{
	struct viewer owner = {0};

	(void)state;
	open_as(&owner, "killed", DW_OWNER);
	sharded_put_all(&owner, DW_SECONDS(4));
	redis_server_kill(&cluster.servers[1]);
	viewer_await(&owner, &owner.starts, TIMERS);
	viewer_sync(&owner, DW_OK);
	assert_int_equal(owner.starts, TIMERS);
	assert_int_equal(owner.events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(owner.events[DW_EVENT_OWNER_LOST], 0);
	(void)sharded_outlast_lease(&owner, 0);
	viewer_close(&owner);
}

static void timers_fire_after_a_failover_by_hand(void **state)
{
	struct viewer owner = {0};

	(void)state;
	open_as(&owner, "by-hand", DW_OWNER);
	sharded_put_all(&owner, DW_SECONDS(4));
	redis_cluster_fail_over(&cluster, 2 + CLUSTER_MASTERS);
	viewer_await(&owner, &owner.starts, TIMERS);
	viewer_sync(&owner, DW_OK);
	assert_int_equal(owner.starts, TIMERS);
	assert_int_equal(owner.events[DW_EVENT_STORE_FAILED], 0);
	viewer_close(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(timers_of_all_nodes_fire_and_are_cancelled),
	    cmocka_unit_test(user_with_the_least_rights_is_refused_nothing),
	    cmocka_unit_test(program_is_told_of_the_nodes),
	    cmocka_unit_test(peers_share_the_shards_of_all_nodes),
	    cmocka_unit_test(shard_follows_its_slot_there_and_back),
	    cmocka_unit_test(timers_fire_after_a_failover_by_hand),
	    cmocka_unit_test(timers_of_a_killed_master_fire_at_its_replica),
	};
	int failed;

	redis_cluster_start(&cluster);
	failed = cmocka_run_group_tests_name("redis_cluster", tests, NULL, NULL);
	redis_cluster_end(&cluster);
	return failed;
}
