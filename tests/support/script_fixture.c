#include "support/script_fixture.h"

#if DW_WITH_REDIS

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/wire/script.h"
#include "base/bytes.h"
#include "store/redis/wire/value.h"
#include "support/cmocka.h"

static const char body[] = {1, 1, 'c', 'r', 'c', '.', 'b'};

static void keep(struct scripts *s, redisReply *reply)
{
	if (s->reply)
		freeReplyObject(s->reply);
	s->reply = reply;
	if (!reply)
		fail_msg("%s", s->link->errstr);
}

redisReply *command(struct scripts *s, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	keep(s, redisvCommand(s->link, format, words));
	va_end(words);
	return s->reply;
}

static const struct redis_script *script_of(const char *name)
{
	size_t i = 0;

	while (i < SCRIPT_COUNT && strcmp(redis_scripts[i].name, name) != 0)
		i++;
	assert_true(i < SCRIPT_COUNT);
	return &redis_scripts[i];
}

void call_word(struct scripts *s, const void *bytes, size_t size)
{
	assert_true(s->count < CALL_WORDS_MAX && s->used + size <= CALL_BYTES_MAX);
	s->words[s->count] = s->bytes + s->used;
	s->sizes[s->count++] = size;
	if (size)
		memcpy(s->bytes + s->used, bytes, size);
	s->used += size;
}

void call_text(struct scripts *s, const char *text)
{
	call_word(s, text, strlen(text));
}

void call_number(struct scripts *s, uint64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, number);
	call_text(s, text);
}

void call_due(struct scripts *s, int64_t due)
{
	unsigned char bytes[8];

	bytes_put(bytes, (uint64_t)due, 8);
	call_word(s, bytes, sizeof bytes);
}

void call_topic(struct scripts *s, const char *name, const char *topic)
{
	const struct redis_script *script = script_of(name);
	char key[128];

	s->count = 0;
	s->used = 0;
	call_text(s, "EVALSHA");
	call_text(s, script->sha1);
	call_number(s, script->key_count + script->queue_keys);
	for (unsigned i = 0; i < script->key_count; i++) {
		(void)snprintf(key, sizeof key, "{t:%02u}:%s%s", s->shard,
			       redis_key_ends[script->keys[i]],
			       script->keys[i] == KEY_SESSION ? "c" : "");
		call_text(s, key);
	}
	for (unsigned i = 0; i < script->queue_keys; i++) {
		(void)snprintf(key, sizeof key, "{t:%02u}:%s%s", s->shard, redis_queue_ends[i],
			       i < QUEUE_KEYS ? topic : "");
		call_text(s, key);
	}
}

void call(struct scripts *s, const char *name)
{
	call_topic(s, name, "");
}

redisReply *call_go(struct scripts *s)
{
	keep(s, redisCommandArgv(s->link, s->count, s->words, s->sizes));
	return s->reply;
}

void call_owner(struct scripts *s, const char *name)
{
	call(s, name);
	call_text(s, "o");
	call_text(s, s->token);
	call_text(s, "era");
	call_number(s, ++s->mark);
	call_number(s, 60000);
	call_text(s, "");
}

void call_client(struct scripts *s, const char *name)
{
	call(s, name);
	call_text(s, "c");
	call_text(s, "1");
	call_text(s, "");
	call_number(s, ++s->sent);
	call_number(s, 60000);
	call_text(s, "{t:07}:wake");
}

bool is(const redisReply *reply, const char *word)
{
	const redisReply *first = reply;

	if (reply->type == REDIS_REPLY_ARRAY)
		first = reply->elements ? reply->element[0] : NULL;
	if (!first || !first->str)
		return false;
	if (first->type == REDIS_REPLY_ERROR)
		return strncmp(first->str, word, strlen(word)) == 0;
	return strcmp(first->str, word) == 0;
}

static void expect_ok(const redisReply *reply)
{
	if (!is(reply, "OK"))
		fail_msg("%s", reply->elements ? reply->element[0]->str : reply->str);
}

void own(struct scripts *s)
{
	char nonce[16];

	(void)snprintf(nonce, sizeof nonce, "n%u", ++s->owners);
	call(s, "acquire");
	call_text(s, nonce);
	call_text(s, "1");
	call_number(s, 60000);
	call_text(s, "0");
	call_text(s, "me");
	call_text(s, "16");
	call_text(s, "era");
	call_text(s, s->token);
	expect_ok(call_go(s));
	(void)snprintf(s->token, sizeof s->token, "%s", s->reply->element[1]->str);
	s->fence = strtoull(s->token, NULL, 10);
	s->mark = 0;
}

uint64_t version_in(const redisReply *header)
{
	assert_int_equal(header->type, REDIS_REPLY_STRING);
	assert_true(header->len >= 36);
	return bytes_get((const unsigned char *)header->str + 8, 8);
}

void call_puts(struct scripts *s, const struct put *puts, size_t count)
{
	char flags[16];
	unsigned char value[512];

	assert_true(count < sizeof flags);
	for (size_t i = 0; i < count; i++)
		flags[i] = (char)('0' + puts[i].flags);
	call_word(s, flags, count);
	for (size_t i = 0; i < count; i++) {
		int64_t score = value_score(puts[i].due);

		call_number(s, (uint64_t)score);
		call_text(s, puts[i].id);
	}
	for (size_t i = 0; i < count; i++) {
		dw_head head = {.generation = puts[i].ver, .due = puts[i].due};
		const unsigned char *bytes = puts[i].body;

		assert_true(puts[i].body_size + VALUE_HEAD_SIZE < sizeof value);
		value_head_write(value, &head, 0, (uint32_t)bytes_get(bytes + 2, 4));
		memcpy(value + VALUE_HEAD_SIZE, bytes, puts[i].body_size);
		call_word(s, value, VALUE_HEAD_SIZE + puts[i].body_size);
	}
}

uint64_t put_one(struct scripts *s, bool owner, const char *id, int64_t due, unsigned flags)
{
	(owner ? call_owner : call_client)(s, "put");
	call_puts(s,
		  &(struct put){
		      .flags = flags, .id = id, .due = due, .body = body, .body_size = sizeof body},
		  1);
	expect_ok(call_go(s));
	return version_in(s->reply->element[1]);
}

int scripts_set_up(void **state)
{
	static char text[SCRIPT_TEXT_MAX];
	struct scripts *s = NULL;

	*state = NULL;
	s = calloc(1, sizeof *s);
	assert_non_null(s);
	redis_server_start(&s->server, false, NULL);
	s->link = redisConnectUnix(s->server.path);
	assert_true(s->link && !s->link->err);
	for (size_t i = 0; i < SCRIPT_COUNT; i++) {
		command(s, "SCRIPT LOAD %b", script_text(&redis_scripts[i], text),
			redis_scripts[i].size);
		assert_string_equal(s->reply->str, redis_scripts[i].sha1);
	}
	*state = s;
	return 0;
}

int scripts_tear_down(void **state)
{
	struct scripts *s = *state;

	if (!s)
		return 0;
	if (s->reply)
		freeReplyObject(s->reply);
	redisFree(s->link);
	redis_server_end(&s->server);
	free(s);
	return 0;
}

int scripts_empty(void **state)
{
	struct scripts *s = *state;

	if (!s)
		return 0;
	command(s, "CONFIG SET maxmemory 0");
	command(s, "FLUSHALL");
	s->shard = 7;
	s->sent = 0;
	s->token[0] = '\0';
	own(s);
	call(s, "session");
	call_text(s, "1");
	call_number(s, 60000);
	call_text(s, "");
	expect_ok(call_go(s));
	return 0;
}

#endif
