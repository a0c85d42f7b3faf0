/* Shards with different settings of topics, on a real server: the newest copy counts, and an owner
 * writes it where it is missing. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/wire/script.h"
#include "store/redis/store.h"
#include "support/setter.h"

/* ---- Differences that a new owner finds ------------------------------------------------------ */

static void a_new_owner_mends_an_older_copy(void **state)
{
	struct setter *t = *state;

	setter_set_three(t);
	setter_close(t);
	setter_write_copy(t, 5, "paused", "ver=5");
	setter_write_copy(t, 5, "queue", "max=9");
	setter_open_as(t, DW_OWNER);
	setter_await_three(t);
	assert_int_equal(setter_put(t, "paused", DW_HOURS(1)), DW_EPAUSED);
}

static void the_newest_copy_of_any_shard_wins(void **state)
{
	struct setter *t = *state;

	setter_set_three(t);
	setter_close(t);
	setter_write_copy(t, 9, "queue", "queue=1 max=77 ver=8000000000000000");
	setter_open_as(t, DW_CLIENT);
	setter_list(t, "queue");
	assert_int_equal(t->info.settings.max, 77);
	assert_false(setter_has_everywhere(t, "queue", "max=77")); /* a client only reads */
	setter_close(t);
	setter_open_as(t, DW_OWNER);
	setter_await_everywhere(t, "queue", "max=77");
	setter_list(t, "queue");
	assert_int_equal(t->info.settings.max, 77);
	setter_set(t, "queue",
		   (dw_topic_settings){.queue = 1, .max = 78}); /* newer than even that */
	setter_await_everywhere(t, "queue", "max=78 ver=8000000000000001");
}

static void a_new_owner_brings_no_dropped_topic_back(void **state)
{
	struct setter *t = *state;
	char text[SETTER_TEXT_SIZE];

	setter_set_three(t);
	setter_copy_in(t, 3, "paused", text);
	setter_drop(t, "paused");
	setter_close(t);
	setter_write_copy(t, 3, "paused", text);
	setter_open_as(t, DW_OWNER);
	setter_await_everywhere(t, "paused", "");
	assert_int_equal(setter_marks(t, "closed", "paused\n"), 0);
	assert_int_equal(setter_put(t, "paused", DW_HOURS(1)), DW_OK);
	setter_set(t, "paused",
		   (dw_topic_settings){.retries_max = 3}); /* it may come back by a call */
	setter_await_everywhere(t, "paused", "retries=3");
}

/* ---- Changes where the shard of the topic's name lacks the settings -------------------------- */

static void empty_home(struct setter *t, const char *topic)
{
	static const char empty[] = "local n = 0 for _, key in ipairs(redis.call('KEYS', ARGV[1])) "
				    "do n = n + redis.call('DEL', key) end return n";
	char pattern[32];

	(void)snprintf(pattern, sizeof pattern, "{set:%02u}:*", crc16_of(topic) % SETTER_SHARDS);
	freeReplyObject(redisCommand(t->redis, "EVAL %s 0 %s", empty, pattern));
}

static void pause_topic(struct setter *t, const char *topic)
{
	assert_int_equal(dw_topic_pause(t->d, topic, DW_PAUSE_DELIVERY, setter_done, t), DW_OK);
	setter_sync_all(t);
	assert_int_equal(t->status, DW_OK);
}

static void a_change_after_the_home_shard_was_emptied_keeps_the_rest(void **state)
{
	struct setter *t = *state;

	setter_set_three(t);
	empty_home(t, "queue");
	pause_topic(t, "queue");
	setter_await_everywhere(t, "queue", "paused=1 queue=1 max=5");
	setter_close(t);
	setter_open_as(t, DW_CLIENT);
	empty_home(t, "queue");
	assert_int_equal(dw_topic_pause(t->d, "queue", 0, setter_done, t), DW_OK);
	setter_sync_all(t);
	setter_await_everywhere(t, "queue", "paused=0 queue=1 max=5");
}

static void a_change_of_an_older_copy_keeps_the_newest(void **state)
{
	struct setter *t = *state;
	unsigned home = crc16_of("queue") % SETTER_SHARDS;

	setter_set_three(t);
	setter_close(t);
	setter_write_copy(t, home, "queue", "retries=9 ver=5");
	setter_open_as(t, DW_CLIENT);
	pause_topic(t, "queue");
	setter_await_everywhere(t, "queue", "paused=1 queue=1 max=5");
}

static void a_change_brings_no_dropped_settings_back(void **state)
{
	struct setter *t = *state;
	unsigned home = crc16_of("queue") % SETTER_SHARDS;
	char text[SETTER_TEXT_SIZE];

	setter_set_three(t);
	setter_copy_in(t, home, "queue", text);
	setter_drop(t, "queue");
	setter_close(t);
	empty_home(t, "queue");
	setter_write_copy(t, home, "queue", text);
	setter_open_as(t, DW_CLIENT);
	pause_topic(t, "queue");
	setter_copy_in(t, home, "queue", text);
	assert_non_null(strstr(text, "paused=1"));
	assert_null(strstr(text, "max=5"));
}

static void a_drop_finds_the_settings_in_any_shard(void **state)
{
	struct setter *t = *state;

	setter_set_three(t);
	setter_close(t);
	setter_open_as(t, DW_CLIENT);
	empty_home(t, "kept");
	setter_drop(t, "kept");
	assert_true(setter_has_everywhere(t, "kept", ""));
}

/* ---- The script ------------------------------------------------------------------------------ */

/* copy_by_script writes settings into shard 4; the number of those that are newer now. */
static long long copy_by_script(struct setter *t, const char *topic, const char *text)
{
	static char room[SCRIPT_TEXT_MAX];
	const struct redis_script *script = &redis_scripts[SCRIPT_TOPIC_COPY];
	redisReply *reply = redisCommand(t->redis,
					 "EVAL %b 4 {set:04}:m {set:04}:t {set:04}:u {set:04}:n "
					 "3 %s %s %s",
					 script_text(script, room), script->size, "", topic, text);
	long long count;

	assert_true(reply && reply->type == REDIS_REPLY_ARRAY);
	count = reply->element[1]->integer;
	freeReplyObject(reply);
	return count;
}

static void an_older_copy_replaces_nothing(void **state)
{
	struct setter *t = *state;
	char text[SETTER_TEXT_SIZE];

	assert_int_equal(copy_by_script(t, "a", "max=1 ver=10"), 1);
	assert_int_equal(copy_by_script(t, "a", "max=2 ver=9"), 0);
	assert_int_equal(copy_by_script(t, "a", "ver=9 gone=1"), 0);
	setter_copy_in(t, 4, "a", text);
	assert_string_equal(text, "max=1 ver=10");
	assert_int_equal(copy_by_script(t, "a", "ver=11 gone=1"), 1);
	assert_int_equal(copy_by_script(t, "a", "max=3 ver=10"), 0);
	setter_copy_in(t, 4, "a", text);
	assert_string_equal(text, "");
	assert_int_equal(copy_by_script(t, "a", "max=4 ver=12"), 1);
	setter_ask(t, "HLEN {set:04}:u", text);
	assert_string_equal(text, "0");
}

static void the_oldest_drops_are_forgotten(void **state)
{
	struct setter *t = *state;
	char topic[16], drops[32], text[SETTER_TEXT_SIZE];

	for (int i = 1; i <= 5; i++) {
		(void)snprintf(topic, sizeof topic, "t%d", i);
		(void)snprintf(drops, sizeof drops, "ver=%d gone=1", i);
		assert_int_equal(copy_by_script(t, topic, drops), 1);
	}
	setter_ask(t, "HLEN {set:04}:u", text);
	assert_string_equal(text, "3");
	setter_ask(t, "HGET {set:04}:u t2", text);
	assert_string_equal(text, "");
	setter_ask(t, "HGET {set:04}:u t3", text);
	assert_string_equal(text, "3");
}

/* ---- The check ------------------------------------------------------------------------------- */

static void a_check_names_settings_that_differ(void **state)
{
	struct setter *t = *state;

	setter_set_three(t);
	setter_close(t);
	setter_open_as(t, DW_CLIENT);
	setter_check(t);
	assert_int_equal(t->flaws, 0);
	setter_write_copy(t, 5, "foreign", "max=1 ver=5");
	setter_check(t);
	assert_int_equal(t->flaws, 1);
	assert_string_equal(t->flaw, "foreign: the topic has older settings, or none, in shard "
				     "0: an owner writes the newest ones into every shard");
	setter_write_copy(t, 6, "kept",
			  "max=1 ver=9"); /* the newest version is too young to be judged */
	setter_check(t);
	assert_int_equal(t->flaws, 1);
	setter_close(t);
	setter_open_as(t, DW_OWNER);
	setter_await_everywhere(t, "foreign", "max=1");
	setter_check(t);
	assert_int_equal(t->flaws, 0);
}

static void expect_flaw(struct setter *t, const char *flaw)
{
	setter_check(t);
	assert_int_equal(t->flaws, 1);
	assert_string_equal(t->flaw, flaw);
}

/* Settings that were damaged by hand. A change writes a sound copy over them, and so does an
 * owner. */
static void a_check_names_damaged_settings(void **state)
{
	struct setter *t = *state;
	dw_topic_settings none = {.size = sizeof none};

	for (unsigned i = 0; i < SETTER_SHARDS; i++)
		setter_write_copy(t, i, "q", "queue=1 max=5 ver=5");
	setter_close(t);
	setter_write_copy(t, 7, "q", "queue=1 max=5x ver=9");
	setter_open_as(t, DW_CLIENT);
	expect_flaw(t, "q: the settings in shard 7 are damaged (\"max=5x\" is not NAME=NUMBER): "
		       "\"durawheel topic set TOPIC\" writes those of another shard over them");
	setter_write_copy(t, 7, "q", "queue=1 max=50000000 ver=5");
	expect_flaw(t, "q: the settings in shard 7 are damaged (max is 50000000: at most "
		       "10000000): \"durawheel topic set TOPIC\" writes those of another shard "
		       "over them");
	setter_write_copy(t, crc16_of("q") % SETTER_SHARDS, "q", "garbage");
	assert_int_equal(dw_topic_change(t->d, "q", &none, &none, setter_done, t), DW_OK);
	setter_await_everywhere(t, "q", "queue=1 max=5 ver=");
	setter_check(t);
	assert_int_equal(t->flaws, 0);
	setter_write_copy(t, 7, "q", "garbage");
	setter_close(t);
	setter_open_as(t, DW_OWNER);
	setter_await_everywhere(t, "q", "queue=1 max=5 ver=");
}

static void a_check_names_settings_damaged_in_all_shards(void **state)
{
	struct setter *t = *state;
	dw_topic_settings was = {.size = sizeof was, .queue = 1}, max = was;

	setter_close(t);
	for (unsigned i = 0; i < SETTER_SHARDS; i++)
		setter_write_copy(t, i, "q", "queue=1 max=5x ver=9");
	setter_open_as(t, DW_CLIENT);
	expect_flaw(t, "q: the settings are damaged in every shard that has some, as in 0 "
		       "(\"max=5x\" is not NAME=NUMBER): write all of them again by durawheel "
		       "topic set");
	max.max = 5;
	assert_int_equal(dw_topic_change(t->d, "q", &was, &max, setter_done, t), DW_OK);
	setter_await_everywhere(t, "q", "max=5 queue=1 ver=");
	setter_check(t);
	assert_int_equal(t->flaws, 0);
}

static void a_check_names_other_settings_of_one_version(void **state)
{
	struct setter *t = *state;

	setter_close(t);
	for (unsigned i = 0; i < SETTER_SHARDS; i++)
		setter_write_copy(t, i, "q",
				  i == 3 ? "queue=1 max=5 ver=5" : "queue=1 max=50 ver=5");
	setter_open_as(t, DW_CLIENT);
	expect_flaw(t, "q: the settings in shard 3 are not those in shard 15, but have their "
		       "version: look at \"durawheel topic show TOPIC\", and write them by topic "
		       "set");
}

static void a_check_names_what_no_topic_can_be(void **state)
{
	static const char name[] =
	    "0123456789012345678901234567890123456789012345678901234567890123";
	struct setter *t = *state;

	setter_close(t);
	setter_write_copy(t, 3, name, "queue=1 ver=5");
	freeReplyObject(redisCommand(t->redis, "HSET {set:04}:u old soon"));
	setter_open_as(t, DW_OWNER); /* does nothing with it */
	setter_list(t, NULL);
	setter_check(t);
	assert_int_equal(t->flaws, 2);
	assert_string_equal(t->flaw, "0123456789012345678901234567890123456789012345678901234567890"
				     "123: no topic has this name: delete the field from the hash "
				     "{set:03}:t");
	freeReplyObject(redisCommand(t->redis, "HDEL {set:03}:t %s", name));
	expect_flaw(t, "old: shard 4 remembers a drop of the topic without its version: delete the "
		       "field from the hash {set:04}:u");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_new_owner_mends_an_older_copy, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(the_newest_copy_of_any_shard_wins, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_new_owner_brings_no_dropped_topic_back, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(
		a_change_after_the_home_shard_was_emptied_keeps_the_rest, setter_set_up,
		setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_change_of_an_older_copy_keeps_the_newest,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_change_brings_no_dropped_settings_back, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_drop_finds_the_settings_in_any_shard, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(an_older_copy_replaces_nothing, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(the_oldest_drops_are_forgotten, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_settings_that_differ, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_damaged_settings, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_settings_damaged_in_all_shards,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_other_settings_of_one_version,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_what_no_topic_can_be, setter_set_up,
					    setter_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
