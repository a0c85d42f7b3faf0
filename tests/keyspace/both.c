#include "keyspace/both.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/wire/script.h"
#include "support/cmocka.h"

enum { LINES = 4096 };

#define CLOCK_KEY "clock"

uint64_t both_draw(struct both *both, uint64_t limit)
{
	return rng_below(&both->rng, limit);
}

/* ---- Words --------------------------------------------------------------------------------- */

void both_bytes(struct both *both, const void *bytes, size_t size)
{
	assert_true(both->count < BOTH_WORDS && both->used + size + 1 <= BOTH_ROOM);
	both->words[both->count] = memcpy(both->room + both->used, bytes, size);
	both->room[both->used + size] = '\0';
	both->sizes[both->count++] = size;
	both->used += size + 1;
}

void both_text(struct both *both, const char *text)
{
	both_bytes(both, text, strlen(text));
}

void both_number(struct both *both, uint64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, number);
	both_text(both, text);
}

void both_begin(struct both *both, const char *word)
{
	both->count = 0;
	both->used = 0;
	both->script = NULL;
	both_text(both, word);
}

static size_t script_number(const char *name)
{
	size_t i = 0;

	while (strcmp(redis_scripts[i].name, name) != 0)
		i++;
	return i;
}

void both_key(struct both *both, const char *end)
{
	char key[96];

	(void)snprintf(key, sizeof key, "{t:%02u}:%s", both->shard, end);
	both_text(both, key);
}

void both_begin_script(struct both *both, const char *name, const char *session)
{
	const struct redis_script *script = &redis_scripts[script_number(name)];
	char key[64];

	both_begin(both, "EVALSHA");
	both->script = name;
	both_text(both, script->sha1);
	both_number(both, script->key_count + script->queue_keys);
	for (unsigned i = 0; i < script->key_count; i++) {
		(void)snprintf(key, sizeof key, "%s%s", redis_key_ends[script->keys[i]],
			       script->keys[i] == KEY_SESSION ? session : "");
		both_key(both, key);
	}
	for (unsigned i = 0; i < script->queue_keys; i++) {
		(void)snprintf(key, sizeof key, "%s%s", redis_queue_ends[i],
			       i < QUEUE_KEYS ? "game" : "");
		both_key(both, key);
	}
}

/* ---- Replies ------------------------------------------------------------------------------- */

static void show_call(const struct both *both)
{
	print_message("call %" PRIu64 " (%s):", both->calls, both->script ? both->script : "plain");
	for (int i = both->script ? 3 : 0; i < both->count; i++) {
		print_message(" \"");
		for (size_t k = 0; k < both->sizes[i] && k < 80; k++)
			print_message(isprint((unsigned char)both->words[i][k]) ? "%c" : "\\x%02x",
				      (unsigned char)both->words[i][k]);
		print_message("\"");
	}
	print_message("\n");
}

/* is_ttl returns true if the item is a remaining time to live, which differs between the two
 * sides. */
static bool is_ttl(const struct both *both, const struct reply *above, size_t item)
{
	if (!both->script || above->items[item].kind != REPLY_INTEGER)
		return false;
	if (strcmp(both->script, "status") == 0)
		return item == 6;
	return item == 2 && reply_is(&above->items[0], "HELD");
}

static bool is_same(const struct both *, const redisReply *, const struct reply *);

/* is_unordered returns true if the order of the answer depends on the server's hash tables. */
static bool is_unordered(const struct both *both)
{
	static const char *const all[] = {"orphans", "purge", "queue_check", "topic_list",
					  "topic_changes"};

	for (size_t i = 0; both->script && i < sizeof all / sizeof *all; i++)
		if (strcmp(both->script, all[i]) == 0)
			return true;
	for (int i = 0; !both->script && i < both->count; i++)
		if (strcmp(both->words[i], "HGETALL") == 0 ||
		    strcmp(both->words[i], "HSCAN") == 0 || strcmp(both->words[i], "ZSCAN") == 0)
			return true;
	return false;
}

/* has_item returns true if one item of the server's reply equals this item of ours. */
static bool has_item(const struct both *both, const redisReply *a, const struct reply *item)
{
	for (size_t i = 0; i < a->elements; i++)
		if (is_same(both, a->element[i], item))
			return true;
	return false;
}

static bool are_same(const struct both *both, const redisReply *a, const struct reply *b)
{
	bool any_order = is_unordered(both);

	if (a->elements != b->count)
		return false;
	for (size_t i = 0; i < b->count; i++) {
		if (is_ttl(both, b, i) ? (a->element[i]->integer > 0) != (b->items[i].integer > 0)
				       : !(any_order ? has_item(both, a, &b->items[i])
						     : is_same(both, a->element[i], &b->items[i])))
			return false;
	}
	return true;
}

/* is_same_error ignores what the server adds to an error: the name of the script or of the
 * command. */
static bool is_same_error(const redisReply *a, const struct reply *b)
{
	return a->len >= b->size && memcmp(a->str, b->bytes, b->size) == 0;
}

static bool is_same(const struct both *both, const redisReply *a, const struct reply *b)
{
	static const int types[] = {
	    [REPLY_NIL] = REDIS_REPLY_NIL,       [REPLY_INTEGER] = REDIS_REPLY_INTEGER,
	    [REPLY_STATUS] = REDIS_REPLY_STATUS, [REPLY_ERROR] = REDIS_REPLY_ERROR,
	    [REPLY_BULK] = REDIS_REPLY_STRING,   [REPLY_ARRAY] = REDIS_REPLY_ARRAY};

	if (a->type != types[b->kind])
		return false;
	if (b->kind == REPLY_INTEGER)
		return a->integer == b->integer;
	if (b->kind == REPLY_ERROR)
		return is_same_error(a, b);
	if (b->kind == REPLY_BULK || b->kind == REPLY_STATUS)
		return a->len == b->size && memcmp(a->str, b->bytes, b->size) == 0;
	return b->kind != REPLY_ARRAY || are_same(both, a, b);
}

static void show_theirs(const redisReply *reply)
{
	print_message("server: type %d, %lld, %s\n", reply->type, reply->integer,
		      reply->str ? reply->str : "");
	for (size_t i = 0; i < reply->elements; i++)
		print_message("  %zu: type %d, %lld, %s\n", i, reply->element[i]->type,
			      reply->element[i]->integer,
			      reply->element[i]->str ? reply->element[i]->str : "");
}

static void show_ours(const struct reply *reply)
{
	print_message("keyspace: kind %d, %lld, %s\n", reply->kind, (long long)reply->integer,
		      reply->bytes ? reply->bytes : "");
	for (size_t i = 0; i < reply->count; i++)
		print_message("  %zu: kind %d, %lld, %s\n", i, reply->items[i].kind,
			      (long long)reply->items[i].integer,
			      reply->items[i].bytes ? reply->items[i].bytes : "");
}

/* ---- Both ---------------------------------------------------------------------------------- */

static redisReply *ask_server(struct both *both)
{
	const char *words[BOTH_WORDS];
	redisReply *reply;

	memcpy(words, both->words, sizeof words);
	if (both->script)
		words[1] = both->sha1[script_number(both->script)];
	reply = redisCommandArgv(both->redis, both->count, words, both->sizes);
	if (!reply)
		fail_msg("the server: %s", both->redis->errstr);
	return reply;
}

struct reply *both_call(struct both *both)
{
	redisReply *theirs = ask_server(both);
	struct reply *ours;

	keyspace_set_time(both->keyspace, both->now);
	ours = keyspace_call(both->keyspace, both->count, both->words, both->sizes);
	both->calls++;
	if (!is_same(both, theirs, ours)) {
		show_call(both);
		show_theirs(theirs);
		show_ours(ours);
		fail_msg("the keyspace answers differently");
	}
	freeReplyObject(theirs);
	return ours;
}

/* command sends a command to the server only. */
static redisReply *command(struct both *both, const char *format, ...)
{
	va_list arguments;
	void *reply;

	va_start(arguments, format);
	reply = redisvCommand(both->redis, format, arguments);
	va_end(arguments);
	assert_non_null(reply);
	return reply;
}

void both_set_clock(struct both *both)
{
	freeReplyObject(command(both, "HSET " CLOCK_KEY " s %lld u %lld",
				(long long)(both->now / 1000000),
				(long long)(both->now % 1000000)));
}

void both_refuse(struct both *both, enum keyspace_refusal refusal, const char *denied)
{
	freeReplyObject(command(both, "CONFIG SET maxmemory %d", refusal == KEYSPACE_FULL));
	freeReplyObject(command(both, refusal == KEYSPACE_READS_ONLY ? "REPLICAOF 127.0.0.1 1"
								     : "REPLICAOF NO ONE"));
	freeReplyObject(command(both, "ACL SETUSER default +@all"));
	if (refusal == KEYSPACE_DENIES)
		freeReplyObject(command(both, "ACL SETUSER default -%s", denied));
	both->refusal = refusal;
	keyspace_refuse(both->keyspace, refusal, denied);
}

/* ---- Everything that is stored ------------------------------------------------------------- */

struct dump {
	char *lines[LINES];
	size_t count;
};

static void add_line(void *user, const struct keyspace_field *field)
{
	struct dump *dump = user;
	size_t size = strlen(field->key) + 2 * (field->name.size + field->value.size) + 8;
	char *line = malloc(size);
	char *at = line;

	assert_true(line && dump->count < LINES);
	at += snprintf(at, size, "%s ", field->key);
	for (size_t i = 0; i < field->name.size; i++)
		at += snprintf(at, 3, "%02x", (unsigned char)field->name.at[i]);
	*at++ = ' ';
	for (size_t i = 0; i < field->value.size; i++)
		at += snprintf(at, 3, "%02x", (unsigned char)field->value.at[i]);
	*at = '\0';
	dump->lines[dump->count++] = line;
}

static struct bytes bytes_at(const redisReply *all, size_t item)
{
	return (struct bytes){all->element[item]->str, all->element[item]->len};
}

static void dump_key(struct both *both, struct dump *dump, const char *key)
{
	redisReply *type = command(both, "TYPE %s", key);
	const char *how = strcmp(type->str, "string") == 0 ? "GET %s"
			  : strcmp(type->str, "hash") == 0 ? "HGETALL %s"
			  : strcmp(type->str, "list") == 0 ? "LRANGE %s 0 -1"
							   : "ZRANGE %s 0 -1 WITHSCORES";
	redisReply *all = command(both, how, key);
	const struct bytes none = {"", 0};

	if (all->type == REDIS_REPLY_STRING)
		add_line(dump, &(struct keyspace_field){key, none, {all->str, all->len}});
	for (size_t i = 0; i < all->elements; i++) {
		struct bytes name = strcmp(type->str, "list") == 0 ? none : bytes_at(all, i++);

		add_line(dump, &(struct keyspace_field){key, name, bytes_at(all, i)});
	}
	freeReplyObject(type);
	freeReplyObject(all);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* compare_ttl fails the test if only one side has a time to live for the key. */
static void compare_ttl(struct both *both, const char *key)
{
	redisReply *theirs = command(both, "PTTL %s", key);
	const char *words[] = {"PTTL", key};
	size_t sizes[] = {4, strlen(key)};
	struct reply *ours = keyspace_call(both->keyspace, 2, words, sizes);

	if ((theirs->integer > 0) != (ours->integer > 0))
		fail_msg("the time to live of %s is %lld and %lld", key, theirs->integer,
			 (long long)ours->integer);
	freeReplyObject(theirs);
	reply_free(ours);
}

void both_compare(struct both *both)
{
	static struct dump theirs, ours;
	redisReply *keys = command(both, "KEYS *");

	theirs.count = ours.count = 0;
	keyspace_set_time(both->keyspace, both->now);
	for (size_t i = 0; i < keys->elements; i++) {
		if (strcmp(keys->element[i]->str, CLOCK_KEY) == 0)
			continue;
		dump_key(both, &theirs, keys->element[i]->str);
		compare_ttl(both, keys->element[i]->str);
	}
	freeReplyObject(keys);
	keyspace_dump(both->keyspace, add_line, &ours);
	qsort(theirs.lines, theirs.count, sizeof *theirs.lines, by_text);
	qsort(ours.lines, ours.count, sizeof *ours.lines, by_text);
	for (size_t i = 0; i < theirs.count && i < ours.count; i++)
		assert_string_equal(theirs.lines[i], ours.lines[i]);
	assert_int_equal(theirs.count, ours.count);
	for (size_t i = 0; i < theirs.count; i++) {
		free(theirs.lines[i]);
		free(ours.lines[i]);
	}
}

/* ---- Beginning and end --------------------------------------------------------------------- */

/* timed returns the text of a script that reads the time from a key instead of TIME. The caller
 * frees it with free(). */
static char *timed(const struct redis_script *script)
{
	static const char theirs[] = "call('TIME')";
	static const char ours[] = "call('HMGET', '" CLOCK_KEY "', 's', 'u')";
	static char whole[SCRIPT_TEXT_MAX + 1];
	char *text = malloc(2 * SCRIPT_TEXT_MAX);
	const char *from = whole;
	size_t used = 0;
	const char *at;

	assert_non_null(text);
	(void)script_text(script, whole);
	whole[script->size] = '\0';
	for (; (at = strstr(from, theirs)); from = at + strlen(theirs))
		used += (size_t)snprintf(text + used, 2 * SCRIPT_TEXT_MAX - used, "%.*s%s",
					 (int)(at - from), from, ours);
	(void)snprintf(text + used, 2 * SCRIPT_TEXT_MAX - used, "%s", from);
	return text;
}

static void load_scripts(struct both *both)
{
	both->sha1 = calloc(SCRIPT_COUNT, sizeof *both->sha1);
	assert_non_null(both->sha1);
	for (size_t i = 0; i < SCRIPT_COUNT; i++) {
		char *text = timed(&redis_scripts[i]);
		redisReply *reply = command(both, "SCRIPT LOAD %s", text);

		assert_int_equal(reply->type, REDIS_REPLY_STRING);
		(void)snprintf(both->sha1[i], 41, "%s", reply->str);
		freeReplyObject(reply);
		free(text);
	}
}

static void make_callers(struct both *both)
{
	for (unsigned shard = 0; shard < BOTH_SHARDS; shard++) {
		for (unsigned i = 0; i < BOTH_OWNERS; i++) {
			struct caller *caller = &both->owners[shard][i];

			*caller = (struct caller){.owner = true, .token = "1:none:1"};
			(void)snprintf(caller->nonce, sizeof caller->nonce, "o%u", i);
		}
		for (unsigned i = 0; i < BOTH_CLIENTS; i++) {
			struct caller *caller = &both->clients[shard][i];

			*caller = (struct caller){.conn = 1};
			(void)snprintf(caller->nonce, sizeof caller->nonce, "c%u", i);
		}
	}
}

void both_twin(struct both *both)
{
	struct alloc alloc = alloc_default();

	both->keyspace = keyspace_new(&alloc);
	both->now = INT64_C(1767225600000000);
}

void both_open(struct both *both)
{
	redis_server_start(&both->server, false, NULL);
	both->redis = redisConnectUnix(both->server.path);
	assert_true(both->redis && both->redis->err == 0);
	both_twin(both);
	keyspace_load(both->keyspace);
	load_scripts(both);
	make_callers(both);
	both_set_clock(both);
}

void both_close(struct both *both)
{
	keyspace_free(both->keyspace);
	redisFree(both->redis);
	free(both->sha1);
	redis_server_end(&both->server);
}
