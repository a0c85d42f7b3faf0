/* bench_bare.c: see bench_bare.h. */
#include "bench/bench_bare.h"

#include <hiredis/hiredis.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_home.h"

enum {
	SHARDS = BENCH_SHARDS,
	BATCH_MAX = 1024,
	VALUE_SIZE = 42 + 13 + BENCH_DATA_SIZE, /* header, "order.timeout", data */
	KEY_SIZE = 16,
	DUE_SIZE = 17
};

static const char *const commands[] = {"ZADD", "HSET"};

struct command {
	const char *words[2 + 2 * BATCH_MAX];
	size_t sizes[2 + 2 * BATCH_MAX];
	int count;
};

static void add(struct command *command, const char *word, size_t size)
{
	command->words[command->count] = word;
	command->sizes[command->count++] = size;
}

static void append(struct redisContext *redis, struct command *command)
{
	bench_require(redisAppendCommandArgv(redis, command->count, command->words,
					     command->sizes) == REDIS_OK,
		      "a command is queued");
}

static void begin(struct command *command, const char *name, char *key, char kind, size_t shard)
{
	command->count = 0;
	(void)snprintf(key, KEY_SIZE, "{bare:%02zu}:%c", shard, kind);
	add(command, name, strlen(name));
	add(command, key, strlen(key));
}

static redisReply *take(struct redisContext *redis)
{
	void *reply = NULL;

	bench_require(redisGetReply(redis, &reply) == REDIS_OK && reply &&
			  ((redisReply *)reply)->type != REDIS_REPLY_ERROR,
		      "a reply of the bare client");
	return reply;
}

static void skip(struct redisContext *redis, size_t count)
{
	while (count-- > 0)
		freeReplyObject(take(redis));
}

/* flush writes what is queued, and waits for nothing. */
static void flush(struct redisContext *redis)
{
	int done = 0;

	while (!done)
		bench_require(redisBufferWrite(redis, &done) == REDIS_OK, "it is written");
}

/* ---- Putting ------------------------------------------------------------------------------- */

/* put_batch: a ZADD and an HSET. */
static void put_batch(struct redisContext *redis, size_t shard, size_t first, size_t count)
{
	static const char value[VALUE_SIZE] = "0123456789";
	static struct command zadd, hset;
	static char ids[BATCH_MAX][BENCH_ID_SIZE];
	static char dues[BATCH_MAX][DUE_SIZE];
	char keys[2][KEY_SIZE];

	begin(&zadd, commands[0], keys[0], 'z', shard);
	begin(&hset, commands[1], keys[1], 'h', shard);
	for (size_t i = 0; i < count; i++) {
		bench_id(first + i, ids[i]);
		(void)snprintf(dues[i], DUE_SIZE, "%016zu",
			       1800000000000000u + (first + i) * 7919u % 3600000000u);
		add(&zadd, dues[i], DUE_SIZE - 1);
		add(&zadd, ids[i], BENCH_ID_SIZE - 1);
		add(&hset, ids[i], BENCH_ID_SIZE - 1);
		add(&hset, value, VALUE_SIZE);
	}
	append(redis, &zadd);
	append(redis, &hset);
}

/* One batch a shard is written before the replies of the one before it are read. */
void bench_bare_put(struct redisContext *redis, size_t n, size_t batch)
{
	size_t unread = 0;
	size_t i = 0;

	bench_require(batch > 0 && batch <= BATCH_MAX, "the size of a batch");
	while (i < n) {
		size_t before = unread;

		unread = 0;
		for (size_t shard = 0; shard < SHARDS && i < n; shard++) {
			size_t count = n - i < batch ? n - i : batch;

			put_batch(redis, shard, i, count);
			unread += 2;
			i += count;
		}
		flush(redis);
		skip(redis, before);
	}
	skip(redis, unread);
}

/* ---- Loading ------------------------------------------------------------------------------- */

static void ask_range(struct redisContext *redis, size_t shard, size_t from, size_t page)
{
	static struct command range;
	char key[KEY_SIZE];
	char numbers[2][24];

	begin(&range, "ZRANGE", key, 'z', shard);
	(void)snprintf(numbers[0], sizeof numbers[0], "%zu", from);
	(void)snprintf(numbers[1], sizeof numbers[1], "%zu", from + page - 1);
	add(&range, numbers[0], strlen(numbers[0]));
	add(&range, numbers[1], strlen(numbers[1]));
	add(&range, "WITHSCORES", 10);
	append(redis, &range);
}

/* ask_values of a page's ids; returns how many. */
static size_t ask_values(struct redisContext *redis, size_t shard, const redisReply *page)
{
	static struct command hmget;
	char key[KEY_SIZE];

	begin(&hmget, "HMGET", key, 'h', shard);
	for (size_t i = 0; i + 1 < page->elements; i += 2)
		add(&hmget, page->element[i]->str, (size_t)page->element[i]->len);
	if (page->elements > 0)
		append(redis, &hmget);
	return page->elements / 2;
}

/* A page of every shard is under way, and the next one before its values are read. */
size_t bench_bare_load(struct redisContext *redis, size_t page)
{
	size_t total = 0;
	size_t from = 0;
	size_t pages = SHARDS;
	size_t ranges = SHARDS;

	bench_require(page > 0 && page <= BATCH_MAX, "the size of a page");
	for (size_t shard = 0; shard < SHARDS; shard++)
		ask_range(redis, shard, 0, page);
	while (pages > 0) {
		redisReply *replies[SHARDS];

		for (size_t shard = 0; shard < ranges; shard++)
			replies[shard] = take(redis);
		pages = 0;
		for (size_t shard = 0; shard < SHARDS; shard++) {
			size_t count = ask_values(redis, shard, replies[shard]);

			total += count;
			pages += count > 0;
			freeReplyObject(replies[shard]);
		}
		from += page;
		flush(redis);
		skip(redis, pages);
		for (size_t shard = 0; pages > 0 && shard < SHARDS; shard++)
			ask_range(redis, shard, from, page);
	}
	return total;
}
