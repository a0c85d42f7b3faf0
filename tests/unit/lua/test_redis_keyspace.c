/* The keyspace and its scripts held against a redis-server: the same calls, at random; every reply
 * and, from time to time, everything that is stored must be the same. */
#include "keyspace/both.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ask.h"
#include "support/cmocka.h"
#include "support/seed.h"

static void keyspace_random_calls_are_the_servers(void **state)
{
	static struct both both;
	uint64_t count = environment_scaled(100000);

	(void)state;
	both.rng = seed_of_test();
	both_open(&both);
	while (both.calls < count) {
		uint64_t before = both.calls;

		both.shard = (unsigned)both_draw(&both, BOTH_SHARDS);
		if (both.refusal == KEYSPACE_ACCEPTS && both_draw(&both, 3)) {
			both.now += (dw_usec)both_draw(&both, both_draw(&both, 10) ? 300 : 1000000);
			both_set_clock(&both);
		}
		both_step(&both);
		if (both.calls / 1000 != before / 1000)
			both_compare(&both);
	}
	both_compare(&both);
	both_close(&both);
}

static unsigned count_news(void *user, struct bytes channel, struct bytes message)
{
	unsigned *heard = user;

	assert_string_equal(channel.at, "{t:00}:wake");
	assert_string_equal(message.at, "0");
	(*heard)++;
	return 1;
}

/* alone calls the keyspace only, and says whether the answer begins with that word. */
static bool alone(struct both *both, const char *script, const char *format, const char *word)
{
	struct reply *reply;
	bool is;

	both_begin_script(both, script, "n");
	both_words(both, format);
	keyspace_set_time(both->keyspace, both->now);
	reply = keyspace_call(both->keyspace, both->count, both->words, both->sizes);
	is = reply->kind == REPLY_ARRAY && reply_is(&reply->items[0], word);
	reply_free(reply);
	return is;
}

static bool acquires(struct both *both)
{
	return alone(both, "acquire", "[n][1][5000][0][me][1][era][][]", "OK");
}

static bool writes(struct both *both, const char *format)
{
	static struct caller nobody;

	both->caller = &nobody;
	return alone(both, "put", format, "OK");
}

/* Redis ends a key in the first millisecond after its time. */
static void keyspace_lease_and_session_end_by_its_clock(void **state)
{
	static struct both both;
	unsigned heard = 0;

	(void)state;
	both.rng = seed_of_test();
	both_twin(&both);
	assert_false(acquires(&both)); /* NOSCRIPT */
	keyspace_load(both.keyspace);
	keyspace_listen(both.keyspace, count_news, &heard);
	assert_true(acquires(&both));
	assert_true(alone(&both, "session", "[1][5000][1][][]", "OK"));
	assert_true(writes(&both, "[c][1][][1][5000][{t:00}:wake][0]UIV"));
	assert_int_equal(heard, 1);
	both.now += 5000 * 1000;
	assert_false(acquires(&both));
	assert_true(writes(&both, "[c][1][][2][5000][{t:00}:wake][0]UIV"));
	both.now += 1000;
	assert_true(acquires(&both));
	both.now += 5000 * 1000;
	assert_false(writes(&both, "[c][1][][3][5000][{t:00}:wake][0]UIV"));
	assert_int_equal(heard, 2);
	keyspace_free(both.keyspace);
}

static void compare_texts(const char *const *texts, size_t count)
{
	static struct both both;

	memset(&both, 0, sizeof both);
	both_open(&both);
	for (size_t i = 0; i < count; i++) {
		both_begin(&both, "EVAL");
		both_text(&both, texts[i]);
		both_text(&both, "0");
		reply_free(both_call(&both));
	}
	both_compare(&both);
	both_close(&both);
}

/* What a script computes with, and what EVAL makes of the values that it returns. */
static void numbers_and_answers_are_those_of_redis(void **state)
{
	static const char *const texts[] = {
	    "return 3.99",
	    "return -3.99",
	    "return {1, 2.5, 'a', false, {ok = 'fine'}, {err = 'MY error'}, {}, true, nil, 7}",
	    "return nil",
	    "return false",
	    "return true",
	    "return redis.error_reply('MY error')",
	    "return redis.status_reply('fine')",
	    "return 2^53 - 1",
	    "return {tostring(2^53), 1e15 .. '', 2^40 .. ''}",
	    "redis.call('SET', 'x', 2^53 - 1) return redis.call('GET', 'x')",
	    "redis.call('SET', 'x', 0.1) return redis.call('GET', 'x')",
	    "redis.call('SET', 'x', -1e300) return redis.call('GET', 'x')",
	    "redis.call('SET', 'x', 1e17) return redis.call('GET', 'x')",
	    "return redis.call('SET', 'x', {})",
	    "return redis.call()",
	    "return redis.call('NONSENSE')",
	    "return redis.call('GET')",
	    "return {pcall(redis.call, 'GET')}",
	    "return {pcall(error, 'words')}",
	    "return {pcall(function() return 1, 2 end)}",
	    "some_global = 1",
	    "return some_global",
	    "error('words')",
	    "return nil + 1",
	    "return {struct.unpack('<BI2I4I8', string.rep('\\255\\1', 9))}",
	    "return {struct.unpack('>bi2i4i8', string.rep('\\255\\1', 9))}",
	    "return {struct.unpack('<i8', string.rep('\\254', 9), 2)}",
	    "return {struct.unpack('<I4', 'abc')}",
	    "return struct.pack('<BbI2i2I4i4I8i8', 255, -1, 65535, -2, 2^32 - 1, -3, 2^53, -4)",
	    "return struct.pack('>BbI2i2I4i4I8i8', 255, -1, 65535, -2, 2^32 - 1, -3, 2^53, -4)",
	    "return struct.pack('<I4', 2^32 + 5)",
	    "return {bit.bxor(2^32 - 1, 1), bit.bxor(-1, 5), bit.bnot(0), bit.rshift(-1, 8)}",
	    "local t = {} for i = 1, 5 do t[i] = i end return {unpack(t, 2, 4)}",
	};

	(void)state;
	compare_texts(texts, sizeof texts / sizeof *texts);
}

static void arguments_are_refused_as_by_redis(void **state)
{
	static const char *const texts[] = {
	    "return redis.call('ZADD', 'z', 1, 'a', 2, 'b', 3, 'c')",
	    "return redis.call('ZRANGE', 'z', 0, -1, 'LIMIT', 1, 1)",
	    "return redis.call('ZRANGE', 'z', 0, -1, 'LIMIT', 1, -1)",
	    "return redis.call('ZRANGE', 'none', 0, -1, 'LIMIT', 0, 1)",
	    "return redis.call('ZRANGE', 'z', 'x', -1, 'LIMIT', 0, 1)",
	    "return redis.call('ZREVRANGE', 'z', 0, -1, 'LIMIT', 0, 1)",
	    "return redis.call('ZRANGE', 'z', 0, 9, 'BYSCORE', 'LIMIT', 1, 1)",
	    "return redis.call('HINCRBY', 'h', 'up', '9223372036854775806')",
	    "return redis.call('HINCRBY', 'h', 'up', 2)",
	    "return {redis.call('HINCRBY', 'h', 'up', 1), redis.call('HGET', 'h', 'up')}",
	    "return redis.call('HINCRBY', 'h', 'down', '-9223372036854775808')",
	    "return redis.call('HINCRBY', 'h', 'down', -1)",
	    "return redis.call('HINCRBY', 'h', 'down', '9223372036854775807')",
	};

	(void)state;
	compare_texts(texts, sizeof texts / sizeof *texts);
}

/* touch_another_key runs a script that asks for a second key, which is not in its KEYS. */
static void touch_another_key(void)
{
	static const struct patch patch = {"topic_list", "call('EXISTS', LEASE)",
					   "call('EXISTS', LEASE, 'elsewhere')"};
	static struct both both;

	both_twin(&both);
	keyspace_load(both.keyspace);
	keyspace_plant(both.keyspace, &patch, 1);
	(void)alone(&both, "topic_list", "[][1]", "OK"); /* it does not return */
}

static void key_beyond_the_first_must_be_declared(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		(void)close(STDERR_FILENO); /* the words of the keyspace */
		touch_another_key();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keyspace_lease_and_session_end_by_its_clock),
	    cmocka_unit_test(numbers_and_answers_are_those_of_redis),
	    cmocka_unit_test(arguments_are_refused_as_by_redis),
	    cmocka_unit_test(key_beyond_the_first_must_be_declared),
	    cmocka_unit_test(keyspace_random_calls_are_the_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
