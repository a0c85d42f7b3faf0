/* Into how many shards a namespace is divided: who fixes the number, and who learns another one. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE_S 60
#define PATIENCE DW_SECONDS(PATIENCE_S)
#define NEVER_SOON DW_NEVER
#define TIMERS 40
#define MANY 4000 /* more than are pushed at once */

enum { OWNER, CLIENT, HANDLES };

static struct redis_server server;

struct scene {
	redisContext *redis;
	dw *handles[HANDLES];
	int fired;
	int losses;
	int lost_owners;
	int answers;
	size_t listed;
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct scene *s = user;

	(void)d;
	s->losses += event->kind == DW_EVENT_LOSS;
	s->lost_owners += event->kind == DW_EVENT_OWNER_LOST;
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct scene *)user)->fired++;
	return DW_DONE;
}

static void answered(dw *d, const dw_result *result, void *user)
{
	(void)d;
	assert_int_equal(result->status, DW_OK);
	((struct scene *)user)->answers++;
}

static void listed(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		   void *user)
{
	struct scene *s = user;

	(void)d;
	(void)timers;
	(void)next;
	assert_int_equal(status, DW_OK);
	s->listed = count;
	s->answers++;
}

static int try_open(struct scene *s, int which, unsigned shards, char *message)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "n",
			      .role = which == OWNER ? DW_OWNER : DW_CLIENT,
			      .shards = shards,
			      .on_event = happened,
			      .on_event_user = s};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	return dw_open(&s->handles[which], &options, message);
}

static void open_one(struct scene *s, int which, unsigned shards)
{
	char message[DW_MESSAGE_SIZE] = "";

	if (try_open(s, which, shards, message) != DW_OK)
		fail_msg("%s", message);
	if (which == OWNER)
		assert_int_equal(dw_on(s->handles[which], "t", fire, s), DW_OK);
}

static void close_one(struct scene *s, int which)
{
	if (s->handles[which])
		assert_int_equal(dw_close(s->handles[which], PATIENCE), DW_OK);
	s->handles[which] = NULL;
}

/* turn_all: whoever is open, for a moment. */
static void turn_all(struct scene *s)
{
	struct pollfd ready[HANDLES];
	nfds_t count = 0;

	for (int i = 0; i < HANDLES; i++)
		if (s->handles[i])
			ready[count++] = (struct pollfd){dw_fd(s->handles[i]), POLLIN, 0};
	(void)poll(ready, count, 100);
	for (int i = 0; i < HANDLES; i++)
		if (s->handles[i])
			assert_int_equal(dw_turn(s->handles[i]), DW_OK);
}

static void await(struct scene *s, const int *counter, int least)
{
	time_t until = time(NULL) + PATIENCE_S;

	while (*counter < least && time(NULL) < until)
		turn_all(s);
	assert_true(*counter >= least);
}

static void put(struct scene *s, int which, const char *prefix, int count, dw_usec due)
{
	char id[32];

	for (int i = 0; i < count; i++) {
		dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .due = due};

		(void)snprintf(id, sizeof id, "%s%d", prefix, i);
		assert_int_equal(dw_put(s->handles[which], &timer, answered, s), DW_OK);
	}
}

/* expect_listed: when the last verdicts are stored. */
static void expect_listed(struct scene *s, int which, size_t count)
{
	for (int i = 0; i < 1000 && (i == 0 || s->listed != count); i++) {
		int answers = s->answers;

		assert_int_equal(dw_list(s->handles[which], NULL, NULL, 1000, listed, s), DW_OK);
		await(s, &s->answers, answers + 1);
	}
	assert_int_equal(s->listed, count);
}

static void redis(struct scene *s, const char *command)
{
	redisReply *reply = redisCommand(s->redis, command);

	assert_true(reply && reply->type != REDIS_REPLY_ERROR);
	freeReplyObject(reply);
}

static void expect_number(struct scene *s, const char *number)
{
	redisReply *reply = redisCommand(s->redis, "HGET {n:00}:m shards");

	assert_non_null(reply);
	assert_string_equal(reply->str ? reply->str : "", number);
	freeReplyObject(reply);
}

static void expect_stored(struct scene *s, unsigned shards, long long count)
{
	long long stored = 0;

	for (unsigned i = 0; i < shards; i++) {
		redisReply *reply = redisCommand(s->redis, "ZCARD {n:%02u}:z", i);

		assert_non_null(reply);
		stored += reply->integer;
		freeReplyObject(reply);
	}
	assert_int_equal(stored, count);
}

static int set_up(void **state)
{
	static struct scene scene;

	scene = (struct scene){0};
	redis_server_start(&server, false, NULL);
	scene.redis = redisConnectUnix(server.path);
	assert_true(scene.redis && !scene.redis->err);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	for (int i = 0; i < HANDLES; i++)
		close_one(s, i);
	redisFree(s->redis);
	redis_server_end(&server);
	return 0;
}

/* open_owner: of four shards, with some timers. */
static void open_owner(struct scene *s)
{
	open_one(s, OWNER, 4);
	put(s, OWNER, "old", TIMERS, NEVER_SOON);
	await(s, &s->answers, TIMERS);
}

static void who_only_looks_fixes_nothing(void **state)
{
	struct scene *s = *state;

	open_one(s, CLIENT, 0);
	expect_listed(s, CLIENT, 0);
	expect_number(s, "");
	open_owner(s);
	expect_listed(s, CLIENT, TIMERS);
	put(s, CLIENT, "new", TIMERS, 1);
	await(s, &s->fired, TIMERS);
	expect_number(s, "4");
}

static void who_writes_first_fixes_it(void **state)
{
	struct scene *s = *state;

	open_one(s, CLIENT, 5);
	put(s, CLIENT, "new", TIMERS, 1);
	await(s, &s->answers, TIMERS);
	expect_number(s, "5");
	open_one(s, OWNER, 0);
	await(s, &s->fired, TIMERS);
}

/* The client guesses 16, finds nothing, and tells the owner so. */
static void an_emptied_owner_is_asked_before_a_client_fixes_it(void **state)
{
	struct scene *s = *state;

	dw *owner;

	open_owner(s);
	owner = s->handles[OWNER];
	s->handles[OWNER] = NULL;
	redis(s, "FLUSHALL");
	open_one(s, CLIENT, 0);
	put(s, CLIENT, "new", TIMERS, 1);
	for (int i = 0; i < 10; i++)
		turn_all(s);
	expect_number(s, ""); /* the owner has not had a turn */
	s->handles[OWNER] = owner;
	await(s, &s->fired, TIMERS);
	expect_number(s, "4");
	expect_listed(s, CLIENT, TIMERS);
	assert_true(s->losses > 0);
	assert_int_equal(s->lost_owners, 0);
}

/* As after a restart of the server: nobody listened. The owner has not had a turn yet. */
static void an_emptied_owner_keeps_its_number(void **state)
{
	struct scene *s = *state;
	dw *owner;

	open_owner(s);
	owner = s->handles[OWNER];
	s->handles[OWNER] = NULL;
	redis(s, "FLUSHALL");
	redis(s, "HSET {n:00}:m shards 16");
	open_one(s, CLIENT, 0);
	for (int i = 1; i < 16; i++)
		freeReplyObject(redisCommand(s->redis, "HSET {n:%02d}:m shards 16", i));
	put(s, CLIENT, "meanwhile", TIMERS, NEVER_SOON);
	await(s, &s->answers, 2 * TIMERS);
	s->handles[OWNER] = owner;
	await(s, &s->losses, 1);
	expect_number(s, "4");
	put(s, CLIENT, "new", TIMERS, 1); /* its sessions are of 16 shards */
	await(s, &s->fired, TIMERS);
	assert_int_equal(s->lost_owners, 0);
	assert_int_equal(dw_purge(owner, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(owner, PATIENCE), DW_OK);
	put(s, CLIENT, "known", TIMERS, NEVER_SOON);
	await(s, &s->answers, 4 * TIMERS);
	expect_listed(s, CLIENT, TIMERS);
}

/* Another owner was faster, with a number of its own. */
static void an_ousted_owner_tells_what_it_knows_by_another_number(void **state)
{
	struct scene *s = *state;
	dw *first;

	open_owner(s);
	put(s, OWNER, "more", MANY, NEVER_SOON);
	await(s, &s->answers, TIMERS + MANY);
	first = s->handles[OWNER];
	redis(s, "FLUSHALL");
	s->handles[OWNER] = NULL;
	open_one(s, OWNER, 6);
	s->handles[CLIENT] = first;
	await(s, &s->lost_owners, 1);
	expect_stored(s, 6, TIMERS + MANY);
	expect_number(s, "6");
}

static void expect_words(struct scene *s, int which)
{
	char message[DW_MESSAGE_SIZE] = "";

	assert_int_equal(try_open(s, which, 0, message), DW_ECORRUPT);
	assert_non_null(strstr(message, "shards in {n:00}:m is \""));
	assert_non_null(strstr(message, "not a number from 1 to 256"));
}

static void what_is_no_number_is_said_to_be_none(void **state)
{
	static const char *const numbers[] = {"abc", "0", "4.5", "", "-1", "257", "99999999999"};
	struct scene *s = *state;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		freeReplyObject(redisCommand(s->redis, "HSET {n:00}:m shards %s", numbers[i]));
		expect_words(s, OWNER);
		expect_words(s, CLIENT);
	}
}

static void an_owner_names_the_shard_of_another_number(void **state)
{
	struct scene *s = *state;
	char message[DW_MESSAGE_SIZE] = "";

	redis(s, "HSET {n:03}:m shards abc");
	assert_int_equal(try_open(s, OWNER, 4, message), DW_ESTORE);
	assert_non_null(strstr(message, "shards in {n:03}:m is \"abc\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(who_only_looks_fixes_nothing, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(who_writes_first_fixes_it, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_emptied_owner_is_asked_before_a_client_fixes_it,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_emptied_owner_keeps_its_number, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_ousted_owner_tells_what_it_knows_by_another_number,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_is_no_number_is_said_to_be_none, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_owner_names_the_shard_of_another_number, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
