/* What a change of settings costs the server, in commands: the same beside few and beside many
 * topics. The commands that are counted are those that only the scripts of topics call. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/store.h"
#include "support/setter.h"

enum { AT_ONCE = 100, BURSTS = 6 };

struct costs {
	long all;   /* calls */
	long lists; /* of HGETALL: all topics of a shard were read */
};

static int done_count, failed_count;

static void count_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	(void)user;
	done_count += result->status == DW_OK;
	failed_count += result->status != DW_OK;
}

static void change(struct setter *t, int topic, uint32_t retries)
{
	dw_topic_settings settings = {.size = sizeof settings, .retries_max = retries};
	char name[16];

	(void)snprintf(name, sizeof name, "t%d", topic);
	assert_int_equal(dw_topic_set(t->d, name, &settings, count_done, NULL), DW_OK);
}

static void make_topics(struct setter *t, int count)
{
	for (int i = 0; i < count; i++) {
		change(t, i, 1);
		if (i % AT_ONCE == AT_ONCE - 1)
			setter_sync_all(t);
	}
	setter_sync_all(t);
}

/* calls_of: how often the server has carried out a command. */
static long calls_of(const char *stats, const char *command)
{
	char name[64];
	const char *at;

	(void)snprintf(name, sizeof name, "cmdstat_%s:calls=", command);
	at = strstr(stats, name);
	return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

static struct costs costs_now(struct setter *t)
{
	static const char *const counted[] = {"hget",    "hgetall", "hexists", "type",
					      "hincrby", "llen",    "zrange"};
	redisReply *reply = redisCommand(t->redis, "INFO commandstats");
	struct costs costs = {0};

	assert_true(reply && reply->type == REDIS_REPLY_STRING);
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
		costs.all += calls_of(reply->str, counted[i]);
	costs.lists = calls_of(reply->str, "hgetall");
	freeReplyObject(reply);
	return costs;
}

/* cost_of_change: of a client's change, until the owner has read it. */
static struct costs cost_of_change(struct setter *t, struct setter *client, uint32_t retries)
{
	struct costs costs;

	setter_await_renewals(t);
	freeReplyObject(redisCommand(t->redis, "CONFIG RESETSTAT"));
	change(client, 5, retries);
	setter_sync_all(client);
	setter_await_renewals(t);
	costs = costs_now(t);
	assert_true(setter_has_everywhere(t, "t5", "retries="));
	return costs;
}

static void a_change_costs_the_same_beside_many_topics(void **state)
{
	struct setter *t = *state, client = {.redis = t->redis};
	struct costs few, many;

	setter_open_as(&client, DW_CLIENT);
	make_topics(t, 10);
	few = cost_of_change(t, &client, 2);
	make_topics(t, 300);
	many = cost_of_change(t, &client, 3);
	assert_int_equal(few.lists, 0);
	assert_int_equal(many.lists, 0);
	assert_true(many.all <= 1000); /* 16 shards; the owner may read twice */
	assert_int_equal(failed_count, 0);
	setter_close(&client);
}

static void many_changes_in_a_row_are_done(void **state)
{
	struct setter *t = *state, client = {.redis = t->redis};

	setter_open_as(&client, DW_CLIENT);
	make_topics(&client, 300);
	done_count = failed_count = 0;
	for (int i = 0; i < BURSTS; i++) {
		for (int k = 0; k < AT_ONCE; k++)
			change(i % 2 ? t : &client, (i * AT_ONCE + k) % 300, 3);
		setter_sync_all(i % 2 ? t : &client);
	}
	assert_int_equal(failed_count, 0);
	assert_int_equal(done_count, AT_ONCE * BURSTS);
	setter_await_everywhere(t, "t0", "retries=3");
	setter_await_everywhere(t, "t299", "retries=3");
	setter_close(&client);
}

/* Changes that another program has made by hand are no changes that a shard remembers. */
static void settings_deleted_by_hand_between_changes_come_back(void **state)
{
	struct setter *t = *state;
	char text[SETTER_TEXT_SIZE];

	setter_set_three(t);
	setter_await_renewals(t);
	setter_ask(t, "HDEL {set:07}:t kept", text);
	assert_string_equal(text, "1");
	setter_set(t, "queue", (dw_topic_settings){.queue = 1, .max = 6});
	setter_await_everywhere(t, "kept", "keep=");
	setter_await_everywhere(t, "queue", "max=6");
}

/* A drop by another handle reaches the owner as a change. */
static void a_dropped_topic_is_a_change(void **state)
{
	struct setter *t = *state, client = {.redis = t->redis};

	setter_set_three(t);
	setter_open_as(&client, DW_CLIENT);
	setter_set(&client, "queue", (dw_topic_settings){.paused = DW_PAUSE_DELIVERY});
	setter_await_renewals(t);
	assert_int_equal(setter_put(t, "queue", 0), DW_OK);
	setter_await_renewals(t);
	assert_int_equal(t->fired, 0);
	setter_drop(&client, "queue");
	for (int i = 0; i < SETTER_TRIES && t->fired == 0; i++)
		setter_turn(t);
	assert_int_equal(t->fired, 1);
	setter_list(&client, "queue");
	assert_int_equal(client.info.is_set, 0);
	setter_close(&client);
}

/* More changes than a shard remembers are still all read. */
static void the_owner_learns_more_changes_than_a_shard_remembers(void **state)
{
	struct setter *t = *state, client = {.redis = t->redis};

	setter_set(t, "t0", (dw_topic_settings){.retries_max = 9});
	setter_await_renewals(t);
	setter_open_as(&client, DW_CLIENT);
	setter_set(&client, "t0", (dw_topic_settings){.paused = DW_PAUSE_DELIVERY});
	for (int i = 1; i < 150; i++)
		change(&client, i, 2);
	setter_sync_all(&client);
	setter_await_renewals(t);
	assert_int_equal(setter_put(t, "t0", 0), DW_OK);
	setter_await_renewals(t);
	assert_int_equal(t->fired, 0);
	setter_close(&client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_change_costs_the_same_beside_many_topics,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(many_changes_in_a_row_are_done, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(settings_deleted_by_hand_between_changes_come_back,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_dropped_topic_is_a_change, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(the_owner_learns_more_changes_than_a_shard_remembers,
					    setter_set_up, setter_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
