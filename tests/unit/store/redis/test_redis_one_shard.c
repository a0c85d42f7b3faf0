/* Very many operations of one kind in one shard: they are more than one command may have words. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define MANY 1500
#define PATIENCE DW_SECONDS(120)

static struct redis_server server;

struct seen {
	dw *d;
	int done;
	int failed;
	int starts;
	int dead;
	int written; /* again, after a loss */
	dw_verdict verdict;
};

static dw_usec wall_clock(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

static void happened(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->dead += event->kind == DW_EVENT_DEAD;
	if (event->kind == DW_EVENT_LOSS)
		seen->written += (int)event->count;
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->starts++;
	return firing->attempt == 1 ? seen->verdict : DW_DONE;
}

static void answered(dw *d, const dw_result *result, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->done++;
	seen->failed += result->status != DW_OK;
}

static int set_up(void **state)
{
	static struct seen seen;
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "one",
			      .on_event = happened,
			      .on_event_user = &seen};

	seen = (struct seen){.verdict = DW_DONE};
	redis_server_start(&server, false, NULL);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&seen.d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(seen.d, "*", fire, &seen), DW_OK);
	*state = &seen;
	return 0;
}

static int tear_down(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(dw_close(seen->d, PATIENCE), DW_OK);
	redis_server_end(&server);
	return 0;
}

static const char *id_of(int number)
{
	static char id[24];

	(void)snprintf(id, sizeof id, "{u}%d", number);
	return id;
}

/* sync: all that was asked is answered, and with success. */
static void sync_all(struct seen *seen, int count)
{
	assert_int_equal(dw_sync(seen->d, PATIENCE), DW_OK);
	assert_int_equal(seen->done, count);
	assert_int_equal(seen->failed, 0);
	seen->done = 0;
}

static void put_all(struct seen *seen, dw_usec in, dw_usec late_after)
{
	dw_usec due = wall_clock() + in;

	for (int i = 0; i < MANY; i++) {
		dw_timer timer = {.size = sizeof timer,
				  .id = id_of(i),
				  .topic = "t",
				  .due = due,
				  .late_after_us = late_after};

		assert_int_equal(dw_put(seen->d, &timer, answered, seen), DW_OK);
	}
	sync_all(seen, MANY);
}

/* turn_until: the counter has come so far. */
static void turn_until(struct seen *seen, const int *counter, int count)
{
	for (int i = 0; i < 6000 && *counter < count; i++) {
		struct pollfd readable = {.fd = dw_fd(seen->d), .events = POLLIN};

		(void)poll(&readable, 1, 20);
		assert_int_equal(dw_turn(seen->d), DW_OK);
	}
	assert_int_equal(*counter, count);
}

static void moves_and_cancels(void **state)
{
	struct seen *seen = *state;
	dw_usec due = wall_clock() + DW_HOURS(2);

	put_all(seen, DW_HOURS(1), 0);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(dw_move(seen->d, id_of(i), due, answered, seen), DW_OK);
	sync_all(seen, MANY);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(dw_cancel(seen->d, id_of(i), answered, seen), DW_OK);
	sync_all(seen, MANY);
}

static void deliveries_and_retries(void **state)
{
	struct seen *seen = *state;

	seen->verdict = DW_RETRY;
	put_all(seen, 0, 0);
	turn_until(seen, &seen->starts, 2 * MANY);
	assert_int_equal(dw_sync(seen->d, PATIENCE), DW_OK);
}

static void deaths_and_requeues(void **state)
{
	struct seen *seen = *state;

	put_all(seen, -DW_HOURS(1), 1);
	turn_until(seen, &seen->dead, MANY);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(dw_dead_requeue(seen->d, id_of(i), 0, wall_clock() + DW_HOURS(1),
						 answered, seen),
				 DW_OK);
	sync_all(seen, MANY);
}

static void losses(void **state)
{
	struct seen *seen = *state;
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;

	put_all(seen, DW_HOURS(1), 0);
	reply = redisCommand(redis, "FLUSHALL");
	assert_non_null(reply);
	freeReplyObject(reply);
	redisFree(redis);
	turn_until(seen, &seen->written, MANY);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(moves_and_cancels),
	    CASE(deliveries_and_retries),
	    CASE(deaths_and_requeues),
	    CASE(losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
