/* A journal belongs to one server, and knows how its clock stands to this machine's. The server of
 * these tests is 30 s ahead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "support/cmocka.h"
#include "support/journaled.h"

static const char *const lasting[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};

static int setup(void **state)
{
	(void)state;
	journaled_outage = DW_OUTAGE_HOLD;
	journaled_lease = DW_SECONDS(1);
	temp_make(journaled_folder);
	(void)temp_file(journaled_file, journaled_folder, "journal");
	assert_int_equal(setenv("LD_PRELOAD", DW_CLOCK_AHEAD, 1), 0);
	assert_int_equal(setenv("DW_CLOCK_AHEAD_S", "30", 1), 0);
	redis_server_start(&journaled_server, true, lasting);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	redis_server_end(&journaled_server);
	temp_remove(journaled_folder);
	return unsetenv("LD_PRELOAD");
}

/* put_elsewhere: another program puts it, and ends. */
static void put_elsewhere(const char *id, dw_usec delay)
{
	struct program other;

	journaled_open(&other, DW_CLIENT, NULL);
	put(&other, id, delay);
	assert_answer(&other, id, DW_OK, DW_STORED);
	journaled_close(&other);
}

static void ask_away(struct program *program)
{
	put(program, "0", DW_SECONDS(1));
	assert_answer(program, "0", DW_OK, DW_JOURNALED);
	cancel(program, "1");
	assert_answer(program, "1", DW_EUNKNOWN, DW_JOURNALED);
}

/* assert_done: what was asked away from the server is later than what the server had. */
static void assert_done(struct program *program)
{
	turn_until(program, &program->ids[0].starts, 1);
	turn_seconds(program, 2);
	assert_int_equal(program->ids[0].starts, 1);
	assert_int_equal(program->ids[1].starts, 0);
	assert_int_equal(program->odd, 0);
	journaled_close(program);
}

/* ask_while_away opens the owner while the server is away, and asks it. */
static void ask_while_away(struct program *program)
{
	put_elsewhere("0", DW_MINUTES(10));
	put_elsewhere("1", DW_SECONDS(1));
	redis_server_kill(&journaled_server);
	journaled_open(program, DW_OWNER, journaled_file);
	turn_until(program, &program->outages, 1);
	ask_away(program);
}

static void what_is_asked_by_a_slow_clock_is_not_older(void **state)
{
	struct program program;

	(void)state;
	ask_while_away(&program);
	redis_server_restart(&journaled_server);
	assert_done(&program);
}

static void nor_if_its_process_has_ended(void **state)
{
	struct program program;

	(void)state;
	ask_while_away(&program);
	journaled_close(&program);
	redis_server_restart(&journaled_server);
	journaled_open(&program, DW_OWNER, journaled_file);
	assert_done(&program);
}

/* The journal knows the server's clock from an earlier process, so a put that comes later than its
 * own is known as later. */
static void later_put_stays(void **state)
{
	struct program program, other;

	(void)state;
	journaled_open(&program, DW_OWNER, journaled_file);
	put(&program, "5", DW_MINUTES(10));
	lose_redis(&program);
	journaled_close(&program);
	journaled_open(&program, DW_OWNER, journaled_file);
	turn_until(&program, &program.outages, 1);
	put(&program, "0", DW_MINUTES(10));
	assert_answer(&program, "0", DW_OK, DW_JOURNALED);
	journaled_close(&program);
	redis_server_restart(&journaled_server);
	put_elsewhere("0", DW_SECONDS(1));
	journaled_open(&other, DW_STANDBY, journaled_file);
	turn_until(&other, &other.ids[0].starts, 1);
	assert_int_equal(other.odd, 1);
	assert_int_equal(other.odd_status, DW_EEXIST);
	journaled_close(&other);
}

/* ---- Another server ------------------------------------------------------------------------ */

static int open_at(struct program *program, dw_role role, const char *url, char *message)
{
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = journaled_name,
			      .role = role,
			      .journal = journaled_file,
			      .lease_us = DW_SECONDS(1),
			      .open_patience_us = DW_SECONDS(2)};

	*program = (struct program){.verdict = DW_DONE};
	return dw_open(&program->d, &options, message);
}

/* leave_row: the file has a row for the server. */
static void leave_row(void)
{
	struct program program;

	journaled_open(&program, DW_OWNER, journaled_file);
	put(&program, "5", DW_MINUTES(10));
	lose_redis(&program);
	put(&program, "0", DW_MINUTES(10));
	assert_answer(&program, "0", DW_OK, DW_JOURNALED);
	journaled_close(&program);
}

static void another_server_gets_nothing(void **state)
{
	char message[DW_MESSAGE_SIZE], url[TEMP_SIZE + 16];
	struct redis_server other;
	struct program program;

	(void)state;
	leave_row();
	redis_server_start(&other, false, NULL);
	(void)snprintf(url, sizeof url, "unix://%s", other.path);
	for (dw_role role = DW_OWNER; role <= DW_CLIENT; role++) {
		assert_int_equal(open_at(&program, role, url, message), DW_EINVAL);
		assert_non_null(strstr(message, "has timers for unix://"));
		assert_non_null(strstr(message, "another server"));
	}
	redis_server_kill(&other);
	assert_int_equal(open_at(&program, DW_OWNER, url, message), DW_EINVAL); /* away */
	redis_server_end(&other);
	redis_server_restart(&journaled_server);
	journaled_open(&program, DW_CLIENT, journaled_file);
	turn_until(&program, &program.replays, 1);
	assert_int_equal(program.replayed, 1);
	journaled_close(&program);
}

static void the_same_server_has_two_addresses(void **state)
{
	char message[DW_MESSAGE_SIZE], url[64];
	struct program program;

	(void)state;
	leave_row();
	redis_server_restart(&journaled_server);
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", journaled_server.port);
	for (int i = 0; i < 2; i++) {
		if (open_at(&program, i ? DW_STANDBY : DW_CLIENT, url, message) != DW_OK)
			fail_msg("%s", message);
		(void)dw_close(program.d, DW_SECONDS(30)); /* rows may be left */
	}
}

/* An emptied server is no other one. */
static void emptied_server_gets_its_rows(void **state)
{
	struct program program;
	redisContext *redis;

	(void)state;
	leave_row();
	redis_server_restart(&journaled_server);
	redis = redisConnectUnix(journaled_server.path);
	assert_true(redis && !redis->err);
	freeReplyObject(redisCommand(redis, "FLUSHALL"));
	redisFree(redis);
	journaled_open(&program, DW_OWNER, journaled_file);
	turn_until(&program, &program.replays, 1);
	assert_int_equal(program.replayed, 1);
	cancel(&program, "0");
	assert_answer(&program, "0", DW_OK, DW_STORED);
	journaled_close(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(what_is_asked_by_a_slow_clock_is_not_older, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(nor_if_its_process_has_ended, setup, teardown),
	    cmocka_unit_test_setup_teardown(later_put_stays, setup, teardown),
	    cmocka_unit_test_setup_teardown(another_server_gets_nothing, setup, teardown),
	    cmocka_unit_test_setup_teardown(the_same_server_has_two_addresses, setup, teardown),
	    cmocka_unit_test_setup_teardown(emptied_server_gets_its_rows, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
