/* Versions, pages, the inbox, dead letters and the status of a shard. */
#include "support/cmocka.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "support/script_fixture.h"
#include "support/seed.h"

/* ---- Versions ---- */

static uint64_t time_us(struct scripts *s)
{
	const redisReply *reply = command(s, "TIME");

	return strtoull(reply->element[0]->str, NULL, 10) * 1000000 +
	       strtoull(reply->element[1]->str, NULL, 10);
}

static uint64_t put_with_floor(struct scripts *s, uint64_t floor)
{
	call_owner(s, "put");
	call_puts(s,
		  &(struct put){.id = "a",
				.ver = floor,
				.due = 5,
				.body = "\1\1crc.b",
				.body_size = sizeof "\1\1crc.b" - 1},
		  1);
	assert_true(is(call_go(s), "OK"));
	return version_in(command(s, "HGET {t:07}:h a"));
}

static void versions_grow_and_are_of_one_shard(void **state)
{
	struct scripts *s = *state;
	uint64_t last = 0;

	for (int i = 0; i < 500; i++) {
		uint64_t ver = put_one(s, i % 2, i % 3 ? "a" : "b", 5, 0);

		assert_true(ver > last);
		assert_int_equal(ver % 16, 7);
		last = ver;
	}
}

static void a_floor_near_the_time_is_the_version(void **state)
{
	struct scripts *s = *state;
	uint64_t now = time_us(s), ahead = now + 1000000, ver;

	command(s, "HSET {t:07}:m ver 0");
	ver = put_with_floor(s, now - 1000000);
	assert_in_range(ver, now - 1000000, now - 1000000 + 15);
	ver = put_with_floor(s, now - 3600000000);
	assert_in_range(ver, now, now + 3600000000);
	ver = put_with_floor(s, ahead);
	assert_in_range(ver, ahead, ahead + 15);
	assert_int_equal(put_with_floor(s, now + 7200000000), ver + 16);
}

/* ---- Pages ---- */

#define PAGED 400

struct entry {
	long score;
	char id[16];
	bool gone;
};

static int in_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* fill makes PAGED entries with few scores, and ids in which bytes order other than letters. */
static void fill(struct scripts *s, struct rng *rng, struct entry *entries)
{
	for (int i = 0; i < PAGED; i++) {
		struct entry *entry = &entries[i];
		static const char first[] = "aAbBzZ_.";

		entry->gone = false;
		entry->score = (long)(1 + rng_next(rng) % 5) * (rng_next(rng) % 2 ? 1 : -1);
		(void)snprintf(entry->id, sizeof entry->id, "%c%d",
			       first[rng_next(rng) % (sizeof first - 1)], i);
		command(s, "ZADD {t:07}:z %ld %s", entry->score, entry->id);
		command(s, "HSET {t:07}:h %s v%s", entry->id, entry->id);
	}
	qsort(entries, PAGED, sizeof *entries, in_order);
}

static redisReply *page(struct scripts *s, bool pending, const char *score, const char *id)
{
	call(s, "page");
	call_text(s, pending ? "+" : "-");
	call_text(s, "7");
	call_text(s, score);
	call_text(s, id);
	call_text(s, "s");
	return call_go(s);
}

static size_t size_of(const redisReply *page)
{
	return page->element[0]->elements;
}

/* remove_some: entries before, at and behind the place. */
static void remove_some(struct scripts *s, struct rng *rng, struct entry *entries, int at)
{
	for (int i = at - 9; i < at + 9; i++) {
		if (i < 0 || i >= PAGED || rng_next(rng) % 3 != 0)
			continue;
		entries[i].gone = true;
		command(s, "ZREM {t:07}:z %s", entries[i].id);
	}
}

static void walk(struct scripts *s, struct rng *rng, struct entry *entries, bool pending)
{
	char score[16] = "", id[8] = "";
	int step = pending ? 1 : -1, at = pending ? 0 : PAGED - 1;

	while ((entries[at].score > 0) != pending)
		at += step;
	for (;;) {
		const redisReply *reply = page(s, pending, score, id);

		for (size_t i = 0; i < size_of(reply); i++, at += step) {
			const char *value = reply->element[1]->element[i]->str;

			while (entries[at].gone)
				at += step;
			(void)snprintf(id, sizeof id, "%s", reply->element[0]->element[i]->str);
			(void)snprintf(score, sizeof score, "%s",
				       reply->element[2]->element[i]->str);
			assert_string_equal(id, entries[at].id);
			assert_int_equal(strtol(score, NULL, 10), entries[at].score);
			assert_string_equal(value + 1, entries[at].id);
		}
		if (size_of(reply) == 0)
			break;
		remove_some(s, rng, entries, at - step);
	}
	while (at >= 0 && at < PAGED && (entries[at].score > 0) == pending) {
		assert_true(entries[at].gone);
		at += step;
	}
}

static void pages_are_exact_while_entries_go(void **state)
{
	struct scripts *s = *state;
	struct rng rng = seed_of_test();

	for (int i = 0; i < 10; i++) {
		struct entry entries[PAGED];

		command(s, "DEL {t:07}:z {t:07}:h");
		fill(s, &rng, entries);
		walk(s, &rng, entries, true);
		walk(s, &rng, entries, false);
	}
}

static redisReply *page_of_prefix(struct scripts *s, const char *limit, const char *prefix)
{
	call(s, "page");
	call_text(s, "+");
	call_text(s, limit);
	call_text(s, "");
	call_text(s, "");
	call_text(s, "");
	call_text(s, prefix);
	return call_go(s);
}

static void a_page_without_scores_has_the_last_one(void **state)
{
	struct scripts *s = *state;
	redisReply *reply;

	command(s, "ZADD {t:07}:z 5 a 6 b 7 ab");
	reply = page_of_prefix(s, "7", "");
	assert_int_equal(reply->elements, 3); /* it is the last page */
	assert_int_equal(size_of(reply), 3);
	reply = page_of_prefix(s, "2", "");
	assert_int_equal(reply->elements, 5);
	assert_string_equal(reply->element[3]->str, "6");
	assert_string_equal(reply->element[4]->str, "b");
}

/* The place is that of the last timer that it has looked at, also if this one is left out. */
static void a_page_of_a_prefix_says_how_far_it_has_looked(void **state)
{
	struct scripts *s = *state;
	redisReply *reply;

	command(s, "ZADD {t:07}:z 5 a 6 b 7 ab 8 c");
	reply = page_of_prefix(s, "2", "a");
	assert_int_equal(size_of(reply), 1);
	assert_int_equal(reply->element[2]->integer, 2);
	assert_string_equal(reply->element[4]->str, "b");
	reply = page_of_prefix(s, "9", "a");
	assert_int_equal(size_of(reply), 2);
	assert_int_equal(reply->element[2]->integer, 4);
	reply = page_of_prefix(s, "2", "none");
	assert_int_equal(size_of(reply), 0);
	assert_int_equal(reply->elements, 5);
}

static void a_page_shows_an_entry_without_a_value(void **state)
{
	struct scripts *s = *state;
	redisReply *reply;

	command(s, "ZADD {t:07}:z 5 a inf b -inf c");
	reply = page(s, true, "", "");
	assert_int_equal(size_of(reply), 2);
	assert_int_equal(reply->element[1]->element[0]->type, REDIS_REPLY_NIL);
	assert_string_equal(reply->element[2]->element[1]->str, "inf");
	assert_int_equal(size_of(page(s, true, "5", "a")), 1);
	assert_int_equal(size_of(page(s, true, "inf", "b")), 0);
	assert_int_equal(size_of(page(s, false, "", "")), 1);
	call_owner(s, "settle"); /* which is how it goes */
	call_text(s, "a");
	call_text(s, "1");
	call_text(s, "0");
	call_due(s, 0);
	call_text(s, "");
	assert_int_equal(call_go(s)->element[1]->integer, 2);
	assert_int_equal(size_of(page(s, true, "", "")), 1);
}

static void a_place_whose_member_has_moved_is_found(void **state)
{
	struct scripts *s = *state;

	command(s, "ZADD {t:07}:z 5 a 9 b 5 c 6 d -5 e -5 g");
	assert_int_equal(size_of(page(s, true, "5", "b")), 3);
	assert_string_equal(s->reply->element[0]->element[0]->str, "c");
	command(s, "ZADD {t:07}:z -9 f");
	assert_int_equal(size_of(page(s, false, "-5", "f")), 2);
	assert_string_equal(s->reply->element[0]->element[0]->str, "e");
}

/* ---- The inbox ---- */

static redisReply *inbox(struct scripts *s, const char *limit)
{
	call(s, "inbox");
	for (int i = 0; i < 6; i++)
		call_text(s, i == 1 ? s->token : "");
	call_text(s, limit);
	return call_go(s);
}

static void ack(struct scripts *s, const char *id, uint64_t ver)
{
	call_owner(s, "ack");
	call_text(s, id);
	call_number(s, ver);
	assert_true(is(call_go(s), "OK"));
}

static void news_stay_until_their_version_is_acknowledged(void **state)
{
	struct scripts *s = *state;
	uint64_t first = put_one(s, false, "a", 5, 0), second = put_one(s, false, "a", 6, 0);
	redisReply *reply;

	put_one(s, true, "b", 5, 0); /* an owner's own are no news */
	ack(s, "a", first);
	reply = inbox(s, "10");
	assert_int_equal(reply->elements, 4);
	assert_string_equal(reply->element[1]->str, "a");
	assert_int_equal(strtoull(reply->element[2]->str, NULL, 10), second);
	assert_int_equal(version_in(reply->element[3]), second);
	ack(s, "a", second);
	assert_int_equal(inbox(s, "10")->elements, 1);
	put_one(s, false, "c", 5, 0);
	put_one(s, false, "d", 5, 0);
	assert_int_equal(inbox(s, "1")->elements, 4);
	s->token[0] = '0';
	assert_true(is(inbox(s, "1"), "FENCED"));
}

static void cancelled_news_have_no_value(void **state)
{
	struct scripts *s = *state;
	uint64_t ver = put_one(s, false, "a", 5, 0);

	call_client(s, "cancel");
	call_text(s, "0");
	call_text(s, "a");
	call_text(s, "0");
	assert_int_equal(call_go(s)->element[1]->integer, 0);
	inbox(s, "10");
	assert_true(strtoull(s->reply->element[2]->str, NULL, 10) > ver);
	assert_int_equal(s->reply->element[3]->type, REDIS_REPLY_NIL);
}

/* An owner writes its own version over, a client that was one does not: the new owner has it. */
static void a_client_pushes_nothing_over_the_same_version(void **state)
{
	struct scripts *s = *state;
	uint64_t ver = put_one(s, true, "a", 5, 0);

	for (int owner = 0; owner < 2; owner++) {
		(owner ? call_owner : call_client)(s, "repush");
		call_text(s, "a");
		call_number(s, ver);
		for (int i = 0; i < 5; i++)
			call_text(s, "0");
		call_due(s, 6);
		call_word(s, "\1\1crc.b", sizeof "\1\1crc.b" - 1);
		assert_true(is(call_go(s), "OK"));
		assert_int_equal(s->reply->element[1]->type,
				 owner ? REDIS_REPLY_STRING : REDIS_REPLY_ARRAY);
		assert_int_equal(strtol(command(s, "ZSCORE {t:07}:z a")->str, NULL, 10),
				 owner ? 6 : 5);
	}
}

static void a_clients_write_is_published_once(void **state)
{
	struct scripts *s = *state;
	static const char body[] = "\1\1crc.b";
	const struct put two[] = {{0, "b", 0, 5, body, sizeof body - 1},
				  {0, "a", 0, 5, body, sizeof body - 1}};
	redisContext *listener = redisConnectUnix(s->server.path);
	redisReply *reply = redisCommand(listener, "SUBSCRIBE {t:07}:wake");

	freeReplyObject(reply);
	put_one(s, true, "a", 5, 0);
	call_client(s, "put");
	call_puts(s, two, 2);
	assert_true(is(call_go(s), "OK"));
	assert_int_equal(put_one(s, false, "b", 5, 0) % 16, 7);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(redisGetReply(listener, (void **)&reply), REDIS_OK);
		assert_string_equal(reply->element[2]->str, "7");
		freeReplyObject(reply);
	}
	command(s, "PUBLISH {t:07}:wake end");
	assert_int_equal(redisGetReply(listener, (void **)&reply), REDIS_OK);
	assert_string_equal(reply->element[2]->str, "end");
	freeReplyObject(reply);
	redisFree(listener);
}

/* ---- Dead letters ---- */

static void bury(struct scripts *s, const char *id, uint64_t ver, uint64_t at)
{
	call_owner(s, "bury");
	call_text(s, id);
	call_number(s, ver);
	call_text(s, "0");
	call_text(s, "3");
	call_number(s, at);
	call_text(s, "");
	call_due(s, 0);
	assert_int_equal(call_go(s)->element[1]->integer, 0);
}

static uint64_t drop(struct scripts *s, const char *id, uint64_t ver)
{
	call_client(s, "drop");
	call_text(s, id);
	call_number(s, ver);
	assert_true(is(call_go(s), "OK"));
	return (uint64_t)s->reply->element[1]->integer;
}

/* dead_page: the letters behind that score; NULL: from the start. */
static redisReply *dead_page(struct scripts *s, const char *score, const char *member,
			     const char *limit)
{
	call(s, "dead_page");
	call_text(s, score ? score : "");
	call_text(s, member);
	call_text(s, limit);
	return call_go(s);
}

static void letters_are_paged_and_dropped_by_name(void **state)
{
	struct scripts *s = *state;
	uint64_t vers[4], number;
	char score[32];

	for (int i = 0; i < 4; i++) {
		vers[i] = put_one(s, true, i ? "a" : "ab", 5, 0);
		bury(s, i ? "a" : "ab", vers[i], 100);
	}
	dead_page(s, NULL, "", "1");
	assert_int_equal(s->reply->elements, 3);
	assert_int_equal(s->reply->element[0]->len, 2 + 1 + 16);
	assert_string_equal(s->reply->element[0]->str, "ab");
	(void)snprintf(score, sizeof score, "%s", s->reply->element[1]->str);
	number = bytes_get((const unsigned char *)s->reply->element[2]->str, 8);
	assert_int_equal(number, strtoll(score, NULL, 10));
	assert_int_equal(number % 16, 7);
	assert_int_equal(dead_page(s, score, "", "10")->elements, 9);
	assert_int_equal(drop(s, "a", vers[2]), 1);
	assert_int_equal(drop(s, "a", vers[2]), 0);
	assert_int_equal(drop(s, "a", 0), 2);
	assert_int_equal(dead_page(s, NULL, "", "10")->elements, 3);
	assert_int_equal(drop(s, "", 0), 1);
	assert_int_equal(command(s, "EXISTS {t:07}:d {t:07}:D {t:07}:e")->integer, 0);
}

/* Ours have numbers of their own; somebody else's need not. */
static void letters_of_one_score_are_paged_by_their_members(void **state)
{
	struct scripts *s = *state;

	command(s, "ZADD {t:07}:d -inf a 2.5 b 2.5 c 2.5 d 7 e");
	command(s, "HSET {t:07}:D c x");
	assert_string_equal(dead_page(s, NULL, "", "1")->element[1]->str, "-inf");
	assert_string_equal(dead_page(s, "-inf", "a", "1")->element[1]->str, "2.5");
	dead_page(s, "2.5", "b", "2");
	assert_int_equal(s->reply->elements, 6);
	assert_string_equal(s->reply->element[2]->str, "x");
	assert_string_equal(s->reply->element[3]->str, "d");
	assert_int_equal(s->reply->element[5]->type, REDIS_REPLY_NIL);
	assert_string_equal(dead_page(s, "2.5", "gone", "2")->element[0]->str, "e");
	assert_string_equal(dead_page(s, "2.5", "a", "2")->element[0]->str, "e");
	assert_int_equal(dead_page(s, "7", "e", "2")->elements, 0);
}

static void forget(struct scripts *s, const char *kept, const char *oldest, long long dropped,
		   long long left)
{
	call_owner(s, "forget");
	call_text(s, kept);
	call_text(s, oldest);
	assert_true(is(call_go(s), "OK"));
	assert_int_equal(s->reply->element[1]->integer, dropped);
	assert_int_equal(s->reply->element[2]->integer, left);
}

static void the_oldest_letters_are_forgotten(void **state)
{
	struct scripts *s = *state;

	for (unsigned i = 0; i < 100; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%u", i);
		bury(s, id, put_one(s, true, id, 5, 0), i);
	}
	forget(s, "100", "0", 0, 100);
	forget(s, "98", "0", 2, 98);
	forget(s, "98", "5", 3, 95);
	forget(s, "1", "5", 64, 31);
	assert_int_equal(command(s, "ZCARD {t:07}:e")->integer, 31);
	assert_int_equal(command(s, "HLEN {t:07}:D")->integer, 31);
	assert_string_equal(dead_page(s, NULL, "", "1")->element[0]->str, "69");
	forget(s, "1", "1000", 31, 0);
	forget(s, "1", "1000", 0, 0);
}

/* ---- The whole ---- */

static void a_purge_leaves_only_lease_and_meta(void **state)
{
	struct scripts *s = *state;

	bury(s, "a", put_one(s, true, "a", 5, 0), 1);
	put_one(s, false, "b", 5, 0);
	call_owner(s, "purge");
	assert_int_equal(call_go(s)->element[1]->integer, 2);
	command(s, "EXISTS {t:07}:z {t:07}:h {t:07}:i {t:07}:d {t:07}:D {t:07}:e");
	assert_int_equal(s->reply->integer, 0);
	command(s, "EXISTS {t:07}:l {t:07}:m {t:07}:s:c");
	assert_int_equal(s->reply->integer, 3);
	put_one(s, true, "a", 5, 0);
}

static void the_status_counts_and_names_the_owner(void **state)
{
	struct scripts *s = *state;

	call(s, "status");
	assert_int_equal(call_go(s)->element[4]->type, REDIS_REPLY_NIL);
	bury(s, "a", put_one(s, true, "a", 5, 0), 1);
	put_one(s, true, "b", 50, 2);
	put_one(s, true, "c", 60, 0);
	put_one(s, false, "d", 70, 0);
	call_owner(s, "report");
	call_text(s, "words");
	call_text(s, "99");
	assert_true(is(call_go(s), "OK"));
	call(s, "status");
	call_go(s);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s->reply->element[i]->integer, ((const int[]){2, 1, 1, 1})[i]);
	assert_string_equal(s->reply->element[4]->str, "60");
	assert_string_equal(s->reply->element[5]->str, s->token);
	assert_true(s->reply->element[6]->integer > 0);
	assert_string_equal(s->reply->element[7]->str, "me");
	assert_int_equal(strlen(s->reply->element[8]->str), 16);
	assert_string_equal(s->reply->element[9]->str, "99");
	assert_string_equal(s->reply->element[10]->str, "words");
	assert_string_equal(s->reply->element[11]->str, "16");
}

/* ---- The journal ---- */

/* claim_it claims timer "a", which has been claimed so often. */
static void claim_it(struct scripts *s, uint64_t ver, uint64_t attempt)
{
	call_owner(s, "claim");
	call_text(s, "a");
	call_number(s, ver);
	call_number(s, attempt);
	assert_true(is(call_go(s), "OK"));
}

/* replay_settle replays the row that the delivery is done; the code of the row. */
static long long replay_settle(struct scripts *s, uint64_t number, uint64_t ver, uint64_t attempt,
			       uint64_t writer)
{
	call_owner(s, "replay");
	call_text(s, "00000000000000aa");
	call_text(s, "a");
	call_number(s, number);
	call_text(s, "S");
	call_text(s, "0");
	call_number(s, ver);
	call_number(s, attempt);
	call_number(s, ver); /* no version was later */
	call_number(s, writer);
	call_due(s, 5);
	call_text(s, "");
	assert_true(is(call_go(s), "OK"));
	return s->reply->element[1]->integer;
}

/* Another owner has begun the next attempt since; that one goes on. */
static void a_replayed_settle_ends_its_own_attempt(void **state)
{
	struct scripts *s = *state;
	uint64_t ver = put_one(s, true, "a", 5, 0);
	uint64_t writer = s->fence;

	claim_it(s, ver, 0);
	own(s);
	claim_it(s, ver, 1);
	assert_int_equal(replay_settle(s, 1, ver, 1, writer), 4);
	assert_int_equal(command(s, "HEXISTS {t:07}:h a")->integer, 1);
	assert_int_equal(replay_settle(s, 2, ver, 2, writer), 0);
	assert_int_equal(command(s, "HEXISTS {t:07}:h a")->integer, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(versions_grow_and_are_of_one_shard, scripts_empty),
	    cmocka_unit_test_setup(a_floor_near_the_time_is_the_version, scripts_empty),
	    cmocka_unit_test_setup(pages_are_exact_while_entries_go, scripts_empty),
	    cmocka_unit_test_setup(a_page_without_scores_has_the_last_one, scripts_empty),
	    cmocka_unit_test_setup(a_page_of_a_prefix_says_how_far_it_has_looked, scripts_empty),
	    cmocka_unit_test_setup(a_page_shows_an_entry_without_a_value, scripts_empty),
	    cmocka_unit_test_setup(a_place_whose_member_has_moved_is_found, scripts_empty),
	    cmocka_unit_test_setup(news_stay_until_their_version_is_acknowledged, scripts_empty),
	    cmocka_unit_test_setup(cancelled_news_have_no_value, scripts_empty),
	    cmocka_unit_test_setup(a_client_pushes_nothing_over_the_same_version, scripts_empty),
	    cmocka_unit_test_setup(a_clients_write_is_published_once, scripts_empty),
	    cmocka_unit_test_setup(letters_are_paged_and_dropped_by_name, scripts_empty),
	    cmocka_unit_test_setup(letters_of_one_score_are_paged_by_their_members, scripts_empty),
	    cmocka_unit_test_setup(the_oldest_letters_are_forgotten, scripts_empty),
	    cmocka_unit_test_setup(a_purge_leaves_only_lease_and_meta, scripts_empty),
	    cmocka_unit_test_setup(a_replayed_settle_ends_its_own_attempt, scripts_empty),
	    cmocka_unit_test_setup(the_status_counts_and_names_the_owner, scripts_empty),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
