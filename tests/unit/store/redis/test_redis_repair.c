/* What somebody else has torn in the keys of a namespace is whole again after a few renewals. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "durawheel/topic.h"
#include "store/redis/store.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_MINUTES(10)
#define NEVER_SOON DW_HOURS(1)

static struct redis_server server;

struct torn {
	dw *d;
	redisContext *redis;
	uint64_t flaws;
	uint64_t inbox;
	uint64_t timers;
	int answers;
	int losses;
	int corrupt;
	int deleted; /* of these: by another program */
	int fired;
	int torn_firings; /* so many of the first ones delete their value, and ask for a retry */
	dw_usec torn_at;  /* steady, of the last damage */
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct torn *t = user;

	(void)d;
	t->losses += event->kind == DW_EVENT_LOSS;
	t->corrupt += event->kind == DW_EVENT_CORRUPT;
	t->deleted += event->kind == DW_EVENT_CORRUPT &&
		      strstr(event->message, "deleted by another program") != NULL;
}

static void redis(struct torn *t, const char *command, const char *id, const char *end);

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct torn *t = user;

	(void)d;
	if (++t->fired > t->torn_firings)
		return DW_DONE;
	redis(t, "HDEL", firing->id, "h");
	return DW_RETRY;
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct torn *t = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	t->flaws = report->flaw_count;
	t->inbox = report->inbox;
	t->timers = report->pending + report->claimed;
	t->answers++;
}

static void check(struct torn *t)
{
	assert_int_equal(dw_check(t->d, checked, t), DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
}

static dw_usec steady(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (dw_usec)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* see_flaw: a check sees the damage of just now. Or the owner was faster: it has told the loss, or
 * so much time has passed that two renewals, a third of the lease apart, have also seen it. */
static void see_flaw(struct torn *t)
{
	int losses = t->losses;

	check(t);
	assert_true(t->flaws > 0 || t->losses > losses ||
		    steady() - t->torn_at > DW_MILLISECONDS(300));
}

static void turn_for_a_while(struct torn *t)
{
	struct pollfd readable = {.fd = dw_fd(t->d), .events = POLLIN};

	(void)poll(&readable, 1, 100);
	assert_int_equal(dw_turn(t->d), DW_OK);
}

/* await_whole: no flaw is left, and so many timers are there. */
static void await_whole(struct torn *t, uint64_t timers)
{
	for (;;) {
		check(t);
		if (t->flaws == 0 && t->timers == timers)
			return;
		for (int k = 0; k < 10; k++)
			turn_for_a_while(t);
	}
}

/* tears: the command has changed something. */
static bool tears(struct torn *t, const char *command, const char *id, const char *end)
{
	redisReply *reply;
	char key[64];
	bool is_done;

	t->torn_at = steady();
	(void)snprintf(key, sizeof key, "{torn:%02u}:%s", crc16_of(id) % 16, end);
	if (strcmp(command, "ZADD") == 0)
		reply = redisCommand(t->redis, "ZADD %s 5 %s", key, id);
	else
		reply = redisCommand(t->redis, "%s %s %s", command, key, id);
	assert_non_null(reply);
	is_done = reply->integer == 1;
	freeReplyObject(reply);
	return is_done;
}

static void redis(struct torn *t, const char *command, const char *id, const char *end)
{
	assert_true(tears(t, command, id, end));
}

static void open_owner(struct torn *t)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "torn",
			      .lease_us = DW_SECONDS(1),
			      .on_event = happened,
			      .on_event_user = t};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&t->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(t->d, "*", fire, t), DW_OK);
}

static int set_up(void **state)
{
	static struct torn torn;

	torn = (struct torn){0};
	redis_server_start(&server, false, NULL);
	open_owner(&torn);
	torn.redis = redisConnectUnix(server.path);
	assert_true(torn.redis && !torn.redis->err);
	for (int i = 0; i < 20; i++) {
		char id[24];

		(void)snprintf(id, sizeof id, "t%d", i);
		assert_int_equal(dw_after(torn.d, "t", id, NEVER_SOON, NULL, 0), DW_OK);
	}
	assert_int_equal(dw_sync(torn.d, PATIENCE), DW_OK);
	*state = &torn;
	return 0;
}

static dw *open_client(void)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {
	    .size = sizeof options, .store = url, .name = "torn", .role = DW_CLIENT};
	dw *client;

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&client, &options, NULL), DW_OK);
	return client;
}

static int tear_down(void **state)
{
	struct torn *t = *state;

	redisFree(t->redis);
	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	redis_server_end(&server);
	return 0;
}

static long long lease_left(struct torn *t, const char *id)
{
	redisReply *reply = redisCommand(t->redis, "PTTL {torn:%02u}:l", crc16_of(id) % 16);
	long long left = reply ? reply->integer : 0;

	freeReplyObject(reply);
	return left;
}

/* await_renewals: the lease of t3's shard was renewed so often. */
static void await_renewals(struct torn *t, int count)
{
	for (long long before = lease_left(t, "t3"), left; count > 0; before = left) {
		turn_for_a_while(t);
		left = lease_left(t, "t3");
		count -= left > before;
	}
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
}

static void a_timer_without_its_value_is_written_again(void **state)
{
	struct torn *t = *state;

	for (int times = 1; times <= 2; times++) { /* also soon again */
		redis(t, "HDEL", "t3", "h");
		see_flaw(t);
		await_whole(t, 20);
		await_renewals(t, 2); /* which have seen it whole */
		assert_int_equal(t->losses, times);
	}
}

static void a_timer_without_its_place_gets_it_again(void **state)
{
	struct torn *t = *state;

	redis(t, "ZREM", "t4", "z");
	see_flaw(t);
	await_whole(t, 20);
}

static bool is_there(struct torn *t, unsigned shard, const char *end)
{
	redisReply *reply = redisCommand(t->redis, "EXISTS {torn:%02u}:%s", shard, end);
	bool there = reply && reply->integer == 1;

	freeReplyObject(reply);
	return there;
}

/* await_there: a lease may also run out on a machine that is busy, and is renewed. */
static void await_there(struct torn *t, unsigned shard, const char *end)
{
	while (!is_there(t, shard, end))
		turn_for_a_while(t);
}

static void a_shard_without_its_lease_or_its_meta_gets_them_again(void **state)
{
	static const char *const ends[] = {"l", "m"};
	struct torn *t = *state;

	for (size_t k = 0; k < 2; k++) {
		for (unsigned i = 0; i < 16; i += 3)
			freeReplyObject(redisCommand(t->redis, "DEL {torn:%02u}:%s", i, ends[k]));
		for (unsigned i = 0; i < 16; i += 3)
			await_there(t, i, ends[k]);
		await_whole(t, 20);
		for (unsigned i = 0; i < 16; i++)
			await_there(t, i, ends[k]);
	}
}

static void an_entry_of_nobody_goes(void **state)
{
	struct torn *t = *state;

	redis(t, "ZADD", "foreign", "z");
	see_flaw(t);
	await_whole(t, 20);
}

static void a_value_of_nobody_is_set_aside(void **state)
{
	struct torn *t = *state;
	redisReply *reply =
	    redisCommand(t->redis, "HSET {torn:%02u}:h foreign garbage", crc16_of("foreign") % 16);

	assert_int_equal(reply->integer, 1);
	freeReplyObject(reply);
	see_flaw(t);
	await_whole(t, 20);
	assert_true(t->corrupt > 0);
}

/* await_read: the owner has read its inbox. */
static void await_read(struct torn *t)
{
	while (t->inbox > 0) {
		turn_for_a_while(t);
		check(t);
	}
}

/* A copy, with the very version of the timer that is at home: that one is not touched. */
static void a_value_in_a_wrong_shard_is_set_aside(void **state)
{
	struct torn *t = *state;
	unsigned home = crc16_of("t3") % 16;
	redisReply *value = redisCommand(t->redis, "HGET {torn:%02u}:h t3", home);
	redisReply *reply = redisCommand(t->redis, "HSET {torn:%02u}:h t3 %b", home ^ 1, value->str,
					 (size_t)value->len);

	assert_int_equal(reply->integer, 1);
	freeReplyObject(reply);
	see_flaw(t);
	await_whole(t, 20);
	await_read(t);
	assert_true(t->corrupt > 0); /* by the inbox, and by an audit that is under way then */
	reply = redisCommand(t->redis, "HGET {torn:%02u}:h t3", home);
	assert_int_equal(reply->len, value->len);
	assert_memory_equal(reply->str, value->str, value->len);
	freeReplyObject(reply);
	freeReplyObject(value);
}

struct listing {
	dw_cursor next;
	char ids[64]; /* one after the other */
};

static void listed(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		   void *user)
{
	struct listing *listing = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(listing->ids);

		assert_true(letters[i].damaged);
		(void)snprintf(listing->ids + size, sizeof listing->ids - size, "%s",
			       letters[i].id);
	}
	listing->next = *next;
}

/* Two handles list by turns, so that each page begins at the cursor alone. The owner, which drops
 * such letters as too old with its next report, is not turned meanwhile. */
static void letters_without_a_value_are_listed_once(void **state)
{
	struct torn *t = *state;
	dw *handles[] = {open_client(), open_client()};
	struct listing listing = {0};
	redisReply *reply =
	    redisCommand(t->redis, "ZADD {torn:03}:d -5 a 2.5 b 100 c 101 d 9007199254740991 e");

	assert_int_equal(reply->integer, 5);
	freeReplyObject(reply);
	reply = redisCommand(t->redis, "HSET {torn:03}:D c nonsense");
	freeReplyObject(reply);
	for (int i = 0; i < 10 && !listing.next.ended; i++) {
		dw *d = handles[i % 2];
		dw_cursor after = listing.next;

		assert_int_equal(dw_dead_list(d, NULL, i ? &after : NULL, 1, listed, &listing),
				 DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	}
	assert_string_equal(listing.ids, "abcde");
	assert_true(listing.next.ended);
	for (int i = 0; i < 2; i++)
		assert_int_equal(dw_close(handles[i], PATIENCE), DW_OK);
}

static void await_fired(struct torn *t, int count)
{
	while (t->fired < count)
		turn_for_a_while(t);
	assert_int_equal(t->fired, count);
}

/* await_heard: the owner knows 21 timers, and has read its inbox. False: the last one has fired. */
static bool await_heard(struct torn *t)
{
	int fired = t->fired;
	dw_stats stats = {.size = sizeof stats};

	while (stats.timers < 21 && t->fired == fired) {
		turn_for_a_while(t);
		check(t);
		assert_int_equal(dw_get_stats(t->d, &stats), DW_OK);
	}
	await_read(t);
	return t->fired == fired;
}

/* is_pending: the timer is stored, and not claimed. */
static bool is_pending(struct torn *t, const char *id)
{
	redisReply *value = redisCommand(t->redis, "HGET {torn:%02u}:h %s", crc16_of(id) % 16, id);
	bool pending = value && value->len > 0 && value->str[0] == DW_PENDING;

	freeReplyObject(value);
	return pending;
}

/* A client's: not known to the last byte, so that its claim looks at what is stored. If the owner
 * was faster than the damage, the next timer has more time. */
static void a_timer_without_its_value_fires(void **state)
{
	struct torn *t = *state;
	dw *client = open_client();
	bool torn = false;

	for (int i = 1; !torn; i++) {
		char id[24];

		(void)snprintf(id, sizeof id, "soon%d", i);
		assert_int_equal(dw_after(client, "t", id, i * DW_MILLISECONDS(600), NULL, 0),
				 DW_OK);
		assert_int_equal(dw_sync(client, PATIENCE), DW_OK);
		torn = await_heard(t) && is_pending(t, id) && tears(t, "HDEL", id, "h");
		await_fired(t, i);
	}
	assert_int_equal(t->corrupt, 0);
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
}

static void a_timer_that_loses_its_value_while_it_fires_is_tried_again(void **state)
{
	struct torn *t = *state;

	t->torn_firings = 2;
	assert_int_equal(dw_after(t->d, "t", "soon", 0, NULL, 0), DW_OK);
	await_fired(t, 3);
	assert_int_equal(t->corrupt, 0);
	await_whole(t, 20);
}

/* lose_news: a client puts a timer that is due, and its entry in the inbox goes before the owner's
 * next turn. */
static void lose_news(struct torn *t)
{
	dw *client = open_client();

	assert_int_equal(dw_after(client, "t", "lost", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(client, PATIENCE), DW_OK);
	redis(t, "ZREM", "lost", "i"); /* before the owner's next turn */
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
}

static void a_timer_that_no_inbox_tells_of_fires(void **state)
{
	lose_news(*state);
	await_fired(*state, 1);
}

/* They have been overdue for longer, and each look at them takes some of each shard only. */
static void it_is_found_behind_a_crowd_that_waits(void **state)
{
	enum { CROWD = 1000 };
	struct torn *t = *state;

	assert_int_equal(dw_on(t->d, "*", NULL, NULL), DW_OK);
	for (int i = 0; i < CROWD; i++) {
		char id[24];

		(void)snprintf(id, sizeof id, "crowd%d", i);
		assert_int_equal(dw_at(t->d, "crowd", id, 1, NULL, 0), DW_OK);
	}
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
	assert_int_equal(dw_on(t->d, "t", fire, t), DW_OK);
	lose_news(t);
	await_fired(t, 1);
}

/* own_torn: the owner closes, another program deletes the entries of three timers and the
 * values of three others in the same shard, and an owner opens. */
static void own_torn(struct torn *t)
{
	static const char *const ends[] = {"z", "h"};
	char id[24];

	assert_int_equal(dw_on(t->d, "*", NULL, NULL), DW_OK);
	for (int i = 0; i < 8; i++) {
		(void)snprintf(id, sizeof id, "{one}%d", i);
		assert_int_equal(dw_after(t->d, "t", id, 0, NULL, 0), DW_OK);
	}
	assert_int_equal(dw_close(t->d, PATIENCE), DW_OK);
	for (int i = 0; i < 6; i++) {
		(void)snprintf(id, sizeof id, "{one}%d", i);
		redis(t, i < 3 ? "ZREM" : "HDEL", id, ends[i / 3]);
	}
	open_owner(t);
}

static void entries_and_other_values_deleted_without_an_owner_are_noticed(void **state)
{
	struct torn *t = *state;

	own_torn(t);
	await_fired(t, 5);
	await_whole(t, 20);
	assert_true(t->deleted >= 3);
	assert_int_equal(t->deleted, t->corrupt);
}

static void an_end_without_its_time_is_seen(void **state)
{
	struct torn *t = *state;
	dw_topic_settings settings = {.size = sizeof settings, .keep_us = DW_HOURS(1)};

	assert_int_equal(dw_topic_set(t->d, "t", &settings, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
	assert_int_equal(dw_cancel(t->d, "t0", NULL, NULL), DW_OK);
	assert_int_equal(dw_cancel(t->d, "t1", NULL, NULL), DW_OK);
	await_whole(t, 18);
	redis(t, "HDEL", "t0", "E");
	redis(t, "ZREM", "t1", "x");
	check(t);
	assert_int_equal(t->flaws, 2);
}

static void purged(dw *d, const dw_result *result, void *user)
{
	(void)d;
	*(int *)user = result->status;
}

/* One shard of sixteen refuses: what the others had is gone, and the answer must not deny it. */
static void a_purge_that_is_done_in_part_is_not_said_to_be_undone(void **state)
{
	struct torn *t = *state;
	int status = DW_OK;

	freeReplyObject(redisCommand(t->redis, "DEL {torn:03}:d"));
	freeReplyObject(redisCommand(t->redis, "SET {torn:03}:d something"));
	assert_int_equal(dw_purge(t->d, purged, &status), DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
	assert_int_equal(status, DW_EUNKNOWN);
}

static dw_verdict hold(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct torn *)user)->fired++;
	return DW_HOLD;
}

/* What a purge has deleted does not come back when the store loses what came after it. */
static void a_delivery_held_over_a_purge_is_not_written_again(void **state)
{
	struct torn *t = *state;
	int status = DW_ESTORE;

	assert_int_equal(dw_on(t->d, "held", hold, t), DW_OK);
	assert_int_equal(dw_after(t->d, "held", "held", 0, NULL, 0), DW_OK);
	await_fired(t, 1);
	assert_int_equal(dw_purge(t->d, purged, &status), DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
	assert_int_equal(status, DW_OK);
	assert_int_equal(dw_after(t->d, "t", "after", NEVER_SOON, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(t->d, PATIENCE), DW_OK);
	freeReplyObject(redisCommand(t->redis, "FLUSHALL"));
	await_whole(t, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_timer_without_its_value_is_written_again, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_timer_without_its_place_gets_it_again, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_shard_without_its_lease_or_its_meta_gets_them_again,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_entry_of_nobody_goes, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_value_of_nobody_is_set_aside, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_value_in_a_wrong_shard_is_set_aside, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(letters_without_a_value_are_listed_once, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_timer_without_its_value_fires, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		a_timer_that_loses_its_value_while_it_fires_is_tried_again, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_timer_that_no_inbox_tells_of_fires, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_end_without_its_time_is_seen, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_purge_that_is_done_in_part_is_not_said_to_be_undone,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_delivery_held_over_a_purge_is_not_written_again,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(it_is_found_behind_a_crowd_that_waits, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(
		entries_and_other_values_deleted_without_an_owner_are_noticed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
