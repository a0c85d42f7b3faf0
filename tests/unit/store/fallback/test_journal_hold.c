/* A program with a journal: what it asks for while Redis is away is kept, and done when Redis is
 * back. The policy is DW_OUTAGE_HOLD. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/journaled.h"

/* ---- An owner ------------------------------------------------------------------------------ */

static void put_of_an_outage_starts_after_it(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_MINUTES(10));
	assert_answer(&program, "0", DW_OK, DW_STORED);
	assert_int_equal(rows(&program), 0);
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(300));
	put(&program, "2", DW_MINUTES(10));
	put(&program, "0", DW_SECONDS(1)); /* replaced */
	assert_answer(&program, "1", DW_OK, DW_JOURNALED);
	assert_answer(&program, "0", DW_OK, DW_JOURNALED);
	assert_int_equal(rows(&program), 3);
	turn_seconds(&program, 0.6);
	assert_int_equal(program.ids[1].starts, 0);
	get_redis_back(&program);
	assert_int_equal(program.replayed, 3);
	assert_int_equal(rows(&program), 0);
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.ids[1].starts, 1);
	assert_int_equal(program.ids[2].starts, 0);
	assert_int_equal(program.outages, 1);
	assert_int_equal(program.odd, 0);
	journaled_end(&program);
}

static void cancel_of_an_outage_wins(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(1));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(500));
	cancel(&program, "1");
	assert_answer(&program, "1", DW_OK, DW_JOURNALED); /* Redis never had it */
	assert_int_equal(rows(&program), 1); /* but a client may have put it meanwhile */
	cancel(&program, "0");
	assert_answer(&program, "0", DW_EUNKNOWN, DW_JOURNALED);
	assert_int_equal(rows(&program), 2);
	turn_seconds(&program, 1.5);
	get_redis_back(&program);
	turn_seconds(&program, 1.5);
	assert_int_equal(program.ids[0].starts, 0);
	assert_int_equal(program.ids[1].starts, 0);
	assert_int_equal(program.odd, 0);
	cancel(&program, "0");
	assert_answer(&program, "0", DW_ENOENT, DW_NOTHING);
	journaled_end(&program);
}

static void move_of_an_outage_is_done(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_MINUTES(10));
	put(&program, "1", DW_SECONDS(1));
	lose_redis(&program);
	put(&program, "2", DW_MINUTES(10));
	move(&program, "2", DW_SECONDS(1));
	assert_answer(&program, "2", DW_OK, DW_JOURNALED);
	move(&program, "0", DW_SECONDS(1));
	assert_answer(&program, "0", DW_EUNKNOWN, DW_JOURNALED);
	move(&program, "1", DW_MINUTES(10));
	turn_seconds(&program, 1.2);
	get_redis_back(&program);
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[2].starts, 1);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.ids[1].starts, 0);
	assert_int_equal(program.ids[2].starts, 1);
	journaled_end(&program);
}

/* A delivery that was claimed in Redis ends while Redis is away. */
static void verdict_of_an_outage_is_done(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	program.verdict = DW_HOLD;
	put(&program, "0", 0);
	put(&program, "1", 0);
	turn_until(&program, &program.ids[1].starts, 1);
	lose_redis(&program);
	program.verdict = DW_DONE;
	program.ids[0].answers = program.ids[1].answers = 0;
	assert_int_equal(dw_settle(program.d, &program.ids[0].token, DW_DONE, 0, known_answered,
				   &program.ids[0]),
			 DW_OK);
	assert_int_equal(dw_settle(program.d, &program.ids[1].token, DW_RETRY, DW_MILLISECONDS(200),
				   known_answered, &program.ids[1]),
			 DW_OK);
	turn_until(&program, &program.ids[0].answers, 1);
	turn_until(&program, &program.ids[1].answers, 1);
	assert_answer(&program, "0", DW_OK, DW_JOURNALED);
	assert_answer(&program, "1", DW_OK, DW_JOURNALED);
	assert_int_equal(rows(&program), 2);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[1].starts, 1);
	get_redis_back(&program);
	turn_until(&program, &program.ids[1].starts, 2);
	assert_int_equal(program.ids[1].token.attempt, 2);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.odd, 0);
	journaled_end(&program);
}

/* The program ends and starts again while Redis is away. */
static void rows_outlive_the_program(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(2));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(500));
	cancel(&program, "0");
	journaled_close(&program);
	journaled_open(&program, DW_OWNER, journaled_file);
	assert_int_equal(rows(&program), 2);
	turn_until(&program, &program.outages, 1);
	put(&program, "2", DW_MILLISECONDS(500));
	assert_answer(&program, "2", DW_OK, DW_JOURNALED);
	get_redis_back(&program);
	turn_until(&program, &program.owners, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	turn_until(&program, &program.ids[2].starts, 1);
	turn_seconds(&program, 2);
	assert_int_equal(program.ids[0].starts, 0);
	assert_int_equal(program.ids[1].starts, 1);
	assert_int_equal(program.ids[2].starts, 1);
	journaled_end(&program);
}

/* The inbox does not wait for the rows: a client's timer starts while they are replayed. */
static void clients_timer_starts_before_the_last_row(void **state)
{
	enum { ROWS = 20000 };
	struct program program, client;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "63", DW_MINUTES(10));
	lose_redis(&program);
	for (int i = 0; i < ROWS; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "r%d", i);
		assert_int_equal(dw_after(program.d, "t", id, DW_HOURS(1), NULL, 0), DW_OK);
		if (i % 500 == 0)
			turn_seconds(&program, 0.01);
	}
	while (rows(&program) < ROWS)
		turn_once(&program, 10);
	redis_server_restart(&journaled_server);
	journaled_open(&client, DW_CLIENT, NULL);
	put(&client, "0", 0);
	assert_answer(&client, "0", DW_OK, DW_STORED);
	turn_until(&program, &program.ids[0].starts, 1);
	assert_true(rows(&program) > 0);
	turn_until(&program, &program.replays, 1);
	assert_int_equal(program.replayed, ROWS);
	journaled_close(&client);
	journaled_end(&program);
}

/* ---- A client ------------------------------------------------------------------------------ */

static void client_has_a_journal_of_its_own(void **state)
{
	struct program client, owner;

	(void)state;
	journaled_begin(&client, DW_CLIENT);
	journaled_open(&owner, DW_OWNER, NULL);
	put(&client, "0", DW_SECONDS(3));
	put(&client, "1", DW_MINUTES(10));
	journaled_close(&owner);
	lose_redis(&client);
	cancel(&client, "0");
	assert_answer(&client, "0", DW_EUNKNOWN, DW_JOURNALED);
	put(&client, "2", DW_SECONDS(1));
	assert_answer(&client, "2", DW_OK, DW_JOURNALED);
	move(&client, "1", DW_SECONDS(1));
	assert_answer(&client, "1", DW_EUNKNOWN, DW_JOURNALED);
	assert_int_equal(rows(&client), 3);
	get_redis_back(&client);
	assert_int_equal(rows(&client), 0);
	journaled_open(&owner, DW_OWNER, NULL);
	turn_until(&owner, &owner.ids[1].starts, 1);
	turn_until(&owner, &owner.ids[2].starts, 1);
	turn_seconds(&owner, 3);
	assert_int_equal(owner.ids[0].starts, 0);
	journaled_close(&owner);
	journaled_end(&client);
}

/* Another client has put the timer after the row was written: its put stays. */
static void later_put_stays(void **state)
{
	struct program cut, other;

	(void)state;
	journaled_begin(&cut, DW_CLIENT);
	put(&cut, "0", DW_MINUTES(10));
	lose_redis(&cut);
	put(&cut, "0", DW_MINUTES(20));
	cancel(&cut, "1");
	journaled_close(&cut);
	redis_server_restart(&journaled_server);
	journaled_open(&other, DW_OWNER, NULL);
	put(&other, "0", DW_SECONDS(4));
	journaled_open(&cut, DW_CLIENT, journaled_file);
	turn_until(&cut, &cut.replays, 1);
	assert_int_equal(cut.odd, 2);
	turn_until(&other, &other.ids[0].starts, 1);
	journaled_close(&other);
	journaled_end(&cut);
}

/* ---- The file ------------------------------------------------------------------------------ */

static void wrong_file_is_refused_in_words(void **state)
{
	struct program program, second;
	char message[DW_MESSAGE_SIZE];
	char url[TEMP_SIZE + 16];
	dw_options store = {.size = sizeof store, .store = url};
	char timers[TEMP_SIZE];
	dw *d;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	assert_int_equal(journaled_try(&second, DW_CLIENT, "n", journaled_file, message),
			 DW_EOWNED);
	(void)snprintf(url, sizeof url, "sqlite:%s", journaled_file);
	assert_int_equal(dw_open(&d, &store, message), DW_ESTORE);
	assert_non_null(strstr(message, "is the journal of a store in Redis"));
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(timers, journaled_folder, "timers"));
	assert_int_equal(dw_open(&d, &store, message), DW_OK);
	assert_int_equal(dw_close(d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(journaled_try(&second, DW_CLIENT, "n", timers, message), DW_ESTORE);
	assert_non_null(strstr(message, "is a store of timers, not a journal"));
	lose_redis(&program);
	put(&program, "0", DW_MINUTES(1));
	journaled_close(&program);
	assert_int_equal(journaled_try(&second, DW_OWNER, "other", journaled_file, message),
			 DW_EINVAL);
	assert_non_null(strstr(message, "is the journal of the namespace n"));
	redis_server_restart(&journaled_server);
	journaled_open(&program, DW_STANDBY,
		       journaled_file); /* the lease of the closed one lasts */
	turn_until(&program, &program.replays, 1);
	journaled_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(put_of_an_outage_starts_after_it),
	    cmocka_unit_test(cancel_of_an_outage_wins),
	    cmocka_unit_test(move_of_an_outage_is_done),
	    cmocka_unit_test(verdict_of_an_outage_is_done),
	    cmocka_unit_test(rows_outlive_the_program),
	    cmocka_unit_test(clients_timer_starts_before_the_last_row),
	    cmocka_unit_test(client_has_a_journal_of_its_own),
	    cmocka_unit_test(later_put_stays),
	    cmocka_unit_test(wrong_file_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
