/* The keyspace and its scripts held against a redis-server: the same calls, at random; every reply
 * and, from time to time, everything that is stored must be the same. */
#include "keyspace/both.h"

#include <string.h>

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
		if (!both.full && both_draw(&both, 3)) {
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

	assert_string_equal(channel.at, "{t}:wake");
	assert_string_equal(message.at, "0");
	(*heard)++;
	return 1;
}

/* alone calls the keyspace only, and says whether the answer begins with that word. */
static bool alone(struct both *both, const char *word)
{
	struct reply *reply;
	bool is;

	keyspace_set_time(both->keyspace, both->now);
	reply = keyspace_call(both->keyspace, both->count, both->words, both->sizes);
	is = reply->kind == REPLY_ARRAY && reply_is(&reply->items[0], word);
	reply_free(reply);
	return is;
}

static bool acquires(struct both *both)
{
	static const char *const rest[] = {"n", "1", "5000", "0", "me", "1", "era", ""};

	both_begin_script(both, "acquire", "n");
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		both_text(both, rest[i]);
	return alone(both, "OK");
}

static bool puts_as_client(struct both *both, const char *number)
{
	const char *const rest[] = {"c", "1", "", number, "5000", "{t}:wake"};

	both_begin_script(both, "put", "n");
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		both_text(both, rest[i]);
	both_put_one(both, "a");
	return alone(both, "OK");
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
	both_begin_script(&both, "session", "n");
	both_text(&both, "1");
	both_text(&both, "5000");
	both_text(&both, "1");
	assert_true(alone(&both, "OK"));
	assert_true(puts_as_client(&both, "1"));
	assert_int_equal(heard, 1);
	both.now += 5000 * 1000;
	assert_false(acquires(&both));
	assert_true(puts_as_client(&both, "2"));
	both.now += 1000;
	assert_true(acquires(&both));
	both.now += 5000 * 1000;
	assert_false(puts_as_client(&both, "3"));
	assert_int_equal(heard, 2);
	keyspace_free(both.keyspace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keyspace_lease_and_session_end_by_its_clock),
	    cmocka_unit_test(keyspace_random_calls_are_the_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
