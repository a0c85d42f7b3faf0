#include "support/setter.h"

#if DW_WITH_REDIS

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/store.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(30)

static struct redis_server server;

/* ---- The program ----------------------------------------------------------------------------- */

dw_verdict setter_handle(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct setter *)user)->fired++;
	return DW_DONE;
}

static void happened(dw *d, const dw_event *event, void *user)
{
	(void)d;
	((struct setter *)user)->losses += event->kind == DW_EVENT_LOSS;
	((struct setter *)user)->owned += event->kind == DW_EVENT_OWNER;
}

void setter_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct setter *)user)->status = result->status;
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct setter *t = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	t->listed = count;
	t->info = count > 0 ? topics[0] : (dw_topic_info){0};
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct setter *t = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	t->flaws = report->flaw_count;
	if (report->flaw_count > 0)
		(void)snprintf(t->flaw, sizeof t->flaw, "%s: %s", report->flaws[0].id,
			       report->flaws[0].what);
}

void setter_sync_all(struct setter *t)
{
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
}

void setter_turn(struct setter *t)
{
	struct pollfd readable = {.fd = dw_fd(t->d), .events = POLLIN};

	(void)poll(&readable, 1, 50);
	assert_int_equal(dw_turn(t->d), DW_OK);
}

void setter_open_as(struct setter *t, dw_role role)
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
		assert_int_equal(dw_on(t->d, "*", setter_handle, t), DW_OK);
}

void setter_close(struct setter *t)
{
	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	t->d = NULL;
}

void setter_set(struct setter *t, const char *topic, dw_topic_settings settings)
{
	settings.size = sizeof settings;
	do { /* a busy server may answer too late */
		assert_int_equal(dw_topic_set(t->d, topic, &settings, setter_done, t), DW_OK);
		setter_sync_all(t);
	} while (t->status == DW_EUNKNOWN);
	assert_int_equal(t->status, DW_OK);
}

void setter_drop(struct setter *t, const char *topic)
{
	bool is_late = false;

	do { /* likewise; the topic may be gone then */
		assert_int_equal(dw_topic_drop(t->d, topic, setter_done, t), DW_OK);
		setter_sync_all(t);
		is_late = is_late || t->status == DW_EUNKNOWN;
	} while (t->status == DW_EUNKNOWN);
	assert_true(t->status == DW_OK || (is_late && t->status == DW_ENOENT));
}

void setter_list(struct setter *t, const char *topic)
{
	assert_int_equal(dw_topic_list(t->d, topic, listed, t), DW_OK);
	setter_sync_all(t);
}

/* setter_put puts a timer and returns the status of the answer. */
int setter_put(struct setter *t, const char *topic, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer, .id = topic, .topic = topic};

	timer.due = dw_now(t->d) + delay;
	assert_int_equal(dw_put(t->d, &timer, setter_done, t), DW_OK);
	setter_sync_all(t);
	return t->status;
}

void setter_check(struct setter *t)
{
	t->flaw[0] = '\0';
	assert_int_equal(dw_check(t->d, checked, t), DW_OK);
	setter_sync_all(t);
}

/* ---- The server ------------------------------------------------------------------------------ */

/* setter_ask writes the reply as text. A nil becomes "", and a number becomes its digits. */
void setter_ask(struct setter *t, const char *command, char *text)
{
	redisReply *reply = redisCommand(t->redis, command);

	assert_true(reply && reply->type != REDIS_REPLY_ERROR);
	if (reply->type == REDIS_REPLY_INTEGER)
		(void)snprintf(text, SETTER_TEXT_SIZE, "%lld", reply->integer);
	else
		(void)snprintf(text, SETTER_TEXT_SIZE, "%s", reply->str ? reply->str : "");
	freeReplyObject(reply);
}

/* setter_copy_in reads the settings of a topic in a shard. */
void setter_copy_in(struct setter *t, unsigned shard, const char *topic, char *text)
{
	char command[128];

	(void)snprintf(command, sizeof command, "HGET {set:%02u}:t %s", shard, topic);
	setter_ask(t, command, text);
}

void setter_write_copy(struct setter *t, unsigned shard, const char *topic, const char *text)
{
	freeReplyObject(redisCommand(t->redis, "HSET {set:%02u}:t %s %s", shard, topic, text));
}

void setter_flush_all(struct setter *t)
{
	char text[SETTER_TEXT_SIZE];

	setter_ask(t, "FLUSHALL", text);
}

/* setter_has_everywhere returns true if all shards have the same settings of the topic, and the
 * settings contain `wanted`. If `wanted` is "", no shard may have settings. */
bool setter_has_everywhere(struct setter *t, const char *topic, const char *wanted)
{
	char first[SETTER_TEXT_SIZE], text[SETTER_TEXT_SIZE];

	setter_copy_in(t, 0, topic, first);
	for (unsigned i = 0; i < SETTER_SHARDS; i++) {
		setter_copy_in(t, i, topic, text);
		if (strcmp(text, first) != 0)
			return false;
	}
	return wanted[0] ? strstr(first, wanted) != NULL : first[0] == '\0';
}

void setter_await_everywhere(struct setter *t, const char *topic, const char *wanted)
{
	for (int i = 0; i < SETTER_TRIES && !setter_has_everywhere(t, topic, wanted); i++)
		setter_turn(t);
	assert_true(setter_has_everywhere(t, topic, wanted));
}

/* setter_marks returns in how many shards this field of META contains the topic. */
int setter_marks(struct setter *t, const char *field, const char *topic)
{
	char command[128], text[SETTER_TEXT_SIZE];
	int count = 0;

	for (unsigned i = 0; i < SETTER_SHARDS; i++) {
		(void)snprintf(command, sizeof command, "HGET {set:%02u}:m %s", i, field);
		setter_ask(t, command, text);
		count += strstr(text, topic) != NULL;
	}
	return count;
}

/* setter_await_renewals waits for four renewals. The owner has then heard of all changes and read
 * them. */
void setter_await_renewals(struct setter *t)
{
	char text[SETTER_TEXT_SIZE];
	long left = 0;

	for (int i = 0, renewals = 0; i < SETTER_TRIES && renewals < 4; i++) {
		long before = left;

		setter_ask(t, "PTTL {set:07}:l", text);
		left = strtol(text, NULL, 10);
		renewals += left > before;
		setter_turn(t);
	}
}

void setter_await_loss(struct setter *t)
{
	for (int i = 0; i < SETTER_TRIES && t->losses == 0; i++)
		setter_turn(t);
	assert_true(t->losses > 0);
}

/* setter_queued returns the number of messages in the queue of the topic. */
long setter_queued(struct setter *t, const char *topic)
{
	char command[128], text[SETTER_TEXT_SIZE];

	(void)snprintf(command, sizeof command, "LLEN {set:%02u}:q:%s",
		       crc16_of(topic) % SETTER_SHARDS, topic);
	setter_ask(t, command, text);
	return strtol(text, NULL, 10);
}

void setter_await_message(struct setter *t, const char *topic)
{
	for (int i = 0; i < SETTER_TRIES && setter_queued(t, topic) == 0; i++)
		setter_turn(t);
	assert_int_equal(setter_queued(t, topic), 1);
}

int setter_set_up(void **state)
{
	static struct setter setter;

	setter = (struct setter){0};
	redis_server_start(&server, false, NULL);
	setter.redis = redisConnectUnix(server.path);
	assert_true(setter.redis && !setter.redis->err);
	setter_open_as(&setter, DW_OWNER);
	*state = &setter;
	return 0;
}

int setter_tear_down(void **state)
{
	struct setter *t = *state;

	redisFree(t->redis);
	if (t->d)
		setter_close(t);
	redis_server_end(&server);
	return 0;
}

void setter_set_three(struct setter *t)
{
	setter_set(t, "queue", (dw_topic_settings){.queue = 1, .max = 5});
	setter_set(t, "paused", (dw_topic_settings){.paused = DW_PAUSE_INTAKE});
	setter_set(t, "kept", (dw_topic_settings){.keep_us = DW_HOURS(1)});
	assert_true(setter_has_everywhere(t, "queue", "queue=1"));
	assert_int_equal(setter_put(t, "paused", DW_HOURS(1)), DW_EPAUSED);
}

void setter_await_three(struct setter *t)
{
	setter_await_everywhere(t, "queue", "queue=1");
	setter_await_everywhere(t, "paused", "paused=2");
	setter_await_everywhere(t, "kept", "keep=3600000000");
	assert_int_equal(setter_marks(t, "closed", "paused\n"), SETTER_SHARDS);
	assert_int_equal(setter_marks(t, "keeps", "kept\t3600000000\n"), SETTER_SHARDS);
}

#endif
