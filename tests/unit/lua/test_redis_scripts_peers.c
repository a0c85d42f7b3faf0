/* What peers ask: the list of members, a shard that is given to another one, and what became of a
 * client's change when its shard was given away meanwhile. */
#include "support/cmocka.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/script_fixture.h"

static const redisReply *member(struct scripts *s, const char *how, const char *name,
				const char *record)
{
	call(s, "member");
	call_text(s, how);
	call_text(s, name);
	call_text(s, record);
	assert_true(is(call_go(s), "OK"));
	return s->reply;
}

static uint64_t number_in(const redisReply *item)
{
	return strtoull(item->str, NULL, 10);
}

/* expect_list: the list has these members, each of one letter. */
static void expect_list(struct scripts *s, const char *names)
{
	const redisReply *reply = member(s, "", "", "");

	assert_int_equal(reply->elements, 3 + 3 * strlen(names));
	for (size_t i = 0; names[i]; i++)
		assert_int_equal(reply->element[3 + 3 * i]->str[0], names[i]);
}

static void a_member_is_listed_with_its_record(void **state)
{
	struct scripts *s = *state;
	const redisReply *reply = member(s, "in", "a", "some text");
	uint64_t now = number_in(reply->element[1]);

	assert_int_equal(reply->element[2]->integer, 1);
	assert_string_equal(reply->element[3]->str, "a");
	assert_int_equal(number_in(reply->element[4]), now + 5000000);
	assert_string_equal(reply->element[5]->str, "some text");
	reply = member(s, "in", "a", "another text");
	assert_int_equal(reply->element[2]->integer, 0);
	assert_string_equal(reply->element[5]->str, "another text");
	member(s, "in", "b", "");
	expect_list(s, "ab");
	member(s, "out", "a", "");
	expect_list(s, "b");
	assert_int_equal(command(s, "HLEN {t:07}:O")->integer, 1);
}

static void a_member_is_dropped_when_its_time_is_over(void **state)
{
	struct scripts *s = *state;

	member(s, "in", "a", "");
	member(s, "in", "b", "");
	command(s, "ZADD {t:07}:o 5 a 9007199254740000 b");
	expect_list(s, "");
	assert_int_equal(command(s, "ZCARD {t:07}:o")->integer, 2); /* who reads changes nothing */
	member(s, "in", "c", "");
	expect_list(s, "c");
	assert_int_equal(command(s, "HLEN {t:07}:O")->integer, 1);
}

static void a_full_list_takes_nobody(void **state)
{
	struct scripts *s = *state;
	char name[8];

	for (int i = 0; i < 70; i++) {
		(void)snprintf(name, sizeof name, "%d", i);
		member(s, "in", name, "");
	}
	assert_int_equal(command(s, "ZCARD {t:07}:o")->integer, 50);
	assert_int_equal(member(s, "in", "3", "")->element[2]->integer, 0);
}

static void the_list_works_on_a_full_server(void **state)
{
	struct scripts *s = *state;

	command(s, "CONFIG SET maxmemory 1");
	member(s, "in", "a", "");
	expect_list(s, "a");
}

/* ---- Numbers ------------------------------------------------------------------------------- */

static const redisReply *tell(struct scripts *s, const char *name, const char *kind,
			      const char *text)
{
	call(s, "tell");
	call_text(s, name);
	call_text(s, kind);
	call_number(s, 5);
	call_text(s, text);
	return call_go(s);
}

/* expect_left: these are the counters of the peers that have left; then come so many others. */
static const redisReply *expect_left(struct scripts *s, const char *kind, const char *left,
				     size_t others)
{
	call(s, "reports");
	call_text(s, kind);
	assert_true(is(call_go(s), "OK"));
	assert_int_equal(s->reply->elements, 3 + 4 * others);
	assert_string_equal(s->reply->element[1]->str, left);
	return s->reply;
}

static void only_members_tell_numbers(void **state)
{
	struct scripts *s = *state;
	const redisReply *reply;
	uint64_t now;

	call(s, "reports");
	call_text(s, "r");
	assert_true(is(call_go(s), "OK"));
	assert_int_equal(s->reply->elements, 1);
	assert_true(is(tell(s, "a", "r", "{}"), "NONE"));
	now = number_in(member(s, "in", "a", "record of a")->element[1]);
	assert_true(is(tell(s, "a", "r", "{\"fired\":3}"), "OK"));
	assert_true(is(tell(s, "b", "r", "{}"), "NONE"));
	reply = expect_left(s, "r", "{}", 1);
	assert_string_equal(reply->element[3]->str, "a");
	assert_int_equal(number_in(reply->element[4]), now + 5000000);
	assert_string_equal(reply->element[5]->str, "record of a");
	assert_string_equal(reply->element[6]->str, "5 {\"fired\":3}");
	reply = expect_left(s, "t", "", 1);
	assert_string_equal(reply->element[6]->str, "");
	assert_int_equal(command(s, "HLEN {t:07}:R")->integer, 1);
}

/* So a namespace whose peers have all died is told from one that nobody has used. */
static void peers_of_the_past_are_told_if_there_are_no_others(void **state)
{
	struct scripts *s = *state;
	const redisReply *reply;

	member(s, "in", "a", "record of a");
	tell(s, "a", "r", "{\"fired\":3}");
	command(s, "ZADD {t:07}:o 5 a");
	reply = expect_left(s, "r", "{}", 1);
	assert_true(number_in(reply->element[2]) > 5);
	assert_string_equal(reply->element[3]->str, "a");
	assert_int_equal(number_in(reply->element[4]), 5);
	assert_string_equal(reply->element[6]->str, "5 {\"fired\":3}");
	member(s, "in", "b", "");
	reply = expect_left(s, "r", "{\"fired\":3}", 1);
	assert_string_equal(reply->element[3]->str, "b");
}

static void counters_of_a_peer_stay_when_it_leaves(void **state)
{
	struct scripts *s = *state;

	member(s, "in", "a", "");
	member(s, "in", "b", "");
	member(s, "in", "c", "");
	tell(s, "a", "r", "{\"timers\":7,\"fired\":9000000000000000,\"lateness_buckets\":[1,0,2]}");
	tell(s, "b", "r", "{\"fired\":5,\"dead\":1,\"lateness_buckets\":[10,20]}");
	tell(s, "a", "t", "x\tpending=4 done=2 late50=9\ny\tdead=1\n");
	tell(s, "b", "t", "x\tdone=3 late=1\n");
	member(s, "out", "a", "");
	expect_left(s, "r", "{\"fired\":9000000000000000,\"lateness_buckets\":[1,0,2]}", 2);
	member(s, "out", "b", "");
	member(s, "out", "b", ""); /* twice */
	expect_left(s, "r",
		    "{\"fired\":9000000000000005,\"dead\":1,\"lateness_buckets\":[11,20,2]}", 1);
	expect_left(s, "t", "x\tdone=5 late=1\ny\tdead=1\n", 1);
	assert_int_equal(command(s, "HLEN {t:07}:R")->integer, 2);
}

/* A peer that was only late comes back with the same counters. */
static void counters_of_a_peer_count_once_when_it_comes_back(void **state)
{
	struct scripts *s = *state;

	member(s, "in", "a", "");
	member(s, "in", "b", "");
	tell(s, "a", "r", "{\"timers\":7,\"fired\":100}");
	command(s, "ZADD {t:07}:o 5 a");
	expect_left(s, "r", "{\"fired\":100}", 1);
	member(s, "in", "b", "");
	expect_left(s, "r", "{\"fired\":100}", 1);
	member(s, "in", "a", "");
	expect_left(s, "r", "{}", 2);
	assert_string_equal(s->reply->element[10]->str, "5 {\"timers\":7,\"fired\":100}");
}

/* The numbers of dead peers do not fill the memory. */
static void numbers_of_many_dead_peers_become_one(void **state)
{
	struct scripts *s = *state;
	char name[8];

	for (int i = 0; i < 30; i++) {
		(void)snprintf(name, sizeof name, "%d", i);
		member(s, "in", name, "");
		tell(s, name, "r", "{\"fired\":1}");
		tell(s, name, "t", "x\tdone=1\n");
		command(s, "ZADD {t:07}:o 5 %s", name);
	}
	member(s, "in", "b", "");
	expect_left(s, "r", "{\"fired\":30}", 1);
	expect_left(s, "t", "x\tdone=30\n", 1);
	assert_int_equal(command(s, "HLEN {t:07}:R")->integer, 2 * 16 + 2);
}

/* ---- Giving -------------------------------------------------------------------------------- */

static const redisReply *give(struct scripts *s, const char *token, const char *era, uint64_t mark,
			      uint64_t seen)
{
	call(s, "release");
	call_text(s, token);
	call_text(s, "");
	call_text(s, era);
	call_number(s, mark);
	call_number(s, seen);
	call_text(s, "{t}:free");
	return call_go(s);
}

static void expect_free(struct scripts *s, bool is_free)
{
	assert_int_equal(command(s, "EXISTS {t:07}:l")->integer, !is_free);
	assert_int_equal(command(s, "HEXISTS {t:07}:m holder")->integer, !is_free);
}

static void a_shard_is_given_if_it_is_what_the_owner_knows(void **state)
{
	struct scripts *s = *state;
	uint64_t ver = put_one(s, true, "a", 5, 0);

	assert_true(is(give(s, s->token, "other", s->mark, 0), "ERA"));
	assert_string_equal(s->reply->element[1]->str, "era");
	assert_int_equal(number_in(s->reply->element[2]), s->fence);
	assert_true(is(give(s, s->token, "era", s->mark - 1, 0), "ERA"));
	assert_true(is(give(s, s->token, "era", s->mark + 1, 0), "ERA"));
	assert_true(is(give(s, s->token, "era", s->mark, ver + 1), "ERA"));
	expect_free(s, false);
	assert_true(is(give(s, s->token, "era", s->mark, ver), "OK"));
	expect_free(s, true);
	assert_int_equal(number_in(command(s, "HGET {t:07}:m acked")), ver);
	assert_true(is(give(s, s->token, "era", s->mark, ver), "ERA")); /* a late copy */
}

static void a_lease_that_ran_out_can_be_given(void **state)
{
	struct scripts *s = *state;
	char old[sizeof s->token], later[sizeof s->token + 8];

	(void)snprintf(later, sizeof later, "%" PRIu64 ":n1:2", s->fence);
	command(s, "DEL {t:07}:l");
	command(s, "HSET {t:07}:m conn 2");
	assert_true(is(give(s, s->token, "era", s->mark, 0), "ERA")); /* of an old connection */
	assert_true(is(give(s, later, "era", s->mark, 0), "OK"));
	expect_free(s, true);
	own(s);
	memcpy(old, s->token, sizeof old);
	own(s);
	command(s, "DEL {t:07}:l");
	assert_true(is(give(s, old, "era", s->mark, 0), "ERA"));
	assert_int_equal(number_in(s->reply->element[2]), s->fence);
	command(s, "FLUSHALL");
	assert_true(is(give(s, s->token, "era", s->mark, 0), "ERA"));
	assert_string_equal(s->reply->element[1]->str, "");
}

static void whoever_listens_hears_of_a_free_shard(void **state)
{
	struct scripts *s = *state;
	redisContext *ear = redisConnectUnix(s->server.path);
	redisReply *heard;

	freeReplyObject(redisCommand(ear, "SUBSCRIBE {t}:free"));
	assert_true(is(give(s, s->token, "era", s->mark, 0), "OK"));
	assert_int_equal(redisGetReply(ear, (void **)&heard), REDIS_OK);
	assert_string_equal(heard->element[2]->str, "07");
	freeReplyObject(heard);
	redisFree(ear);
}

/* ---- The format ---------------------------------------------------------------------------- */

/* acquire_knowing: era is that in which the caller owned the shard, or "". left: for how long it
 * leaves an emptied shard to the peer that knows it, or NULL. */
static const redisReply *acquire_knowing(struct scripts *s, const char *nonce, const char *era,
					 const char *left)
{
	const char *const words[] = {"1", "5000", "0", "holder", "16", "era2", "",
				     era, "",     "",  "",       "",   ""};

	call(s, "acquire");
	call_text(s, nonce);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		call_text(s, words[i]);
	if (left) {
		call_text(s, "1");
		call_text(s, left);
	}
	return call_go(s);
}

static const redisReply *acquire_as(struct scripts *s, const char *nonce, bool is_peer)
{
	return acquire_knowing(s, nonce, "", is_peer ? "0" : NULL);
}

static void expect_format(struct scripts *s, const char *format)
{
	assert_string_equal(command(s, "HGET {t:07}:m format")->str, format);
}

/* A library without peers takes "2p" for a later format than its own. */
static void a_shard_of_a_peer_is_not_for_an_older_library(void **state)
{
	struct scripts *s = *state;
	char token[128];

	command(s, "DEL {t:07}:l");
	assert_true(is(acquire_as(s, "p1", true), "OK"));
	(void)snprintf(token, sizeof token, "%s", s->reply->element[1]->str);
	expect_format(s, "2p");
	assert_true(is(give(s, token, "era", 0, 0), "OK"));
	expect_format(s, "2p"); /* another peer takes it */
	assert_true(is(acquire_as(s, "p2", true), "OK"));
	(void)snprintf(token, sizeof token, "%s", s->reply->element[1]->str);
	call(s, "release");
	call_text(s, token);
	assert_true(is(call_go(s), "OK"));
	expect_format(s, "2");
}

static void a_shard_of_a_dead_peer_is_for_an_owner(void **state)
{
	struct scripts *s = *state;

	command(s, "DEL {t:07}:l");
	assert_true(is(acquire_as(s, "p1", true), "OK"));
	command(s, "DEL {t:07}:l");
	assert_true(is(acquire_as(s, "n9", false), "OK"));
	expect_format(s, "2");
	command(s, "DEL {t:07}:l");
	command(s, "HSET {t:07}:m format 3p");
	assert_true(is(acquire_as(s, "p1", true), "NEWER"));
	assert_string_equal(s->reply->element[1]->str, "3p");
	command(s, "HSET {t:07}:m format 2q");
	assert_true(is(acquire_as(s, "p1", true), "NEWER"));
}

/* ---- An emptied shard ----------------------------------------------------------------------- */

static void empty(struct scripts *s)
{
	command(s, "DEL {t:07}:l");
	command(s, "DEL {t:07}:m");
}

static void an_emptied_shard_is_left_to_the_peer_that_knows_it(void **state)
{
	struct scripts *s = *state;

	empty(s);
	assert_true(is(acquire_knowing(s, "p2", "", "3000000"), "YOUNG"));
	assert_in_range(s->reply->element[1]->integer, 2000, 3000);
	assert_true(is(acquire_knowing(s, "p3", "", "3000000"), "YOUNG"));
	assert_true(is(acquire_knowing(s, "p1", "era", "0"), "OK"));
	assert_int_equal(command(s, "HEXISTS {t:07}:m empty")->integer, 0);

	/* Its lease is over, and it was not emptied: anybody takes it. */
	command(s, "DEL {t:07}:l");
	assert_true(is(acquire_knowing(s, "p2", "", "3000000"), "OK"));
}

static void an_emptied_shard_is_taken_after_a_while(void **state)
{
	struct scripts *s = *state;

	empty(s);
	command(s, "HSET {t:07}:m empty 9007199254740000"); /* the clock was set back since */
	assert_true(is(acquire_knowing(s, "p2", "", "3000000"), "YOUNG"));
	assert_int_not_equal(strcmp(command(s, "HGET {t:07}:m empty")->str, "9007199254740000"), 0);
	command(s, "HSET {t:07}:m empty 5");
	assert_true(is(acquire_knowing(s, "p2", "", "3000000"), "OK"));
}

/* ---- A change that waits -------------------------------------------------------------------- */

static int64_t confirm(struct scripts *s, uint64_t ver, uint64_t fence)
{
	call(s, "confirm");
	call_text(s, "a");
	call_number(s, ver);
	call_number(s, fence);
	assert_true(is(call_go(s), "OK"));
	return s->reply->element[1]->integer;
}

static void a_change_is_sure_when_its_shard_was_given_away(void **state)
{
	struct scripts *s = *state;
	uint64_t fence = s->fence;
	uint64_t ver = put_one(s, false, "a", 5, 0), later;

	command(s, "HSET {t:07}:m fire n1");
	assert_int_equal(confirm(s, ver, fence), 1);
	assert_true(is(give(s, s->token, "era", s->mark, 0), "OK"));
	assert_int_equal(confirm(s, ver, fence), 0);
	own(s);
	assert_int_equal(confirm(s, ver, fence), 0);
	later = put_one(s, false, "a", 5, 0);
	assert_int_equal(confirm(s, later, fence), 3); /* nobody gave the shard away since */
	own(s);                                        /* its owner was not asked */
	assert_int_equal(confirm(s, ver, fence), 3);
}

static void a_change_that_came_too_late_stays_so_when_the_shard_was_given_away(void **state)
{
	struct scripts *s = *state;
	uint64_t fence = s->fence;
	uint64_t ver = put_one(s, false, "a", 5, 0);
	char late[64];

	(void)snprintf(late, sizeof late, "%" PRIu64 ":a\n", ver);
	command(s, "HSET {t:07}:m fire n1 late %s", late);
	assert_true(is(give(s, s->token, "era", s->mark, 0), "OK"));
	own(s);
	assert_int_equal(confirm(s, ver, fence), 4);
	command(s, "HSET {t:07}:m fire n2");
	own(s); /* in place of an owner that may fire yet */
	assert_int_equal(confirm(s, ver, fence), 3);
}

/* The inbox has one entry for an id. So if the last change came too late, nobody knows whether the
 * owner had acknowledged an earlier one. */
static void an_earlier_change_is_not_late_because_a_later_one_is(void **state)
{
	struct scripts *s = *state;
	uint64_t fence = s->fence;
	uint64_t ver = put_one(s, false, "a", 5, 0);
	uint64_t later = put_one(s, false, "a", 6, 0);
	char late[64];

	(void)snprintf(late, sizeof late, "%" PRIu64 ";a\n", later);
	command(s, "HSET {t:07}:m fire n1 late %s", late);
	assert_int_equal(confirm(s, later, fence), 2);
	assert_int_equal(confirm(s, ver, fence), 3);
}

#define CASE(name) cmocka_unit_test_setup(name, scripts_empty)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_member_is_listed_with_its_record),
	    CASE(a_member_is_dropped_when_its_time_is_over),
	    CASE(a_full_list_takes_nobody),
	    CASE(the_list_works_on_a_full_server),
	    CASE(only_members_tell_numbers),
	    CASE(peers_of_the_past_are_told_if_there_are_no_others),
	    CASE(counters_of_a_peer_stay_when_it_leaves),
	    CASE(counters_of_a_peer_count_once_when_it_comes_back),
	    CASE(numbers_of_many_dead_peers_become_one),
	    CASE(a_shard_of_a_peer_is_not_for_an_older_library),
	    CASE(a_shard_of_a_dead_peer_is_for_an_owner),
	    CASE(an_emptied_shard_is_left_to_the_peer_that_knows_it),
	    CASE(an_emptied_shard_is_taken_after_a_while),
	    CASE(a_shard_is_given_if_it_is_what_the_owner_knows),
	    CASE(a_lease_that_ran_out_can_be_given),
	    CASE(whoever_listens_hears_of_a_free_shard),
	    CASE(a_change_is_sure_when_its_shard_was_given_away),
	    CASE(a_change_that_came_too_late_stays_so_when_the_shard_was_given_away),
	    CASE(an_earlier_change_is_not_late_because_a_later_one_is),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
