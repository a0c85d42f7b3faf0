/* Takes and answers of messages, with a server that closes the connection on replies that are too
 * large for its limit: no message is lost, and the caller gets messages or hears why not. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "durawheel/topic.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(600)
#define LARGE ((size_t)1 << 20)
#define SMALL ((size_t)40000)
#define TOKENS 100

static struct redis_server server;
static char large[LARGE];

/* What the callbacks of all handles have seen. */
static struct {
	int done; /* calls */
	int rows;
	int status; /* of the last take */
	bool ended;
	char tokens[TOKENS][DW_TOKEN_SIZE];
	int results[TOKENS]; /* of the last answer to them */
	int dead;            /* DW_EVENT_DEAD */
	int limits;          /* DW_EVENT_LIMIT */
	char message[DW_MESSAGE_SIZE];
	uint64_t hidden; /* messages that are taken */
} seen;

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	seen.dead += event->kind == DW_EVENT_DEAD;
	if (event->kind != DW_EVENT_LIMIT)
		return;
	assert_int_equal(event->status, DW_ELIMIT);
	seen.limits++;
	(void)snprintf(seen.message, sizeof seen.message, "%s", event->message);
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	(void)user;
	assert_int_equal(result->status, DW_OK);
	seen.done++;
}

static void on_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	(void)d;
	(void)user;
	seen.ended = true;
	seen.status = status;
	for (size_t i = 0; i < count; i++)
		(void)snprintf(seen.tokens[i], sizeof seen.tokens[i], "%s", messages[i].token);
	seen.rows += (int)count;
}

static dw *open_as(dw_role role)
{
	char message[DW_MESSAGE_SIZE];
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = role,
			      .name = "takes",
			      .shards = 2,
			      .data_max_bytes = LARGE,
			      .on_event = on_event};
	dw *d;

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

static void turn(dw *a, dw *b)
{
	struct pollfd ready[] = {{dw_fd(a), POLLIN, 0}, {b ? dw_fd(b) : -1, POLLIN, 0}};

	(void)poll(ready, 2, 20);
	assert_int_equal(dw_turn(a), DW_OK);
	if (b)
		assert_int_equal(dw_turn(b), DW_OK);
}

#define AWAIT(a, b, condition)                                                                     \
	do {                                                                                       \
		dw_usec until = dw_now(a) + PATIENCE;                                              \
                                                                                                   \
		while (!(condition)) {                                                             \
			assert_true(dw_now(a) < until);                                            \
			turn(a, b);                                                                \
		}                                                                                  \
	} while (0)

/* rest: what closes the connection is not asked for again at once, which would keep a processor
 * busy. */
static void rest(dw *a, dw *b)
{
	dw_usec until = dw_now(a) + DW_MILLISECONDS(100);

	while (dw_now(a) < until)
		turn(a, b);
}

/* limit_replies: the most bytes of replies that may wait for one client; "0": no limit. */
static void limit_replies(const char *limit)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;
	char words[64];

	assert_true(redis && !redis->err);
	(void)snprintf(words, sizeof words, "normal %s 0 0", limit);
	reply = redisCommand(redis, "CONFIG SET client-output-buffer-limit %s", words);
	assert_true(reply && reply->type == REDIS_REPLY_STATUS);
	freeReplyObject(reply);
	redisFree(redis);
}

/* sizes_asked: how often the scripts have asked for a value's size. */
static long sizes_asked(void)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;
	const char *line;
	long calls;

	assert_true(redis && !redis->err);
	reply = redisCommand(redis, "INFO commandstats");
	assert_non_null(reply);
	line = strstr(reply->str, "cmdstat_hstrlen:calls=");
	calls = line ? strtol(strchr(line, '=') + 1, NULL, 10) : 0;
	freeReplyObject(reply);
	redisFree(redis);
	return calls;
}

static void push_messages(dw *owner, int count, size_t size)
{
	dw_timer message = {.size = sizeof message, .topic = "q", .data = large, .data_size = size};
	int before = seen.done;

	for (int i = 0; i < count; i++)
		assert_int_equal(dw_push(owner, &message, 1, on_done, NULL), DW_OK);
	AWAIT(owner, NULL, seen.done == before + count);
}

/* open_queue: a queue that hides its messages for a while, or deletes them when they are taken. */
static dw *open_queue(dw_usec hide)
{
	const dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .hide_us = hide};
	dw *owner;

	memset(&seen, 0, sizeof seen);
	memset(large, 'x', sizeof large);
	redis_server_start(&server, false, NULL);
	owner = open_as(DW_OWNER);
	assert_int_equal(dw_topic_set(owner, "q", &settings, on_done, NULL), DW_OK);
	AWAIT(owner, NULL, seen.done == 1);
	return owner;
}

/* take_once: what the machine is too busy for is asked again. Returns how many came. */
static int take_once(dw *owner, dw *d)
{
	const dw_take_options options = {.size = sizeof options, .max = 100};
	int before = seen.rows;

	do {
		seen.ended = false;
		assert_int_equal(dw_take(d, &options, on_taken, NULL), DW_OK);
		AWAIT(owner, d, seen.ended);
	} while (seen.status == DW_ESTORE);
	return seen.rows - before;
}

static void on_topic(dw *d, int status, const dw_topic_info *items, size_t count, void *user)
{
	(void)d;
	(void)user;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	seen.ended = true;
	seen.hidden = items->taken;
}

static uint64_t count_hidden(dw *owner)
{
	seen.ended = false;
	assert_int_equal(dw_topic_list(owner, "q", on_topic, NULL), DW_OK);
	AWAIT(owner, NULL, seen.ended);
	return seen.hidden;
}

static void close_both(dw *owner, dw *client)
{
	assert_int_equal(dw_close(client, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

/* All come with one take, although together they are more than the limit. The script does not read
 * those that are not in its reply, but the first two of them. */
static void take_over_a_limit_loses_no_message(void **state)
{
	const dw_usec hides[] = {DW_HOURS(1), -1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		dw *owner = open_queue(hides[i]);
		dw *client = open_as(DW_CLIENT);

		push_messages(owner, 60, SMALL);
		limit_replies("1mb");
		assert_int_equal(take_once(owner, client), 60);
		assert_true(sizes_asked() >= 57);
		assert_int_equal(seen.limits, 0);
		close_both(owner, client);
	}
}

/* The one that the server does not send stays in the queue, and the others pass it. */
static void message_over_a_limit_blocks_nobody(void **state)
{
	const dw_usec hides[] = {DW_SECONDS(1), -1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		dw *owner = open_queue(hides[i]);
		dw *client = open_as(DW_CLIENT);

		push_messages(owner, 1, LARGE);
		limit_replies("1mb");
		assert_int_equal(take_once(owner, client), 0);
		assert_int_equal(seen.status, DW_ELIMIT);
		assert_non_null(strstr(seen.message, "queue q: "));
		assert_non_null(strstr(seen.message, "client-output-buffer-limit"));
		limit_replies("0");
		push_messages(owner, 1, LARGE);
		limit_replies("1mb");
		push_messages(owner, 3, SMALL);
		assert_int_equal(take_once(owner, client), 3);
		assert_int_equal(seen.status, DW_OK);
		assert_int_equal(count_hidden(owner), hides[i] < 0 ? 2 : 5);
		close_both(owner, client);
	}
}

/* The caller hears of a reply that was cut, and the next ones have no data. */
static void take_that_is_lost_is_told(void **state)
{
	dw *owner = open_queue(-1);
	dw *client = open_as(DW_CLIENT);

	(void)state;
	push_messages(owner, 10, 15000);
	limit_replies("40kb");
	assert_int_equal(take_once(owner, client), 0);
	assert_true(seen.status == DW_ELIMIT || seen.status == DW_EUNKNOWN);
	if (seen.status == DW_ELIMIT)
		assert_non_null(strstr(seen.message, "queue q: "));
	assert_int_equal(count_hidden(owner), 6);
	push_messages(owner, 10, 15000);
	while (seen.rows < 10) {
		rest(owner, client);
		(void)take_once(owner, client);
	}
	close_both(owner, client);
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void on_results(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	(void)user;
	for (size_t i = 0; i < count; i++)
		seen.results[i] = results[i].status;
	seen.ended = true;
}

/* answer_all answers so many of the messages that were taken last. */
static void answer_all(dw *owner, dw *client, dw_verdict verdict, size_t count)
{
	const char *tokens[TOKENS];
	const dw_answer answer = {
	    .size = sizeof answer, .tokens = tokens, .count = count, .verdict = verdict};

	for (size_t i = 0; i < count; i++)
		tokens[i] = seen.tokens[i];
	seen.ended = false;
	assert_int_equal(dw_ack(client, &answer, on_results, NULL), DW_OK);
	AWAIT(owner, client, seen.ended);
}

/* All become dead letters, although together they are more than the limit: the caller gives them
 * up, or their retries are used up. */
static void dead_messages_over_a_limit_are_dead_letters(void **state)
{
	const dw_topic_settings none = {
	    .size = sizeof none, .queue = 1, .hide_us = DW_HOURS(1), .retries_max = DW_NO_RETRIES};

	(void)state;
	for (int i = 0; i < 2; i++) {
		dw *owner = open_queue(DW_HOURS(1));
		dw *client = open_as(DW_CLIENT);

		assert_int_equal(dw_topic_set(owner, "q", &none, on_done, NULL), DW_OK);
		AWAIT(owner, NULL, seen.done == 2);
		push_messages(owner, 60, SMALL);
		assert_int_equal(take_once(owner, client), 60);
		limit_replies("1mb");
		answer_all(owner, client, i == 0 ? DW_DEAD : DW_RETRY, 60);
		for (int k = 0; k < 60; k++)
			assert_int_equal(seen.results[k], DW_OK);
		assert_int_equal(seen.dead, 60);
		assert_int_equal(seen.limits, 0);
		assert_int_equal(count_hidden(owner), 0);
		close_both(owner, client);
	}
}

/* The one that the server does not send stays in the queue, and the caller hears why. */
static void dead_message_over_a_limit_stays(void **state)
{
	dw *owner = open_queue(DW_HOURS(1));
	dw *client = open_as(DW_CLIENT);

	(void)state;
	push_messages(owner, 1, LARGE);
	push_messages(owner, 3, SMALL);
	assert_int_equal(take_once(owner, client), 4);
	limit_replies("1mb");
	answer_all(owner, client, DW_DEAD, 4);
	assert_int_equal(seen.results[0], DW_ELIMIT);
	for (int k = 1; k < 4; k++)
		assert_int_equal(seen.results[k], DW_OK);
	assert_non_null(strstr(seen.message, "queue q: "));
	assert_non_null(strstr(seen.message, "client-output-buffer-limit"));
	assert_int_equal(seen.dead, 3);
	assert_int_equal(count_hidden(owner), 1);
	limit_replies("0");
	do {
		rest(owner, client);
		answer_all(owner, client, DW_DEAD, 1);
	} while (seen.results[0] == DW_ELIMIT);
	assert_int_equal(seen.results[0], DW_OK);
	assert_int_equal(seen.dead, 4);
	assert_int_equal(count_hidden(owner), 0);
	close_both(owner, client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(take_over_a_limit_loses_no_message),
	    cmocka_unit_test(message_over_a_limit_blocks_nobody),
	    cmocka_unit_test(take_that_is_lost_is_told),
	    cmocka_unit_test(dead_messages_over_a_limit_are_dead_letters),
	    cmocka_unit_test(dead_message_over_a_limit_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
