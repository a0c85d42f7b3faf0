/* Consumers that wait for messages on a real server: a push calls as many as it has messages, and
 * none that has ended keeps a message from the others. What the test does not turn does not look by
 * itself, so the entries of those that wait say who was called. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "durawheel/topic.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(60)

enum { CONSUMERS = 20 };

struct consumer {
	dw *d;
	int answers;
	size_t count; /* messages of the last answer */
};

struct scene {
	struct redis_server server;
	redisContext *redis;
	dw *producer;
	bool is_pushed;
	struct consumer consumers[CONSUMERS];
};

static dw *open_client(const struct scene *scene)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options, .store = url, .name = "n", .role = DW_CLIENT};
	dw *d;

	(void)snprintf(url, sizeof url, "unix://%s", scene->server.path);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	return d;
}

static void turn(dw *d)
{
	struct pollfd readable = {.fd = dw_fd(d), .events = POLLIN};

	(void)poll(&readable, 1, 1);
	assert_int_equal(dw_turn(d), DW_OK);
}

/* entries of consumers that wait for a topic, "" for those of many topics, in all shards. */
static long long entries(const struct scene *scene, const char *topic)
{
	redisReply *reply = redisCommand(scene->redis, "EVAL %s 0 {n:*}:qc:%s",
					 "local sum = 0 "
					 "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do "
					 "sum = sum + redis.call('ZCARD', key) end return sum",
					 topic);
	long long count;

	assert_non_null(reply);
	assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
	count = reply->integer;
	freeReplyObject(reply);
	return count;
}

static void done(dw *d, const dw_result *result, void *user)
{
	bool *is_done = user;

	(void)d;
	assert_int_equal(result->status, DW_OK);
	*is_done = true;
}

static void await(dw *d, const bool *is_done)
{
	while (!*is_done)
		turn(d);
}

static void make_queue(struct scene *scene, const char *topic)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
	bool is_set = false;

	assert_int_equal(dw_topic_set(scene->producer, topic, &settings, done, &is_set), DW_OK);
	await(scene->producer, &is_set);
}

static void push(struct scene *scene, const char *topic, size_t count)
{
	static dw_timer timers[DW_TAKE_MAX];
	bool is_pushed = false;

	for (size_t i = 0; i < count; i++)
		timers[i] = (dw_timer){.size = sizeof timers[i], .topic = topic};
	assert_int_equal(dw_push(scene->producer, timers, count, done, &is_pushed), DW_OK);
	await(scene->producer, &is_pushed);
}

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct consumer *consumer = user;

	(void)d;
	(void)messages;
	assert_true(status == DW_OK || status == DW_ECLOSED);
	consumer->answers++;
	consumer->count = count;
}

static void take(struct scene *scene, struct consumer *consumer, const char *topic, dw_usec wait)
{
	dw_take_options options = {.size = sizeof options,
				   .topics = &topic,
				   .topic_count = topic != NULL,
				   .max = 1,
				   .wait_us = wait};

	if (!consumer->d)
		consumer->d = open_client(scene);
	assert_int_equal(dw_take(consumer->d, &options, taken, consumer), DW_OK);
}

/* await_entries: the consumers up to this one wait, as the store knows. */
static void await_entries(struct scene *scene, size_t consumers, const char *topic, long long count)
{
	while (entries(scene, topic) < count)
		for (size_t i = 0; i < consumers; i++)
			turn(scene->consumers[i].d);
}

static void await_answer(const struct consumer *consumer)
{
	while (consumer->answers == 0)
		turn(consumer->d);
	assert_int_equal(consumer->count, 1);
}

static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	assert_non_null(scene);
	redis_server_start(&scene->server, false, NULL);
	scene->redis = redisConnectUnix(scene->server.path);
	assert_true(scene->redis && !scene->redis->err);
	scene->producer = open_client(scene);
	make_queue(scene, "game.1");
	make_queue(scene, "other");
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	for (size_t i = 0; i < CONSUMERS; i++)
		if (scene->consumers[i].d)
			assert_int_equal(dw_close(scene->consumers[i].d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(scene->producer, PATIENCE), DW_OK);
	redisFree(scene->redis);
	redis_server_end(&scene->server);
	free(scene);
	return 0;
}

static void push_calls_as_many_as_it_has_messages(void **state)
{
	struct scene *scene = *state;
	int answers = 0;

	for (size_t i = 0; i < CONSUMERS; i++)
		take(scene, &scene->consumers[i], "game.1", DW_HOURS(1));
	await_entries(scene, CONSUMERS, "game.1", CONSUMERS);
	push(scene, "game.1", 1);
	assert_int_equal(entries(scene, "game.1"), CONSUMERS - 1);
	push(scene, "game.1", 3);
	assert_int_equal(entries(scene, "game.1"), CONSUMERS - 4);
	while (answers < 4) {
		answers = 0;
		for (size_t i = 0; i < CONSUMERS; i++) {
			turn(scene->consumers[i].d);
			answers += scene->consumers[i].answers;
		}
	}
	assert_int_equal(answers, 4);
}

static void process_that_has_ended_is_passed_over(void **state)
{
	struct scene *scene = *state;
	struct consumer *waits = &scene->consumers[0], *ends = &scene->consumers[1];

	take(scene, waits, "game.1", DW_HOURS(1));
	await_entries(scene, 1, "game.1", 1);
	take(scene, ends, "game.1", DW_HOURS(1));
	await_entries(scene, 2, "game.1", 2);
	assert_int_equal(dw_close(ends->d, PATIENCE), DW_OK);
	ends->d = NULL;
	push(scene, "game.1", 1);
	assert_int_equal(entries(scene, "game.1"), 0);
	await_answer(waits);
}

/* Only the one that has ended is turned: it passes the call on. */
static void take_that_has_ended_passes_its_call_on(void **state)
{
	struct scene *scene = *state;
	struct consumer *waits = &scene->consumers[0], *ends = &scene->consumers[1];

	take(scene, ends, "game.1", DW_SECONDS(2));
	while (entries(scene, "game.1") < 1)
		turn(ends->d);
	while (ends->answers == 0)
		turn(ends->d);
	take(scene, waits, "game.1", DW_HOURS(1));
	while (entries(scene, "game.1") < 2)
		turn(waits->d);
	/* The last one that has looked is called first. */
	redisReply *reply = redisCommand(scene->redis, "EVAL %s 0 {n:*}:qc:game.1",
					 "local key = redis.call('KEYS', ARGV[1])[1] "
					 "local first = redis.call('ZRANGE', key, 0, 0)[1] "
					 "return redis.call('ZADD', key, 9007199254740991, first)");
	assert_non_null(reply);
	freeReplyObject(reply);
	push(scene, "game.1", 1);
	assert_int_equal(entries(scene, "game.1"), 1);
	while (entries(scene, "game.1") > 0)
		turn(ends->d);
	await_answer(waits);
}

static void consumer_of_many_topics_is_called(void **state)
{
	struct scene *scene = *state;
	struct consumer *some = &scene->consumers[0], *all = &scene->consumers[1];

	take(scene, some, "game.*", DW_HOURS(1));
	await_entries(scene, 1, "", 16);
	push(scene, "other", 1);
	assert_int_equal(entries(scene, ""), 16);
	push(scene, "game.1", 1);
	assert_int_equal(entries(scene, ""), 15);
	await_answer(some);
	take(scene, all, NULL, DW_HOURS(1)); /* the other message is there */
	await_answer(all);
}

static void largest_push_is_one_step(void **state)
{
	struct scene *scene = *state;
	struct consumer *waits = &scene->consumers[0];

	push(scene, "game.1", DW_TAKE_MAX);
	take(scene, waits, "game.1", 0);
	await_answer(waits);
}

/* A server that is set back, or emptied, has no entries: those that wait look each second. */
static void consumer_that_was_forgotten_looks_by_itself(void **state)
{
	struct scene *scene = *state;
	struct consumer *waits = &scene->consumers[0];

	take(scene, waits, "game.1", DW_HOURS(1));
	await_entries(scene, 1, "game.1", 1);
	freeReplyObject(redisCommand(scene->redis, "EVAL %s 0 {n:*}:qc:game.1",
				     "return redis.call('DEL', "
				     "redis.call('KEYS', ARGV[1])[1])"));
	push(scene, "game.1", 1);
	await_answer(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(push_calls_as_many_as_it_has_messages, begin, end),
	    cmocka_unit_test_setup_teardown(process_that_has_ended_is_passed_over, begin, end),
	    cmocka_unit_test_setup_teardown(take_that_has_ended_passes_its_call_on, begin, end),
	    cmocka_unit_test_setup_teardown(consumer_of_many_topics_is_called, begin, end),
	    cmocka_unit_test_setup_teardown(largest_push_is_one_step, begin, end),
	    cmocka_unit_test_setup_teardown(consumer_that_was_forgotten_looks_by_itself, begin,
					    end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
