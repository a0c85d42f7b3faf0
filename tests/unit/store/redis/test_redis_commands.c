/* What the Redis store sends: a session that uses the whole API, watched by MONITOR, and the same
 * session as a user who may do nothing but what it needs. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "durawheel/topic.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define NAME "seen"
#define PATIENCE DW_SECONDS(60)
#define HANDLES 3

/* durawheel(7) has these words; the name of the namespace is in it twice. */
#define ACL                                                                                        \
	"ACL SETUSER timers on >secret -@all ~{" NAME ":* ~{" NAME "}:probe "                      \
	"&{" NAME ":* &{" NAME "}:ready:* &{" NAME "}:free "                                       \
	"+ping +select +info +cluster|nodes +client|setname +time "                                \
	"+eval +evalsha +script|load +publish +subscribe +type "                                   \
	"+get +set +del +unlink +pexpire +pttl "                                                   \
	"+hget +hmget +hset +hdel +hlen +hstrlen +hscan +hexists "                                 \
	"+zscan +zadd +zrem +zcard +zcount +zscore +zmscore +zrank +zrevrank "                     \
	"+zrange +zrevrange "                                                                      \
	"+zrangebyscore +zrangebylex +zrevrangebylex +exists +hgetall +hincrby "                   \
	"+llen +lpop +rpush +lrange +lindex"

static struct redis_server server;

/* ---- The session ---------------------------------------------------------------------------- */

struct session {
	dw *handles[HANDLES]; /* owner, client, standby */
	int answers;
	int fired;
	int dead;
	int owners; /* DW_EVENT_OWNER */
	bool retried;
	dw_token held;
	bool holds;
	char token[DW_TOKEN_SIZE];
};

static void turn_all(struct session *session)
{
	struct pollfd ready[HANDLES];
	nfds_t count = 0;

	for (int i = 0; i < HANDLES; i++)
		if (session->handles[i])
			ready[count++] = (struct pollfd){dw_fd(session->handles[i]), POLLIN, 0};
	assert_true(poll(ready, count, 20) >= 0 || errno == EINTR);
	for (int i = 0; i < HANDLES; i++)
		if (session->handles[i])
			assert_int_equal(dw_turn(session->handles[i]), DW_OK);
}

static void await(struct session *session, const int *counter, int least)
{
	for (int i = 0; *counter < least; i++) {
		assert_true(i < 3000);
		turn_all(session);
	}
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct session *session = user;

	session->fired++;
	if (strcmp(firing->id, "retry") == 0 && firing->attempt == 1) {
		assert_int_equal(dw_retry_in(d, 0), DW_OK);
		return DW_RETRY;
	}
	if (strcmp(firing->id, "hold") != 0)
		return DW_DONE;
	session->held = *firing->token;
	session->holds = true;
	return DW_HOLD;
}

static void happened(dw *d, const dw_event *event, void *user)
{
	struct session *session = user;

	(void)d;
	session->dead += event->kind == DW_EVENT_DEAD;
	session->owners += event->kind == DW_EVENT_OWNER;
}

static void done(dw *d, const dw_result *result, void *user)
{
	struct session *session = user;

	(void)d;
	if (result->status != DW_OK && result->status != DW_EEXIST && result->status != DW_ENOENT)
		fail_msg("%s: %s", result->id, dw_strerror(result->status));
	session->answers++;
}

static void listed(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		   void *user)
{
	(void)d;
	(void)timers;
	(void)count;
	(void)next;
	assert_true(status == DW_OK || status == DW_ENOENT);
	((struct session *)user)->answers++;
}

static void dead_listed(dw *d, int status, const dw_dead *letters, size_t count,
			const dw_cursor *next, void *user)
{
	(void)d;
	(void)letters;
	(void)count;
	(void)next;
	assert_int_equal(status, DW_OK);
	((struct session *)user)->answers++;
}

static void told(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	(void)store;
	assert_int_equal(status, DW_OK);
	((struct session *)user)->answers++;
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(report->flaw_count, 0);
	((struct session *)user)->answers++;
}

static void open_one(struct session *session, int which, const char *url, dw_role role)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = NAME,
			      .role = role,
			      .on_event = happened,
			      .on_event_user = session};

	if (dw_open(&session->handles[which], &options, message) != DW_OK)
		fail_msg("%s", message);
	if (role != DW_CLIENT)
		assert_int_equal(dw_on(session->handles[which], "t", fire, session), DW_OK);
}

static void put(struct session *session, dw *d, const char *id, dw_usec due, dw_usec late)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = due,
			  .late_after_us = late,
			  .flags = strcmp(id, "new") == 0 ? DW_NEW : 0};
	int answers = session->answers;

	assert_int_equal(dw_put(d, &timer, done, session), DW_OK);
	await(session, &session->answers, answers + 1);
}

/* change_all: each call that changes something, from one handle. */
static void change_all(struct session *session, dw *d)
{
	int fired = session->fired, dead = session->dead;

	put(session, d, "new", DW_NEVER, 0);
	put(session, d, "new", DW_NEVER, 0);
	put(session, d, "far", DW_NEVER, 0);
	put(session, d, "retry", 1, 0);
	await(session, &session->fired, fired + 2);
	put(session, d, "hold", 1, 0);
	await(session, &session->fired, fired + 3);
	assert_true(session->holds);
	assert_int_equal(dw_settle(session->handles[0], &session->held, DW_DONE, -1, done, session),
			 DW_OK);
	put(session, d, "late", 1, 1);
	await(session, &session->dead, dead + 1);
	put(session, d, "late", 1, 1);
	await(session, &session->dead, dead + 2);
	session->answers = 0;
	assert_int_equal(dw_move(d, "far", DW_NEVER - 1, done, session), DW_OK);
	assert_int_equal(dw_cancel(d, "far", done, session), DW_OK);
	assert_int_equal(dw_dead_requeue(d, "late", 0, DW_NEVER, done, session), DW_OK);
	await(session, &session->answers, 3);
	assert_int_equal(dw_dead_drop(d, "late", 0, done, session), DW_OK);
	assert_int_equal(dw_dead_drop(d, NULL, 0, done, session), DW_OK);
	assert_int_equal(dw_cancel(d, "late", done, session), DW_OK);
	await(session, &session->answers, 6);
}

static void topics_listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	(void)topics;
	assert_int_equal(status, DW_OK);
	assert_true(count > 0);
	((struct session *)user)->answers++;
}

static void messages_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct session *session = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	(void)snprintf(session->token, sizeof session->token, "%s", messages[0].token);
	session->answers++;
}

static void message_answered(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	(void)count;
	assert_int_equal(results[0].status, DW_OK);
	((struct session *)user)->answers++;
}

/* queue_all: each call on a queue; the last one makes a dead letter. */
static void queue_all(struct session *session, dw *d)
{
	static const char *const topic = "q";
	const char *token = session->token;
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .expire_us = 60000000};
	dw_timer message = {.size = sizeof message, .id = "m", .topic = "q"};
	dw_take_options take = {.size = sizeof take,
				.topics = &topic,
				.topic_count = 1,
				.max = 5,
				.wait_us = DW_SECONDS(30)};
	dw_answer answer = {.size = sizeof answer,
			    .tokens = &token,
			    .count = 1,
			    .verdict = DW_RETRY,
			    .retry_in = 1000};

	session->answers = 0;
	assert_int_equal(dw_topic_set(d, "q", &settings, done, session), DW_OK);
	await(session, &session->answers, 1);
	assert_int_equal(dw_push(d, &message, 1, done, session), DW_OK);
	assert_int_equal(dw_take(d, &take, messages_taken, session), DW_OK);
	await(session, &session->answers, 3);
	assert_int_equal(dw_touch(d, &token, 1, message_answered, session), DW_OK);
	await(session, &session->answers, 4);
	assert_int_equal(dw_ack(d, &answer, message_answered, session), DW_OK);
	assert_int_equal(dw_take(d, &take, messages_taken, session), DW_OK);
	await(session, &session->answers, 6);
	answer.verdict = DW_DEAD;
	answer.retry_in = 0;
	assert_int_equal(dw_ack(d, &answer, message_answered, session), DW_OK);
	assert_int_equal(dw_topic_list(d, "q", topics_listed, session), DW_OK);
	await(session, &session->answers, 8);
	assert_int_equal(dw_topic_pause(d, "q", DW_PAUSE_INTAKE, done, session), DW_OK);
	assert_int_equal(dw_topic_drop(d, "q", done, session), DW_OK);
	await(session, &session->answers, 10);
}

static void look_at_all(struct session *session, dw *d)
{
	session->answers = 0;
	assert_int_equal(dw_get(d, "new", listed, session), DW_OK);
	assert_int_equal(dw_list(d, NULL, NULL, 2, listed, session), DW_OK);
	assert_int_equal(dw_list(d, &(dw_select){.size = sizeof(dw_select), .topic = "t"}, NULL,
				 1000, listed, session),
			 DW_OK);
	assert_int_equal(dw_dead_list(d, NULL, NULL, 10, dead_listed, session), DW_OK);
	assert_int_equal(dw_get_status(d, told, session), DW_OK);
	assert_int_equal(dw_check(d, checked, session), DW_OK);
	await(session, &session->answers, 6);
}

/* run_session: owner, client, standby; then the owner goes and the standby follows. */
static void run_session(const char *url)
{
	struct session session = {0};

	open_one(&session, 0, url, DW_OWNER);
	open_one(&session, 1, url, DW_CLIENT);
	open_one(&session, 2, url, DW_STANDBY);
	for (int i = 0; i < 2; i++) {
		change_all(&session, session.handles[i]);
		queue_all(&session, session.handles[i]);
		look_at_all(&session, session.handles[i]);
		assert_int_equal(dw_cancel(session.handles[i], "new", NULL, NULL), DW_OK);
		assert_int_equal(dw_sync(session.handles[i], PATIENCE), DW_OK);
	}
	put(&session, session.handles[0], "last", DW_NEVER, 0);
	assert_int_equal(dw_purge(session.handles[0], done, &session), DW_OK);
	assert_int_equal(dw_sync(session.handles[0], PATIENCE), DW_OK);
	put(&session, session.handles[1], "handed over", DW_NEVER, 0);
	assert_int_equal(dw_close(session.handles[0], PATIENCE), DW_OK);
	session.handles[0] = NULL;
	session.owners = 0;
	await(&session, &session.owners, 1);
	session.fired = 0;
	put(&session, session.handles[1], "handed over", 1, 0);
	await(&session, &session.fired, 1);
	for (int i = 1; i < HANDLES; i++)
		assert_int_equal(dw_close(session.handles[i], PATIENCE), DW_OK);
}

/* ---- MONITOR -------------------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 4096 };

struct line {
	char *words[ARGUMENTS_MAX];
	size_t count;
};

/* cut takes the quoted words of a line of MONITOR apart, in place. Escapes stay as they are: names
 * of keys have none. */
static void cut(char *text, struct line *ret_line)
{
	char *at = strstr(text, "] \"");

	ret_line->count = 0;
	while (at && (at = strchr(at, '"')) && ret_line->count < ARGUMENTS_MAX) {
		char *end = ++at;

		while (*end && *end != '"')
			end += *end == '\\' && end[1] ? 2 : 1;
		if (*end)
			*end++ = '\0';
		ret_line->words[ret_line->count++] = at;
		at = end;
	}
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(word, *words) == 0)
			return true;
	return false;
}

/* keys_of: which words are keys. False: the command is none that the store may use. */
static bool keys_of(const struct line *line, size_t *ret_from, size_t *ret_count)
{
	static const char *const none[] = {"PING", "SELECT",  "INFO", "CLIENT", "CLUSTER",
					   "TIME", "MONITOR", "AUTH", NULL};
	static const char *const one[] = {
	    "GET",      "SET",    "PEXPIRE",   "PTTL",          "HGET",        "HMGET",
	    "HSET",     "HDEL",   "HLEN",      "HSCAN",         "HEXISTS",     "ZADD",
	    "ZREM",     "ZCARD",  "ZCOUNT",    "ZSCORE",        "ZMSCORE",     "ZRANK",
	    "ZREVRANK", "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZRANGEBYLEX", "ZREVRANGEBYLEX",
	    "TYPE",     "ZSCAN",  "EXISTS",    "HGETALL",       "HINCRBY",     "LLEN",
	    "LPOP",     "RPUSH",  "LRANGE",    "LINDEX",        "HSTRLEN",     NULL};
	static const char *const all[] = {"DEL", "UNLINK", NULL};
	static const char *const script[] = {"EVAL", "EVALSHA", NULL};
	const char *name = line->words[0];

	*ret_from = 1;
	*ret_count = 0;
	if (is_one_of(name, script)) {
		*ret_from = 3;
		*ret_count = (size_t)strtoul(line->words[2], NULL, 10);
	} else if (is_one_of(name, all)) {
		*ret_count = line->count - 1;
	} else if (is_one_of(name, one)) {
		*ret_count = 1;
	} else if (!is_one_of(name, none)) {
		return strcasecmp(name, "SCRIPT") == 0 && strcasecmp(line->words[1], "LOAD") == 0;
	}
	return true;
}

/* tag_size: of "{seen:07}:", 0: it has none. */
static size_t tag_size(const char *key)
{
	unsigned shard;
	int size = 0;

	if (sscanf(key, "{" NAME ":%2u}:%n", &shard, &size) != 1)
		return 0;
	return (size_t)size;
}

static bool is_wake_channel(const char *name)
{
	return tag_size(name) > 0 && strcmp(name + tag_size(name), "wake") == 0;
}

static void check_command(const char *text, const struct line *line)
{
	static const char *const channels[] = {"PUBLISH", "SUBSCRIBE", NULL};
	size_t from, count, size;

	assert_true(line->count > 0);
	if (is_one_of(line->words[0], channels)) {
		assert_true(is_wake_channel(line->words[1]) ||
			    strncmp(line->words[1],
				    "{" NAME "}:ready:", sizeof "{" NAME "}:ready:" - 1) == 0);
		return;
	}
	if (!keys_of(line, &from, &count))
		fail_msg("a command that is not expected: %.100s", text);
	assert_true(from + count <= line->count || count == 0);
	for (size_t i = from; i < from + count; i++) {
		if (strcmp(line->words[i], "{" NAME "}:probe") == 0)
			continue;
		size = tag_size(line->words[i]);
		if (size == 0 || strncmp(line->words[i], line->words[from], size) != 0)
			fail_msg("the key %s: %.100s", line->words[i], text);
	}
}

static redisContext *connect_to_server(void)
{
	redisContext *context = redisConnectUnix(server.path);

	assert_non_null(context);
	assert_int_equal(context->err, 0);
	return context;
}

static void ask(redisContext *context, const char *command)
{
	redisReply *reply = redisCommand(context, command);

	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s", reply->str);
	freeReplyObject(reply);
}

static void each_command_has_keys_of_one_tag(void **state)
{
	redisContext *monitor = connect_to_server(), *other = connect_to_server();
	size_t commands = 0, in_scripts = 0;
	char url[TEMP_SIZE + 16];
	struct line line;
	redisReply *reply;

	(void)state;
	ask(monitor, "MONITOR");
	(void)snprintf(url, sizeof url, "unix://%s", server.path); /* it fits */
	run_session(url);
	ask(other, "ECHO over");
	while (redisGetReply(monitor, (void **)&reply) == REDIS_OK &&
	       !strstr(reply->str, "\"ECHO\" \"over\"")) {
		in_scripts += strstr(reply->str, " lua] ") != NULL;
		cut(reply->str, &line);
		check_command(reply->str, &line);
		commands++;
		freeReplyObject(reply);
	}
	assert_true(commands > 500);
	assert_true(in_scripts > 200);
	freeReplyObject(reply);
	redisFree(monitor);
	redisFree(other);
}

/* ---- A user with few rights ------------------------------------------------------------------ */

static void user_with_few_rights_can_do_all(void **state)
{
	redisContext *context = connect_to_server();
	char url[TEMP_SIZE + 32];
	redisReply *log;

	(void)state;
	ask(context, "FLUSHALL");
	ask(context, ACL);
	ask(context, "ACL LOG RESET");
	(void)snprintf(url, sizeof url, "unix://timers:secret@%s", server.path); /* it fits */
	run_session(url);
	log = redisCommand(context, "ACL LOG");
	assert_non_null(log);
	assert_int_equal(log->type, REDIS_REPLY_ARRAY);
	assert_int_equal(log->elements, 0);
	freeReplyObject(log);
	redisFree(context);
}

/* A namespace of others is out of reach. */
static void user_with_few_rights_cannot_do_more(void **state)
{
	char url[TEMP_SIZE + 32], message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options, .store = url, .name = "others"};
	dw *d = NULL;

	(void)state;
	(void)snprintf(url, sizeof url, "unix://timers:secret@%s", server.path); /* it fits */
	assert_int_equal(dw_open(&d, &options, message), DW_ESTORE);
	assert_non_null(strstr(message, "NOPERM"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_command_has_keys_of_one_tag),
	    cmocka_unit_test(user_with_few_rights_can_do_all),
	    cmocka_unit_test(user_with_few_rights_cannot_do_more),
	};
	int failed;

	redis_server_start(&server, false, NULL);
	failed = cmocka_run_group_tests_name("redis_commands", tests, NULL, NULL);
	redis_server_end(&server);
	return failed;
}
