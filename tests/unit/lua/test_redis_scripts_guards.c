/* Who may change a shard: leases, sessions, operation numbers; and what holds when there is no
 * memory or a key is of another type. */
#include "support/cmocka.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/script_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A header that is taken for none, as its version is far from now. */
#define HEADER "HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH"

/* What each script that changes something is given, beyond the six common words. */
static const struct {
	const char *name;
	bool client;
	const char *words[8];
} mutations[] = {
    {"put", true, {"0", "1", "b", HEADER "\1\1crc.b"}},
    {"cancel", true, {"0", "a", "0"}},
    {"move", true, {"0", "a", "0", "12345678", ""}},
    {"requeue", true, {"d", "0", "12345678", ""}},
    {"drop", true, {"d", "0"}},
    {"claim", false, {"a", "1", "0"}},
    {"settle", false, {"a", "1", "0", "12345678", ""}},
    {"retry", false, {"a", "1", "0", "12345678", "1", ""}},
    {"bury", false, {"a", "1", "0", "2", "5", "", "12345678"}},
    {"ack", false, {"a", "99"}},
    {"claim_known", false, {"-5", "k", HEADER "\1\1crc.b"}},
    {"settle_known", false, {"x", "member"}},
    {"forget", false, {"0", "0"}},
    {"purge", false, {NULL}},
    {"report", false, {"text", "5"}},
};

static redisReply *mutate(struct scripts *s, size_t i, bool owner)
{
	(owner ? call_owner : call_client)(s, mutations[i].name);
	for (int k = 0; mutations[i].words[k]; k++)
		call_text(s, mutations[i].words[k]);
	return call_go(s);
}

/* digest: of all that is in the server but for the times at which it runs out. */
static void digest(struct scripts *s, char *ret_digest)
{
	const redisReply *reply = command(s, "EVAL %s 0",
					  "local all, names = '', redis.call('KEYS', '*') "
					  "table.sort(names) for _, name in ipairs(names) do "
					  "all = all .. name .. redis.call('DUMP', name) end "
					  "return redis.sha1hex(all)");

	assert_int_equal(reply->len, 40);
	memcpy(ret_digest, reply->str, 41);
}

static void expect_refusal(struct scripts *s, bool owner, const char *word)
{
	char before[41], after[41];

	digest(s, before);
	for (size_t i = 0; i < COUNT(mutations); i++) {
		if (!owner && !mutations[i].client)
			continue;
		if (!is(mutate(s, i, owner), word))
			fail_msg("%s is not refused by %s", mutations[i].name, word);
		*(owner ? &s->mark : &s->sent) -= 1;
	}
	digest(s, after);
	assert_string_equal(before, after);
}

static void bury_one(struct scripts *s, const char *id)
{
	uint64_t ver = put_one(s, true, id, 5, 0);

	call_owner(s, "bury");
	call_text(s, id);
	call_number(s, ver);
	call_text(s, "0");
	call_text(s, "2");
	call_text(s, "5");
	call_text(s, "");
	call_due(s, 4);
	assert_true(is(call_go(s), "OK"));
}

static int set_up(void **state)
{
	(void)scripts_empty(state); /* it fails by itself */
	bury_one(*state, "d");
	put_one(*state, false, "a", 5, 0);
	put_one(*state, true, "k", 5, 0);
	return 0;
}

static void another_token_is_fenced(void **state)
{
	struct scripts *s = *state;
	char token[sizeof s->token];

	memcpy(token, s->token, sizeof token);
	own(s);
	memcpy(s->token, token, sizeof token);
	expect_refusal(s, true, "FENCED");
	command(s, "DEL {t:07}:l");
	expect_refusal(s, true, "FENCED");
}

static void another_era_is_refused(void **state)
{
	struct scripts *s = *state;

	command(s, "HSET {t:07}:m era other");
	expect_refusal(s, true, "ERA");
	command(s, "HDEL {t:07}:m era");
	expect_refusal(s, true, "ERA");
}

static void another_number_is_refused(void **state)
{
	struct scripts *s = *state;

	s->mark++;
	s->sent++;
	expect_refusal(s, true, "MARK");
	expect_refusal(s, false, "MARK");
	s->mark -= 2;
	s->sent -= 2;
	expect_refusal(s, true, "MARK");
	expect_refusal(s, false, "MARK");
	command(s, "HDEL {t:07}:m mark");
	expect_refusal(s, true, "MARK");
}

static void without_a_session_a_client_is_refused(void **state)
{
	struct scripts *s = *state;

	command(s, "HSET {t:07}:s:c conn 2");
	expect_refusal(s, false, "NOSESSION");
	command(s, "DEL {t:07}:s:c");
	expect_refusal(s, false, "NOSESSION");
}

static void each_call_uses_its_number_and_renews(void **state)
{
	struct scripts *s = *state;

	for (size_t i = 0; i < COUNT(mutations); i++) {
		command(s, "PERSIST {t:07}:l");
		assert_true(is(mutate(s, i, true), "OK"));
		command(s, "HGET {t:07}:m mark");
		assert_int_equal(strtoull(s->reply->str, NULL, 10), s->mark);
		assert_true(command(s, "PTTL {t:07}:l")->integer > 0);
		if (!mutations[i].client)
			continue;
		command(s, "PERSIST {t:07}:s:c");
		assert_true(is(mutate(s, i, false), "OK"));
		command(s, "HGET {t:07}:s:c last");
		assert_int_equal(strtoull(s->reply->str, NULL, 10), s->sent);
		assert_true(command(s, "PTTL {t:07}:s:c")->integer > 0);
	}
}

static void a_key_of_another_type_changes_nothing(void **state)
{
	static const char *const keys[] = {"l", "m", "z", "h", "i", "d", "D", "e", "s:c"};
	struct scripts *s = *state;
	char before[41], after[41], error[256];
	unsigned refused = 0;

	for (size_t k = 0; k < COUNT(keys); k++) {
		for (size_t i = 0; i < 2 * COUNT(mutations); i++) {
			size_t which = i / 2;
			bool owner = i % 2 == 0;

			if (!owner && !mutations[which].client)
				continue;
			set_up(state);
			command(s, "DEL {t:07}:%s", keys[k]);
			command(s, "RPUSH {t:07}:%s x", keys[k]);
			command(s, "PERSIST {t:07}:l");
			command(s, "PERSIST {t:07}:s:c");
			digest(s, before);
			mutate(s, which, owner);
			(void)snprintf(error, sizeof error, "%s",
				       s->reply->str ? s->reply->str : "");
			if (is(s->reply, "OK"))
				continue; /* it has nothing to do with that key */
			assert_non_null(strstr(error, "WRONGTYPE"));
			digest(s, after);
			assert_string_equal(before, after);
			assert_true(command(s, "TTL {t:07}:l")->integer < 0);
			assert_true(command(s, "TTL {t:07}:s:c")->integer < 0);
			refused++;
		}
	}
	assert_int_equal(refused, 96); /* of 180: the others do not use that key */
}

/* ---- No memory ---- */

static void full(struct scripts *s)
{
	command(s, "CONFIG SET maxmemory-policy noeviction");
	assert_true(is(command(s, "CONFIG SET maxmemory 1"), "OK"));
	assert_true(is(command(s, "SET x 1"), "OOM"));
}

/* refused_as_full: nothing is done, and the number is not used up. */
static void refused_as_full(struct scripts *s, size_t i, bool as_owner)
{
	assert_true(is(mutate(s, i, as_owner), "OOM"));
	--*(as_owner ? &s->mark : &s->sent);
}

static void put_on_a_full_server_does_nothing(void **state)
{
	struct scripts *s = *state;

	char ver[32];

	(void)snprintf(ver, sizeof ver, "%s", command(s, "HGET {t:07}:m ver")->str);
	full(s);
	refused_as_full(s, 0, true);
	refused_as_full(s, 0, false);
	refused_as_full(s, 3, true); /* a requeue */
	refused_as_full(s, 3, false);
	assert_string_equal(command(s, "HGET {t:07}:m ver")->str, ver);
	assert_int_equal(command(s, "HEXISTS {t:07}:h b")->integer, 0);
	assert_int_equal(command(s, "HEXISTS {t:07}:h d")->integer, 0);
	assert_int_equal(command(s, "ZCARD {t:07}:d")->integer, 1);
	command(s, "CONFIG SET maxmemory 0");
	assert_true(is(mutate(s, 0, true), "OK"));
	assert_true(is(mutate(s, 0, false), "OK"));
}

static void all_else_works_on_a_full_server(void **state)
{
	struct scripts *s = *state;
	uint64_t ver = put_one(s, true, "c", 5, 0);

	full(s);
	for (size_t i = 0; i < COUNT(mutations); i++) {
		if (strcmp(mutations[i].name, "put") == 0 ||
		    strcmp(mutations[i].name, "requeue") == 0)
			continue;
		if (strcmp(mutations[i].name, "claim") == 0) {
			call_owner(s, "claim");
			call_text(s, "c");
			call_number(s, ver);
			call_text(s, "0");
			assert_int_equal(version_in(call_go(s)->element[1]), ver);
		}
		if (!is(mutate(s, i, true), "OK"))
			fail_msg("%s does not work on a full server", mutations[i].name);
		if (mutations[i].client)
			assert_true(is(mutate(s, i, false), "OK"));
	}
}

static redisReply *renew(struct scripts *s, const char *old, const char *new, const char *era)
{
	call(s, "renew");
	call_text(s, old);
	call_text(s, new);
	call_text(s, "60000");
	call_text(s, era);
	return call_go(s);
}

static redisReply *acquire_as(struct scripts *s, const char *shards, const char *replace,
			      const char *again)
{
	call(s, "acquire");
	call_text(s, "x");
	call_text(s, "1");
	call_text(s, "60000");
	call_text(s, "0");
	call_text(s, "other");
	call_text(s, shards);
	call_text(s, "era2");
	call_text(s, replace);
	call_text(s, again);
	return call_go(s);
}

static redisReply *acquire(struct scripts *s, const char *shards, const char *replace)
{
	return acquire_as(s, shards, replace, "");
}

static redisReply *session(struct scripts *s, const char *conn, const char *shards)
{
	call(s, "session");
	call_text(s, conn);
	call_text(s, "60000");
	call_text(s, shards);
	return call_go(s);
}

static redisReply *session_that_fixes(struct scripts *s, const char *conn, const char *shards)
{
	call(s, "session");
	call_text(s, conn);
	call_text(s, "60000");
	call_text(s, shards);
	call_text(s, "1");
	return call_go(s);
}

static void leases_and_sessions_work_on_a_full_server(void **state)
{
	struct scripts *s = *state;

	full(s);
	assert_true(is(renew(s, s->token, s->token, "era"), "OK"));
	command(s, "DEL {t:07}:l");
	assert_true(is(renew(s, s->token, s->token, "era"), "OK"));
	command(s, "DEL {t:07}:l");
	assert_true(is(acquire(s, "16", ""), "OK"));
	assert_true(is(session(s, "2", ""), "OK"));
	command(s, "DEL {t:07}:s:c");
	assert_true(is(session(s, "3", ""), "OK"));
	command(s, "FLUSHALL");
	assert_true(is(acquire(s, "16", ""), "OK"));
}

/* ---- The lease ---- */

static void a_held_lease_is_not_acquired(void **state)
{
	struct scripts *s = *state;

	assert_true(is(acquire(s, "16", ""), "HELD"));
	assert_string_equal(s->reply->element[1]->str, s->token);
	assert_true(s->reply->element[2]->integer > 0);
	assert_string_equal(s->reply->element[3]->str, "me");
	assert_true(is(acquire(s, "16", "1:n:1"), "HELD"));
	assert_true(is(acquire(s, "8", s->token), "SHARDS"));
	assert_string_equal(s->reply->element[1]->str, "16");
	assert_true(is(acquire(s, "16", s->token), "OK"));
	assert_string_equal(s->reply->element[2]->str, "era"); /* it is not made again */
}

static void a_shard_loses_the_index_by_topic_of_older_builds(void **state)
{
	struct scripts *s = *state;

	command(s, "ZADD {t:07}:k 0 topic 0 other");
	assert_true(is(acquire(s, "16", ""), "HELD"));
	assert_int_equal(command(s, "ZCARD {t:07}:k")->integer, 2);
	assert_true(is(acquire(s, "16", s->token), "OK"));
	assert_int_equal(command(s, "EXISTS {t:07}:k")->integer, 0);
}

static void who_takes_a_shard_again_reads_the_inbox_on(void **state)
{
	struct scripts *s = *state;

	for (int again = 0; again < 2; again++) {
		command(s, "ZADD {t:07}:i -5 x");
		command(s, "DEL {t:07}:l"); /* the server was set back to before it had an owner */
		assert_true(is(acquire_as(s, "16", "", again ? "era" : ""), "OK"));
		assert_int_equal(command(s, "ZCARD {t:07}:i")->integer, again);
	}
}

static void fences_grow_also_above_what_is_known(void **state)
{
	struct scripts *s = *state;
	uint64_t before = s->fence;

	own(s);
	assert_true(s->fence > before);
	command(s, "HSET {t:07}:m fence 5000000000000000");
	own(s);
	assert_int_equal(s->fence, UINT64_C(5000000000000001));
	command(s, "FLUSHALL");
	call(s, "acquire");
	for (size_t i = 0; i < 8; i++)
		call_text(s, ((const char *[]){"n", "3", "100", "7000000000000000", "", "4", "e",
					       ""})[i]);
	assert_string_equal(call_go(s)->element[1]->str, "7000000000000000:n:3");
	assert_string_equal(s->reply->element[2]->str, "e");
	assert_int_equal(command(s, "TTL {t:07}:m")->integer, -1);
}

static void a_renewal_replaces_the_token(void **state)
{
	struct scripts *s = *state;
	char old[sizeof s->token], new[sizeof s->token + 8];

	memcpy(old, s->token, sizeof old);
	(void)snprintf(new, sizeof new, "%" PRIu64 ":n:2", s->fence);
	assert_true(is(renew(s, old, new, "era"), "OK"));
	assert_int_equal(strtoull(s->reply->element[1]->str, NULL, 10), s->mark);
	assert_true(is(renew(s, old, new, "era"), "OK")); /* its answer was lost */
	assert_true(is(renew(s, old, old, "era"), "HELD"));
	assert_string_equal(s->reply->element[1]->str, new);
	assert_true(is(renew(s, new, new, "other"), "ERA"));
	expect_refusal(s, true, "FENCED");
	memcpy(s->token, new, sizeof s->token);
	assert_true(is(mutate(s, 0, true), "OK"));
}

static void a_lease_that_ran_out_is_taken_again_by_its_last_owner(void **state)
{
	struct scripts *s = *state;
	char old[sizeof s->token];

	command(s, "DEL {t:07}:l");
	assert_true(is(renew(s, s->token, s->token, "era2"), "ERA"));
	assert_string_equal(s->reply->element[1]->str, "era");
	assert_true(is(renew(s, s->token, s->token, "era"), "OK"));
	memcpy(old, s->token, sizeof old);
	own(s);
	command(s, "DEL {t:07}:l");
	assert_true(is(renew(s, old, old, "era"), "ERA"));
	assert_int_equal(strtoull(s->reply->element[2]->str, NULL, 10), s->fence);
	command(s, "FLUSHALL");
	assert_true(is(renew(s, s->token, s->token, "era"), "ERA"));
	assert_string_equal(s->reply->element[1]->str, "");
	assert_int_equal(s->reply->element[2]->integer, 0);
}

static void a_lease_that_ran_out_is_not_taken_by_an_earlier_connection(void **state)
{
	struct scripts *s = *state;
	char old[sizeof s->token], new[sizeof s->token + 8], later[sizeof new];

	memcpy(old, s->token, sizeof old);
	(void)snprintf(new, sizeof new, "%" PRIu64 ":n:9", s->fence);
	(void)snprintf(later, sizeof later, "%" PRIu64 ":n:10", s->fence);
	assert_true(is(renew(s, old, new, "era"), "OK"));
	command(s, "DEL {t:07}:l");
	assert_true(is(renew(s, old, old, "era"), "HELD"));
	assert_int_equal(command(s, "EXISTS {t:07}:l")->integer, 0);
	expect_refusal(s, true, "FENCED");
	assert_true(is(renew(s, old, later, "era"), "OK")); /* the answer to new was lost */
	command(s, "DEL {t:07}:l");
	assert_true(is(renew(s, old, new, "era"), "HELD"));
}

static void a_released_lease_stays_free(void **state)
{
	struct scripts *s = *state;

	call(s, "release");
	call_text(s, "1:n:1");
	assert_int_equal(call_go(s)->element[1]->integer, 0);
	call(s, "release");
	call_text(s, s->token);
	assert_int_equal(call_go(s)->element[1]->integer, 1);
	assert_int_equal(command(s, "EXISTS {t:07}:l")->integer, 0);
	assert_true(is(renew(s, s->token, s->token, "era"), "ERA")); /* a late copy */
	assert_true(is(acquire(s, "16", ""), "OK"));
}

static void a_session_knows_its_last_number(void **state)
{
	struct scripts *s = *state;

	assert_true(is(session(s, "1", "8"), "SHARDS"));
	assert_true(is(session(s, "2", "16"), "OK"));
	assert_int_equal(strtoull(s->reply->element[1]->str, NULL, 10), s->sent);
	assert_true(is(session(s, "1", ""), "NOSESSION"));
	expect_refusal(s, false, "NOSESSION"); /* what lies in the old socket */
	assert_true(is(session(s, "10", ""), "OK"));
	assert_string_equal(s->reply->element[5]->str, "2");
	assert_string_equal(s->reply->element[6]->str, "1"); /* which has made it */
	command(s, "FLUSHALL");
	assert_true(is(session(s, "1", ""), "OK"));
	assert_string_equal(s->reply->element[1]->str, "0");
	assert_string_equal(s->reply->element[4]->str, "");
	assert_int_equal(command(s, "EXISTS {t:07}:m")->integer, 0);
	assert_true(is(session(s, "1", "4"), "NEW"));
	assert_int_equal(s->reply->element[1]->integer, 0);
	assert_int_equal(command(s, "EXISTS {t:07}:m")->integer, 0);
	assert_true(is(session_that_fixes(s, "1", "4"), "OK"));
	assert_string_equal(command(s, "HGET {t:07}:m shards")->str, "4");
	assert_true(is(session_that_fixes(s, "1", "5"), "SHARDS"));
}

static void who_listens_hears_that_a_shard_is_new(void **state)
{
	struct scripts *s = *state;
	redisContext *ear = redisConnectUnix(s->server.path);
	redisReply *heard = redisCommand(ear, "SUBSCRIBE {t:07}:wake");

	assert_non_null(heard);
	freeReplyObject(heard);
	command(s, "FLUSHALL");
	call(s, "session");
	for (size_t i = 0; i < 5; i++)
		call_text(s, ((const char *[]){"1", "60000", "16", "", "{t:07}:wake"})[i]);
	assert_true(is(call_go(s), "NEW"));
	assert_int_equal(s->reply->element[1]->integer, 1);
	assert_int_equal(redisGetReply(ear, (void **)&heard), REDIS_OK);
	assert_int_equal(strtol(heard->element[2]->str, NULL, 10), 7);
	freeReplyObject(heard);
	redisFree(ear);
}

static void an_emptied_owner_keeps_its_number_of_shards(void **state)
{
	struct scripts *s = *state;
	static const char *const words[] = {"n", "3", "100", "0", "", "4", "e", "", "1"};

	for (int round = 0; round < 2; round++) {
		command(s, "FLUSHALL");
		command(s, "HSET {t:07}:m shards 16");
		if (round == 1)
			command(s, "HSET {t:07}:m fence 5"); /* another owner was here */
		call(s, "acquire");
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			call_text(s, words[i]);
		assert_true(is(call_go(s), round == 0 ? "OK" : "SHARDS"));
		if (round == 0)
			assert_string_equal(s->reply->element[7]->str, "16");
		assert_string_equal(command(s, "HGET {t:07}:m shards")->str,
				    round == 0 ? "4" : "16");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(another_token_is_fenced, set_up),
	    cmocka_unit_test_setup(another_era_is_refused, set_up),
	    cmocka_unit_test_setup(another_number_is_refused, set_up),
	    cmocka_unit_test_setup(without_a_session_a_client_is_refused, set_up),
	    cmocka_unit_test_setup(each_call_uses_its_number_and_renews, set_up),
	    cmocka_unit_test_setup(a_key_of_another_type_changes_nothing, set_up),
	    cmocka_unit_test_setup(put_on_a_full_server_does_nothing, set_up),
	    cmocka_unit_test_setup(all_else_works_on_a_full_server, set_up),
	    cmocka_unit_test_setup(leases_and_sessions_work_on_a_full_server, set_up),
	    cmocka_unit_test_setup(a_held_lease_is_not_acquired, set_up),
	    cmocka_unit_test_setup(a_shard_loses_the_index_by_topic_of_older_builds, set_up),
	    cmocka_unit_test_setup(who_takes_a_shard_again_reads_the_inbox_on, set_up),
	    cmocka_unit_test_setup(fences_grow_also_above_what_is_known, set_up),
	    cmocka_unit_test_setup(a_renewal_replaces_the_token, set_up),
	    cmocka_unit_test_setup(a_lease_that_ran_out_is_taken_again_by_its_last_owner, set_up),
	    cmocka_unit_test_setup(a_lease_that_ran_out_is_not_taken_by_an_earlier_connection,
				   set_up),
	    cmocka_unit_test_setup(a_released_lease_stays_free, set_up),
	    cmocka_unit_test_setup(a_session_knows_its_last_number, set_up),
	    cmocka_unit_test_setup(who_listens_hears_that_a_shard_is_new, set_up),
	    cmocka_unit_test_setup(an_emptied_owner_keeps_its_number_of_shards, set_up),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
