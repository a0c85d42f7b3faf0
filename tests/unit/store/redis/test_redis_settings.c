/* A live owner on a real server that loses the settings of topics: the owner writes them again. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/store.h"
#include "support/setter.h"

static void an_emptied_server_gets_the_settings_again(void **state)
{
	struct setter *t = *state;

	setter_set_three(t);
	assert_int_equal(setter_put(t, "queue", DW_SECONDS(2)), DW_OK);
	setter_flush_all(t);
	setter_await_loss(t);
	setter_await_three(t);
	assert_int_equal(setter_put(t, "paused", DW_HOURS(1)), DW_EPAUSED);
	setter_await_message(t, "queue");
	assert_int_equal(t->fired, 0);
	setter_list(t, "queue");
	assert_int_equal(t->info.settings.max, 5);
}

/* A client may write to a shard as soon as it is acquired: even then the intake is closed. */
static void a_shard_that_is_acquired_refuses_what_a_client_puts(void **state)
{
	struct setter *t = *state, client = {.redis = NULL};
	char command[64], era[SETTER_TEXT_SIZE] = "";

	setter_set_three(t);
	(void)snprintf(command, sizeof command, "HGET {set:%02u}:m era",
		       crc16_of("paused") % SETTER_SHARDS);
	setter_flush_all(t);
	for (int i = 0; i < SETTER_TRIES && !era[0]; i++) {
		setter_turn(t);
		setter_ask(t, command, era);
	}
	setter_open_as(&client, DW_CLIENT);
	assert_int_equal(setter_put(&client, "paused", DW_HOURS(1)), DW_EPAUSED);
	setter_close(&client);
}

/* The settings are there before the first timer: at no moment of the rebuild a shard has timers and
 * no settings. */
static void a_rebuilt_shard_has_settings_before_timers(void **state)
{
	static const char look[] = "local wrong = 0 for i = 0, 15 do "
				   "local p = ('{set:%02d}:'):format(i) "
				   "if redis.call('EXISTS', p .. 'h') == 1 and "
				   "redis.call('EXISTS', p .. 't') == 0 then wrong = wrong + 1 end "
				   "end return wrong";
	struct setter *t = *state;
	redisReply *reply;

	setter_set_three(t);
	for (int i = 0; i < 200; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "id%d", i);
		assert_int_equal(dw_after(t->d, "timers", id, DW_HOURS(1), NULL, 0), DW_OK);
	}
	setter_sync_all(t);
	setter_flush_all(t);
	for (int i = 0; i < SETTER_TRIES && t->losses == 0; i++) {
		setter_turn(t);
		reply = redisCommand(t->redis, "EVAL %s 0", look);
		assert_int_equal(reply->integer, 0);
		freeReplyObject(reply);
	}
	assert_true(t->losses > 0);
}

static void an_emptied_shard_gets_the_settings_again(void **state)
{
	static const char empty[] = "local n = 0 for _, key in ipairs(redis.call('KEYS', ARGV[1])) "
				    "do n = n + redis.call('DEL', key) end return n";
	struct setter *t = *state;
	char pattern[32];

	setter_set_three(t);
	assert_int_equal(setter_put(t, "queue", DW_SECONDS(2)), DW_OK);
	(void)snprintf(pattern, sizeof pattern, "{set:%02u}:*", crc16_of("queue") % SETTER_SHARDS);
	freeReplyObject(redisCommand(t->redis, "EVAL %s 0 %s", empty, pattern));
	setter_await_loss(t);
	setter_await_three(t);
	setter_await_message(t, "queue");
	assert_int_equal(t->fired, 0);
}

/* Nothing but `t` is gone: a renewal notices it. */
static void deleted_settings_come_back(void **state)
{
	struct setter *t = *state;
	char text[SETTER_TEXT_SIZE];

	setter_set_three(t);
	setter_await_renewals(t);
	setter_ask(t, "DEL {set:07}:t", text);
	assert_string_equal(text, "1");
	setter_await_three(t);
	assert_int_equal(t->losses, 0);
}

/* A pause keeps the other settings, so it waits until the owner has written them again. */
static void a_pause_right_after_a_loss_keeps_the_settings(void **state)
{
	struct setter *t = *state;

	setter_set(t, "queue", (dw_topic_settings){.queue = 1, .max = 5});
	setter_flush_all(t);
	assert_int_equal(dw_topic_pause(t->d, "queue", DW_PAUSE_DELIVERY, setter_done, t), DW_OK);
	setter_sync_all(t);
	assert_int_equal(t->status, DW_OK);
	setter_await_everywhere(t, "queue", "paused=1");
	assert_true(setter_has_everywhere(t, "queue", "max=5"));
}

static void a_topic_that_was_dropped_stays_dropped_after_a_loss(void **state)
{
	struct setter *t = *state;
	char text[SETTER_TEXT_SIZE];

	setter_set_three(t);
	setter_copy_in(t, 3, "kept", text);
	setter_drop(t, "kept");
	setter_await_everywhere(t, "kept", "");
	assert_int_equal(setter_put(t, "other", DW_HOURS(1)), DW_OK);
	setter_flush_all(t);
	setter_write_copy(t, 3, "kept", text); /* as if this shard was restored from an old copy */
	setter_await_loss(t);
	setter_await_everywhere(t, "kept", "");
	setter_await_everywhere(t, "queue", "queue=1");
	setter_list(t, "kept");
	assert_int_equal(t->listed, 0);
}

/* A standby is faster than the owner, and acquires the emptied server. The owner hands over what it
 * knows: first the settings, so that no overdue timer of a queue starts a handler. */
static void a_faster_standby_is_handed_the_settings(void **state)
{
	struct setter *t = *state, standby = {.redis = t->redis};
	dw_usec due;

	setter_set_three(t);
	setter_set(t, "long", (dw_topic_settings){.queue = 1});
	setter_await_renewals(t);
	setter_open_as(&standby, DW_STANDBY);
	assert_int_equal(dw_on(standby.d, "*", setter_handle, &standby), DW_OK);
	due = dw_now(t->d) + DW_MILLISECONDS(300);
	for (int i = 0; i < 100; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "id%d", i);
		assert_int_equal(dw_after(t->d, "long", id, DW_MILLISECONDS(300), NULL, 0), DW_OK);
	}
	setter_sync_all(t);
	setter_flush_all(t);
	while (standby.owned == 0 || dw_now(t->d) < due)
		setter_turn(&standby); /* meanwhile the owner does nothing */
	for (int i = 0; i < SETTER_TRIES && setter_queued(t, "long") < 100 && standby.fired == 0;
	     i++) {
		setter_turn(&standby);
		setter_turn(t);
	}
	assert_int_equal(standby.fired + t->fired, 0);
	assert_int_equal(setter_queued(t, "long"), 100);
	assert_true(setter_has_everywhere(t, "paused", "paused=2"));
	setter_close(&standby);
}

/* Of as many topics as may be, each can be changed, and no other one made. */
static void topics_at_the_limit_can_be_changed(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings, .retries_max = 2};
	struct setter *t = *state;
	char name[16];

	setter_set_three(t);
	for (int i = 3; i < DW_TOPICS_MAX; i++) {
		(void)snprintf(name, sizeof name, "p%d", i);
		setter_write_copy(t, 3, name, "retries=1 ver=1");
	}
	setter_set(t, "queue", (dw_topic_settings){.queue = 1, .max = 6});
	assert_int_equal(dw_topic_set(t->d, "more", &settings, setter_done, t), DW_OK);
	setter_sync_all(t);
	assert_int_equal(t->status, DW_ELIMIT);
	setter_drop(t, "kept");
	setter_set(t, "more", settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(an_emptied_server_gets_the_settings_again,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_shard_that_is_acquired_refuses_what_a_client_puts,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_rebuilt_shard_has_settings_before_timers,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(an_emptied_shard_gets_the_settings_again, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(deleted_settings_come_back, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_pause_right_after_a_loss_keeps_the_settings,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_topic_that_was_dropped_stays_dropped_after_a_loss,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(topics_at_the_limit_can_be_changed, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_faster_standby_is_handed_the_settings, setter_set_up,
					    setter_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
