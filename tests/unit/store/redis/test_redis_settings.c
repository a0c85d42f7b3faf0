/* The settings of topics on a real server that loses them: each shard has a copy, the newest one
 * counts, and the owner writes it where it is missing. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "durawheel/topic.h"
#include "store/redis/script.h"
#include "store/redis/store.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(30)

enum { SHARDS = 16, TRIES = 600, TEXT_SIZE = 256 };

struct program {
	dw *d;
	redisContext *redis;
	int fired; /* by the handler of "*" */
	int losses;
	int status; /* of the last answer */
	size_t listed;
	dw_topic_info info;
	uint64_t flaws;
	char flaw[256]; /* the id of the first one */
};

static struct redis_server server;

/* ---- The program ----------------------------------------------------------------------------- */

static dw_verdict handle(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct program *)user)->fired++;
	return DW_DONE;
}

static void happened(dw *d, const dw_event *event, void *user)
{
	(void)d;
	((struct program *)user)->losses += event->kind == DW_EVENT_LOSS;
}

static void done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct program *)user)->status = result->status;
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct program *t = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	t->listed = count;
	t->info = count > 0 ? topics[0] : (dw_topic_info){0};
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct program *t = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	t->flaws = report->flaw_count;
	if (report->flaw_count > 0)
		(void)snprintf(t->flaw, sizeof t->flaw, "%s: %s", report->flaws[0].id,
			       report->flaws[0].what);
}

static void sync_all(struct program *t)
{
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
}

static void turn(struct program *t)
{
	struct pollfd readable = {.fd = dw_fd(t->d), .events = POLLIN};

	(void)poll(&readable, 1, 50);
	assert_int_equal(dw_turn(t->d), DW_OK);
}

static void open_as(struct program *t, dw_role role)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "set",
			      .role = role,
			      .lease_us = DW_SECONDS(1),
			      .on_event = happened,
			      .on_event_user = t};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&t->d, &options, NULL), DW_OK);
	if (role == DW_OWNER)
		assert_int_equal(dw_on(t->d, "*", handle, t), DW_OK);
}

static void close_program(struct program *t)
{
	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	t->d = NULL;
}

static void set(struct program *t, const char *topic, dw_topic_settings settings)
{
	settings.size = sizeof settings;
	assert_int_equal(dw_topic_set(t->d, topic, &settings, done, t), DW_OK);
	sync_all(t);
	assert_int_equal(t->status, DW_OK);
}

static void drop(struct program *t, const char *topic)
{
	assert_int_equal(dw_topic_drop(t->d, topic, done, t), DW_OK);
	sync_all(t);
	assert_int_equal(t->status, DW_OK);
}

static void list(struct program *t, const char *topic)
{
	assert_int_equal(dw_topic_list(t->d, topic, listed, t), DW_OK);
	sync_all(t);
}

/* put: the status of a put. */
static int put(struct program *t, const char *topic, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer, .id = topic, .topic = topic};

	timer.due = dw_now(t->d) + delay;
	assert_int_equal(dw_put(t->d, &timer, done, t), DW_OK);
	sync_all(t);
	return t->status;
}

static void check(struct program *t)
{
	t->flaw[0] = '\0';
	assert_int_equal(dw_check(t->d, checked, t), DW_OK);
	sync_all(t);
}

/* ---- The server ------------------------------------------------------------------------------ */

/* ask: the reply as text, "" if it is nil; a number as its digits. */
static void ask(struct program *t, const char *command, char *text)
{
	redisReply *reply = redisCommand(t->redis, command);

	assert_true(reply && reply->type != REDIS_REPLY_ERROR);
	if (reply->type == REDIS_REPLY_INTEGER)
		(void)snprintf(text, TEXT_SIZE, "%lld", reply->integer);
	else
		(void)snprintf(text, TEXT_SIZE, "%s", reply->str ? reply->str : "");
	freeReplyObject(reply);
}

/* copy_in: the settings of a topic in a shard. */
static void copy_in(struct program *t, unsigned shard, const char *topic, char *text)
{
	char command[128];

	(void)snprintf(command, sizeof command, "HGET {set:%02u}:t %s", shard, topic);
	ask(t, command, text);
}

static void write_copy(struct program *t, unsigned shard, const char *topic, const char *text)
{
	freeReplyObject(redisCommand(t->redis, "HSET {set:%02u}:t %s %s", shard, topic, text));
}

static void flush_all(struct program *t)
{
	char text[TEXT_SIZE];

	ask(t, "FLUSHALL", text);
}

/* has_everywhere: each shard has the same settings of the topic, and they contain this; "": none
 * has any. */
static bool has_everywhere(struct program *t, const char *topic, const char *wanted)
{
	char first[TEXT_SIZE], text[TEXT_SIZE];

	copy_in(t, 0, topic, first);
	for (unsigned i = 0; i < SHARDS; i++) {
		copy_in(t, i, topic, text);
		if (strcmp(text, first) != 0)
			return false;
	}
	return wanted[0] ? strstr(first, wanted) != NULL : first[0] == '\0';
}

static void await_everywhere(struct program *t, const char *topic, const char *wanted)
{
	for (int i = 0; i < TRIES && !has_everywhere(t, topic, wanted); i++)
		turn(t);
	assert_true(has_everywhere(t, topic, wanted));
}

/* marks: in how many shards that field of META has the topic. */
static int marks(struct program *t, const char *field, const char *topic)
{
	char command[128], text[TEXT_SIZE];
	int count = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		(void)snprintf(command, sizeof command, "HGET {set:%02u}:m %s", i, field);
		ask(t, command, text);
		count += strstr(text, topic) != NULL;
	}
	return count;
}

/* await_renewals: the owner has heard of all changes, and has read them. */
static void await_renewals(struct program *t)
{
	char text[TEXT_SIZE];
	long left = 0;

	for (int i = 0, renewals = 0; i < TRIES && renewals < 4; i++) {
		long before = left;

		ask(t, "PTTL {set:07}:l", text);
		left = strtol(text, NULL, 10);
		renewals += left > before;
		turn(t);
	}
}

static void await_loss(struct program *t)
{
	for (int i = 0; i < TRIES && t->losses == 0; i++)
		turn(t);
	assert_true(t->losses > 0);
}

/* await_message: the queue of the topic gets one. */
static void await_message(struct program *t, const char *topic)
{
	char command[128], text[TEXT_SIZE];

	(void)snprintf(command, sizeof command, "XLEN {set:%02u}:q:%s", crc16_of(topic) % SHARDS,
		       topic);
	for (int i = 0; i < TRIES; i++) {
		ask(t, command, text);
		if (strcmp(text, "1") == 0)
			return;
		turn(t);
	}
	fail_msg("the queue has %s messages", text);
}

static int set_up(void **state)
{
	static struct program program;

	program = (struct program){0};
	redis_server_start(&server, false, NULL);
	program.redis = redisConnectUnix(server.path);
	assert_true(program.redis && !program.redis->err);
	open_as(&program, DW_OWNER);
	*state = &program;
	return 0;
}

static int tear_down(void **state)
{
	struct program *t = *state;

	redisFree(t->redis);
	if (t->d)
		close_program(t);
	redis_server_end(&server);
	return 0;
}

/* ---- Losses under a live owner --------------------------------------------------------------- */

static void set_three(struct program *t)
{
	set(t, "queue", (dw_topic_settings){.queue = 1, .max = 5});
	set(t, "paused", (dw_topic_settings){.paused = DW_PAUSE_INTAKE});
	set(t, "kept", (dw_topic_settings){.keep_us = DW_HOURS(1)});
	assert_true(has_everywhere(t, "queue", "queue=1"));
	assert_int_equal(put(t, "paused", DW_HOURS(1)), DW_EPAUSED);
}

static void await_three(struct program *t)
{
	await_everywhere(t, "queue", "queue=1");
	await_everywhere(t, "paused", "paused=2");
	await_everywhere(t, "kept", "keep=3600000000");
	assert_int_equal(marks(t, "closed", "paused\n"), SHARDS);
	assert_int_equal(marks(t, "keeps", "kept\t3600000000\n"), SHARDS);
}

static void an_emptied_server_gets_the_settings_again(void **state)
{
	struct program *t = *state;

	set_three(t);
	assert_int_equal(put(t, "queue", DW_SECONDS(2)), DW_OK);
	flush_all(t);
	await_loss(t);
	await_three(t);
	assert_int_equal(put(t, "paused", DW_HOURS(1)), DW_EPAUSED);
	await_message(t, "queue");
	assert_int_equal(t->fired, 0);
	list(t, "queue");
	assert_int_equal(t->info.settings.max, 5);
}

/* A put of a client that comes right after the loss is refused, too: it waits for the owner. */
static void an_emptied_server_refuses_what_a_client_puts(void **state)
{
	struct program *t = *state, client = {.redis = NULL};

	set_three(t);
	assert_int_equal(put(t, "other", DW_HOURS(1)), DW_OK);
	flush_all(t);
	await_loss(t);
	open_as(&client, DW_CLIENT);
	assert_int_equal(put(&client, "paused", DW_HOURS(1)), DW_EPAUSED);
	close_program(&client);
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
	struct program *t = *state;
	redisReply *reply;

	set_three(t);
	for (int i = 0; i < 200; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "id%d", i);
		assert_int_equal(dw_after(t->d, "timers", id, DW_HOURS(1), NULL, 0), DW_OK);
	}
	sync_all(t);
	flush_all(t);
	for (int i = 0; i < TRIES && t->losses == 0; i++) {
		turn(t);
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
	struct program *t = *state;
	char pattern[32];

	set_three(t);
	assert_int_equal(put(t, "queue", DW_SECONDS(2)), DW_OK);
	(void)snprintf(pattern, sizeof pattern, "{set:%02u}:*", crc16_of("queue") % SHARDS);
	freeReplyObject(redisCommand(t->redis, "EVAL %s 0 %s", empty, pattern));
	await_loss(t);
	await_three(t);
	await_message(t, "queue");
	assert_int_equal(t->fired, 0);
}

/* Nothing but `t` is gone: a renewal notices it. */
static void deleted_settings_come_back(void **state)
{
	struct program *t = *state;
	char text[TEXT_SIZE];

	set_three(t);
	await_renewals(t);
	ask(t, "DEL {set:07}:t", text);
	assert_string_equal(text, "1");
	await_three(t);
	assert_int_equal(t->losses, 0);
}

/* A pause keeps the other settings, so it waits until the owner has written them again. */
static void a_pause_right_after_a_loss_keeps_the_settings(void **state)
{
	struct program *t = *state;

	set(t, "queue", (dw_topic_settings){.queue = 1, .max = 5});
	flush_all(t);
	assert_int_equal(dw_topic_pause(t->d, "queue", DW_PAUSE_DELIVERY, done, t), DW_OK);
	sync_all(t);
	assert_int_equal(t->status, DW_OK);
	await_everywhere(t, "queue", "paused=1");
	assert_true(has_everywhere(t, "queue", "max=5"));
}

static void a_topic_that_was_dropped_stays_dropped_after_a_loss(void **state)
{
	struct program *t = *state;
	char text[TEXT_SIZE];

	set_three(t);
	copy_in(t, 3, "kept", text);
	drop(t, "kept");
	await_everywhere(t, "kept", "");
	assert_int_equal(put(t, "other", DW_HOURS(1)), DW_OK);
	flush_all(t);
	write_copy(t, 3, "kept", text); /* as if this shard was restored from an old copy */
	await_loss(t);
	await_everywhere(t, "kept", "");
	await_everywhere(t, "queue", "queue=1");
	list(t, "kept");
	assert_int_equal(t->listed, 0);
}

/* ---- Differences that a new owner finds ------------------------------------------------------ */

static void a_new_owner_mends_an_older_copy(void **state)
{
	struct program *t = *state;

	set_three(t);
	close_program(t);
	write_copy(t, 5, "paused", "ver=5");
	write_copy(t, 5, "queue", "max=9");
	open_as(t, DW_OWNER);
	await_three(t);
	assert_int_equal(put(t, "paused", DW_HOURS(1)), DW_EPAUSED);
}

static void the_newest_copy_of_any_shard_wins(void **state)
{
	struct program *t = *state;

	set_three(t);
	close_program(t);
	write_copy(t, 9, "queue", "queue=1 max=77 ver=8000000000000000");
	open_as(t, DW_CLIENT);
	list(t, "queue");
	assert_int_equal(t->info.settings.max, 77);
	assert_false(has_everywhere(t, "queue", "max=77")); /* a client only reads */
	close_program(t);
	open_as(t, DW_OWNER);
	await_everywhere(t, "queue", "max=77");
	list(t, "queue");
	assert_int_equal(t->info.settings.max, 77);
	set(t, "queue", (dw_topic_settings){.queue = 1, .max = 78}); /* newer than even that */
	await_everywhere(t, "queue", "max=78 ver=8000000000000001");
}

static void a_new_owner_brings_no_dropped_topic_back(void **state)
{
	struct program *t = *state;
	char text[TEXT_SIZE];

	set_three(t);
	copy_in(t, 3, "paused", text);
	drop(t, "paused");
	close_program(t);
	write_copy(t, 3, "paused", text);
	open_as(t, DW_OWNER);
	await_everywhere(t, "paused", "");
	assert_int_equal(marks(t, "closed", "paused\n"), 0);
	assert_int_equal(put(t, "paused", DW_HOURS(1)), DW_OK);
	set(t, "paused", (dw_topic_settings){.retries_max = 3}); /* it may come back by a call */
	await_everywhere(t, "paused", "retries=3");
}

/* ---- The script ------------------------------------------------------------------------------ */

/* copy_by_script writes settings into shard 4; the number of those that are newer now. */
static long long copy_by_script(struct program *t, const char *topic, const char *text)
{
	redisReply *reply = redisCommand(
	    t->redis,
	    "EVAL %b 10 {set:04}:l {set:04}:m {set:04}:z {set:04}:h {set:04}:i {set:04}:d "
	    "{set:04}:D {set:04}:e {set:04}:s {set:04}:t 16 3 %s %s",
	    redis_scripts[SCRIPT_TOPIC_COPY].text, redis_scripts[SCRIPT_TOPIC_COPY].size, topic,
	    text);
	long long count;

	assert_true(reply && reply->type == REDIS_REPLY_ARRAY);
	count = reply->element[1]->integer;
	freeReplyObject(reply);
	return count;
}

static void an_older_copy_replaces_nothing(void **state)
{
	struct program *t = *state;
	char text[TEXT_SIZE];

	assert_int_equal(copy_by_script(t, "a", "max=1 ver=10"), 1);
	assert_int_equal(copy_by_script(t, "a", "max=2 ver=9"), 0);
	assert_int_equal(copy_by_script(t, "a", "ver=9 gone=1"), 0);
	copy_in(t, 4, "a", text);
	assert_string_equal(text, "max=1 ver=10");
	assert_int_equal(copy_by_script(t, "a", "ver=11 gone=1"), 1);
	assert_int_equal(copy_by_script(t, "a", "max=3 ver=10"), 0);
	copy_in(t, 4, "a", text);
	assert_string_equal(text, "");
	assert_int_equal(copy_by_script(t, "a", "max=4 ver=12"), 1);
	ask(t, "HLEN {set:04}:u", text);
	assert_string_equal(text, "0");
}

static void the_oldest_drops_are_forgotten(void **state)
{
	struct program *t = *state;
	char topic[16], drops[32], text[TEXT_SIZE];

	for (int i = 1; i <= 5; i++) {
		(void)snprintf(topic, sizeof topic, "t%d", i);
		(void)snprintf(drops, sizeof drops, "ver=%d gone=1", i);
		assert_int_equal(copy_by_script(t, topic, drops), 1);
	}
	ask(t, "HLEN {set:04}:u", text);
	assert_string_equal(text, "3");
	ask(t, "HGET {set:04}:u t2", text);
	assert_string_equal(text, "");
	ask(t, "HGET {set:04}:u t3", text);
	assert_string_equal(text, "3");
}

/* ---- The check ------------------------------------------------------------------------------- */

static void a_check_names_settings_that_differ(void **state)
{
	struct program *t = *state;

	set_three(t);
	close_program(t);
	open_as(t, DW_CLIENT);
	check(t);
	assert_int_equal(t->flaws, 0);
	write_copy(t, 5, "foreign", "max=1 ver=5");
	check(t);
	assert_int_equal(t->flaws, 1);
	assert_string_equal(t->flaw, "foreign: the topic has older settings, or none, in shard "
				     "0: an owner writes the newest ones into every shard");
	write_copy(t, 6, "kept", "max=1 ver=9"); /* the newest version is too young to be judged */
	check(t);
	assert_int_equal(t->flaws, 1);
	close_program(t);
	open_as(t, DW_OWNER);
	await_everywhere(t, "foreign", "max=1");
	check(t);
	assert_int_equal(t->flaws, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(an_emptied_server_gets_the_settings_again, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_emptied_server_refuses_what_a_client_puts, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_rebuilt_shard_has_settings_before_timers, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_emptied_shard_gets_the_settings_again, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(deleted_settings_come_back, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_pause_right_after_a_loss_keeps_the_settings, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_topic_that_was_dropped_stays_dropped_after_a_loss,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_new_owner_mends_an_older_copy, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_newest_copy_of_any_shard_wins, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_new_owner_brings_no_dropped_topic_back, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_older_copy_replaces_nothing, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_oldest_drops_are_forgotten, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_check_names_settings_that_differ, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
