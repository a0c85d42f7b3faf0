/* Shards with different settings of topics, on a real server: the newest copy counts, and an owner
 * writes it where it is missing. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/script.h"
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

/* ---- The script ------------------------------------------------------------------------------ */

/* copy_by_script writes settings into shard 4; the number of those that are newer now. */
static long long copy_by_script(struct setter *t, const char *topic, const char *text)
{
	static char room[SCRIPT_TEXT_MAX];
	const struct redis_script *script = &redis_scripts[SCRIPT_TOPIC_COPY];
	redisReply *reply = redisCommand(
	    t->redis,
	    "EVAL %b 10 {set:04}:l {set:04}:m {set:04}:z {set:04}:h {set:04}:i {set:04}:d "
	    "{set:04}:D {set:04}:e {set:04}:s {set:04}:t 16 3 %s %s %s",
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_new_owner_mends_an_older_copy, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(the_newest_copy_of_any_shard_wins, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_new_owner_brings_no_dropped_topic_back, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(an_older_copy_replaces_nothing, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(the_oldest_drops_are_forgotten, setter_set_up,
					    setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_settings_that_differ, setter_set_up,
					    setter_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
