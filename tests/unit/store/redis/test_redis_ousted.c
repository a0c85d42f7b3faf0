/* The namespace is emptied, and another process owns it before its owner has noticed: the owner
 * tells it all that it knows, and then stands by. An owner that closes tells all, too. */
#include <poll.h>
#include <stdio.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(60)
#define NEVER_SOON DW_HOURS(1)
#define TIMERS 300
#define MANY 3000 /* more than are told in ten turns */
#define SHARDS 16
#define SETTLED 50

struct party {
	dw *d;
	int owner_lost;
	int fired;
	uint64_t flaws;
	uint64_t timers;
	bool checked;
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct party *party = user;

	(void)d;
	party->owner_lost += event->kind == DW_EVENT_OWNER_LOST;
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	assert_int_equal(firing->attempt, 1);
	((struct party *)user)->fired++;
	return DW_DONE;
}

static void open_owner(struct party *party, const struct redis_server *server)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "ousted",
			      .lease_us = DW_SECONDS(30),
			      .on_event = happened,
			      .on_event_user = party};

	(void)snprintf(url, sizeof url, "unix://%s", server->path);
	assert_int_equal(dw_open(&party->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(party->d, "*", fire, party), DW_OK);
}

static void turn_once(const struct party *party)
{
	struct pollfd readable = {.fd = dw_fd(party->d), .events = POLLIN};

	(void)poll(&readable, 1, 10);
	assert_int_equal(dw_turn(party->d), DW_OK);
}

static void put(const struct party *party, int number, dw_usec in)
{
	char id[16];

	(void)snprintf(id, sizeof id, "t%d", number);
	assert_int_equal(dw_after(party->d, "t", id, in, NULL, 0), DW_OK);
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct party *party = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	party->flaws = report->flaw_count;
	party->timers = report->pending + report->claimed;
	party->checked = true;
}

static void check(struct party *party)
{
	party->checked = false;
	assert_int_equal(dw_check(party->d, checked, party), DW_OK);
	assert_int_equal(dw_sync(party->d, PATIENCE), DW_OK);
	assert_true(party->checked);
}

static void empty(const struct redis_server *server)
{
	redisContext *redis = redisConnectUnix(server->path);
	redisReply *reply;

	assert_true(redis && !redis->err);
	reply = redisCommand(redis, "FLUSHALL");
	assert_non_null(reply);
	freeReplyObject(reply);
	redisFree(redis);
}

/* move_all makes them due, as their owner; each fires once. */
static void move_all(struct party *party)
{
	for (int i = SETTLED; i < TIMERS; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "t%d", i);
		assert_int_equal(dw_move(party->d, id, 1, NULL, NULL), DW_OK);
	}
	for (int i = 0; i < 6000 && party->fired < TIMERS - SETTLED; i++)
		turn_once(party);
	assert_int_equal(party->fired, TIMERS - SETTLED);
}

static void owner_of_an_emptied_namespace_tells_the_next_one(void **state)
{
	struct redis_server server;
	struct party first = {0};
	struct party second = {0};

	(void)state;
	redis_server_start(&server, false, NULL);
	open_owner(&first, &server);
	for (int i = 0; i < TIMERS; i++)
		put(&first, i, i < SETTLED ? 0 : NEVER_SOON);
	for (int i = 0; i < 6000 && first.fired < SETTLED; i++)
		turn_once(&first);
	assert_int_equal(dw_sync(first.d, PATIENCE), DW_OK);
	check(&first);
	assert_int_equal(first.timers, TIMERS - SETTLED);

	empty(&server); /* and the first one has no turn before the second one has opened */
	open_owner(&second, &server);
	for (int i = 0; i < 6000 && first.owner_lost == 0; i++) {
		put(&first, TIMERS, NEVER_SOON); /* so that it finds out at once */
		turn_once(&first);
	}
	assert_int_equal(first.owner_lost, 1);
	check(&second);
	assert_int_equal(second.flaws, 0);
	assert_in_range(second.timers, TIMERS - SETTLED, TIMERS - SETTLED + 1);
	move_all(&second);
	assert_int_equal(first.fired, SETTLED);
	assert_int_equal(second.owner_lost, 0);
	(void)dw_close(first.d, PATIENCE); /* puts of it may have failed */
	assert_int_equal(dw_close(second.d, PATIENCE), DW_OK);
	redis_server_end(&server);
}

/* stored: how many timers the server has. */
static long long stored(const struct redis_server *server)
{
	redisContext *redis = redisConnectUnix(server->path);
	long long sum = 0;

	assert_true(redis && !redis->err);
	for (int i = 0; i < SHARDS; i++) {
		redisReply *reply = redisCommand(redis, "ZCARD {ousted:%02d}:z", i);

		assert_non_null(reply);
		sum += reply->integer;
		freeReplyObject(reply);
	}
	redisFree(redis);
	return sum;
}

/* begin_to_tell: the owner of MANY timers has told some of them. */
static void begin_to_tell(const struct party *party, const struct redis_server *server)
{
	for (int i = 0; i < 6000 && stored(server) == 0; i++) {
		put(party, 0, NEVER_SOON); /* so that it finds out at once */
		turn_once(party);
	}
	assert_in_range(stored(server), 1, MANY - 1);
}

/* An owner tells a part in each turn. This one has few turns, as on a busy machine, so that all of
 * it takes longer than it waits for any part. */
static void slow_owner_of_an_emptied_namespace_tells_all(void **state)
{
	struct redis_server server;
	struct party first = {0};
	struct party second = {0};

	(void)state;
	redis_server_start(&server, false, NULL);
	open_owner(&first, &server);
	for (int i = 0; i < MANY; i++)
		put(&first, i, NEVER_SOON);
	assert_int_equal(dw_sync(first.d, PATIENCE), DW_OK);
	empty(&server);
	open_owner(&second, &server);
	begin_to_tell(&first, &server);
	for (int i = 0; i < 100 && first.owner_lost == 0; i++) {
		(void)poll(NULL, 0, 700);
		assert_int_equal(dw_turn(first.d), DW_OK);
	}
	assert_int_equal(first.owner_lost, 1);
	assert_int_equal(stored(&server), MANY);
	(void)dw_close(first.d, PATIENCE); /* puts of it may have failed */
	assert_int_equal(dw_close(second.d, PATIENCE), DW_OK);
	redis_server_end(&server);
}

/* Nobody else knows these timers. */
static void owner_that_closes_tells_all(void **state)
{
	struct redis_server server;
	struct party party = {0};

	(void)state;
	redis_server_start(&server, false, NULL);
	open_owner(&party, &server);
	for (int i = 0; i < MANY; i++)
		put(&party, i, NEVER_SOON);
	assert_int_equal(dw_sync(party.d, PATIENCE), DW_OK);
	empty(&server);
	begin_to_tell(&party, &server);
	assert_int_equal(dw_close(party.d, PATIENCE), DW_OK);
	assert_int_equal(stored(&server), MANY);
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(owner_of_an_emptied_namespace_tells_the_next_one),
	    cmocka_unit_test(slow_owner_of_an_emptied_namespace_tells_all),
	    cmocka_unit_test(owner_that_closes_tells_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
