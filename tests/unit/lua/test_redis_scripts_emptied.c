/* A shard that was emptied under its owner, by a server whose clock is behind the one before. */
#include <stdlib.h>

#include "store/redis/wire/value.h"
#include "support/cmocka.h"
#include "support/newer.h"
#include "support/script_fixture.h"

#define AHEAD_US 30000000u

static uint64_t server_now(struct scripts *s)
{
	const redisReply *time = command(s, "TIME");

	return strtoull(time->element[0]->str, NULL, 10) * 1000000 +
	       strtoull(time->element[1]->str, NULL, 10);
}

/* take_again: the owner of that era knows versions up to the floor; '': it was none. */
static void take_again(struct scripts *s, uint64_t floor, const char *era)
{
	call(s, "acquire");
	call_text(s, "n1");
	call_text(s, "2");
	call_text(s, "60000");
	call_number(s, floor);
	call_text(s, "me");
	call_text(s, "16");
	call_text(s, "era2");
	call_text(s, "");
	call_text(s, era);
	assert_true(is(call_go(s), "OK"));
}

static void begin_session(struct scripts *s)
{
	call(s, "session");
	call_text(s, "1");
	call_text(s, "60000");
	call_text(s, "16");
	call_text(s, "1");
	assert_true(is(call_go(s), "OK"));
	s->sent = 0;
}

static uint64_t stored_version(struct scripts *s, const char *id)
{
	return version_in(command(s, "HGET {t:07}:h %s", id));
}

static int64_t told_version(struct scripts *s, const char *id)
{
	return strtoll(command(s, "ZSCORE {t:07}:i %s", id)->str, NULL, 10);
}

static void versions_grow_above_what_the_owner_knows(void **state)
{
	struct scripts *s = *state;
	uint64_t floor = server_now(s) + AHEAD_US;

	command(s, "FLUSHALL");
	take_again(s, floor, "era");
	assert_int_equal(strtoull(s->reply->element[3]->str, NULL, 10), floor);
	begin_session(s);
	assert_true(put_one(s, false, "a", 500, 0) > floor);
	command(s, "DEL {t:07}:l");
	take_again(s, 5, "era2"); /* what the shard knows is higher */
	assert_true(strtoull(s->reply->element[3]->str, NULL, 10) > floor);
}

static void cancel(struct scripts *s, const char *id)
{
	call_client(s, "cancel");
	call_text(s, "0");
	call_text(s, id);
	call_text(s, "0");
	assert_true(is(call_go(s), "OK"));
}

static void writes_of_clients_are_later_than_what_the_owner_knows(void **state)
{
	struct scripts *s = *state;
	uint64_t floor = server_now(s) + AHEAD_US;
	uint64_t first, second;

	command(s, "FLUSHALL");
	begin_session(s);
	first = put_one(s, false, "b", 500, 0);
	second = put_one(s, false, "a", 500, 0);
	(void)put_one(s, false, "gone", 500, 0);
	cancel(s, "gone");
	assert_true(first < second && second < floor);
	take_again(s, floor, "era");
	first = stored_version(s, "b");
	second = stored_version(s, "a");
	assert_true(floor < first && first < second);
	assert_int_equal(told_version(s, "b"), first);
	assert_int_equal(told_version(s, "a"), second);
	assert_true(told_version(s, "gone") > (int64_t)floor);
	assert_int_equal(first % 16, 7);
	assert_true(put_one(s, false, "c", 500, 0) > second);
}

/* What is in the inbox of a shard that was set back may be older than what its owner knows. */
static void writes_of_clients_keep_their_versions_in_the_same_era(void **state)
{
	struct scripts *s = *state;
	uint64_t version = put_one(s, false, "a", 500, 0);

	command(s, "DEL {t:07}:l");
	take_again(s, version + AHEAD_US, "era");
	assert_int_equal(stored_version(s, "a"), version);
	assert_int_equal(told_version(s, "a"), version);
}

static void push(struct scripts *s, bool owner, const char *id, uint64_t version)
{
	static const unsigned char body[VALUE_BODY_MIN + 1] = {1, 1, 0, 0, 0, 0, 'b'};

	(owner ? call_owner : call_client)(s, "repush");
	call_text(s, id);
	call_number(s, version);
	for (size_t i = 0; i < 5; i++)
		call_text(s, "0");
	call_due(s, 700);
	call_word(s, body, sizeof body);
	assert_true(is(call_go(s), "OK"));
}

/* Its owner was ousted, and tells the new one what it knows: nothing that is there is older. */
static void what_an_ousted_owner_knows_replaces_nothing(void **state)
{
	struct scripts *s = *state;
	uint64_t floor = server_now(s) + AHEAD_US;
	uint64_t version = put_one(s, false, "a", 500, 0);

	push(s, false, "a", floor);
	assert_int_equal(s->reply->element[1]->element[0]->integer, 3); /* stale */
	assert_int_equal(stored_version(s, "a"), version);
	(void)put_one(s, false, "gone", 500, 0);
	cancel(s, "gone");
	push(s, false, "gone", floor);
	assert_int_equal(s->reply->element[1]->integer, 2);
	push(s, false, "b", floor);
	assert_int_equal(stored_version(s, "b"), floor);
}

static void store_newer(struct scripts *s, const char *id, uint64_t version)
{
	unsigned char value[NEWER_VALUE_MAX];
	dw_head head = {.generation = version, .due = 5, .attempt = 3};
	size_t size = newer_value(&head, id, "b", value);

	command(s, "ZADD {t:07}:z 5 %s", id);
	command(s, "HSET {t:07}:h %s %b", id, value, size);
}

/* The server was set back to before it was replaced, and that put was confirmed. */
static void an_older_timer_of_a_newer_version_is_replaced(void **state)
{
	struct scripts *s = *state;
	uint64_t version = put_one(s, true, "a", 500, 0);
	dw_head head;

	store_newer(s, "a", version - 1);
	push(s, true, "a", version);
	assert_int_equal(s->reply->element[1]->type, REDIS_REPLY_STRING);
	assert_true(value_head(command(s, "HGET {t:07}:h a")->str, VALUE_HEAD_SIZE, &head));
	assert_int_equal(head.generation, version);
	assert_int_equal(head.attempt, 0);
	assert_int_equal(strtol(command(s, "ZSCORE {t:07}:z a")->str, NULL, 10), 700);
}

static void no_other_timer_of_a_newer_version_is_replaced(void **state)
{
	struct scripts *s = *state;
	uint64_t version = put_one(s, true, "a", 500, 0);

	for (uint64_t i = 0; i < 3; i++) { /* a client replaces an older one neither */
		uint64_t stored = version - 1 + i;

		store_newer(s, "a", stored);
		push(s, i > 0, "a", version);
		assert_int_equal(s->reply->element[1]->element[0]->integer, 3);
		assert_int_equal(stored_version(s, "a"), stored);
		assert_int_equal(strtol(command(s, "ZSCORE {t:07}:z a")->str, NULL, 10), 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(versions_grow_above_what_the_owner_knows, scripts_empty),
	    cmocka_unit_test_setup(writes_of_clients_are_later_than_what_the_owner_knows,
				   scripts_empty),
	    cmocka_unit_test_setup(writes_of_clients_keep_their_versions_in_the_same_era,
				   scripts_empty),
	    cmocka_unit_test_setup(what_an_ousted_owner_knows_replaces_nothing, scripts_empty),
	    cmocka_unit_test_setup(an_older_timer_of_a_newer_version_is_replaced, scripts_empty),
	    cmocka_unit_test_setup(no_other_timer_of_a_newer_version_is_replaced, scripts_empty),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
