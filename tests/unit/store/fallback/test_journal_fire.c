/* DW_OUTAGE_FIRE: while Redis is away, the owner goes on starting timers within its lease. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/journaled.h"

static int setup(void **state)
{
	(void)state;
	journaled_outage = DW_OUTAGE_FIRE;
	journaled_lease = 0; /* a minute */
	return 0;
}

static void settle(struct program *program, const char *id)
{
	struct known *known = known_of(program, id);

	known->answers = 0;
	assert_int_equal(dw_settle(program->d, &known->token, DW_DONE, 0, known_answered, known),
			 DW_OK);
	turn_until(program, &known->answers, 1);
}

static void due_timers_start_while_redis_is_away(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(2));
	put(&program, "1", DW_MINUTES(10));
	lose_redis(&program);
	put(&program, "2", DW_MILLISECONDS(300));
	put(&program, "1", DW_MILLISECONDS(300)); /* replaces what Redis has */
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	turn_until(&program, &program.ids[2].starts, 1);
	turn_seconds(&program, 0.2);
	assert_int_equal(rows(&program), 3);
	get_redis_back(&program);
	assert_int_equal(rows(&program), 0);
	turn_seconds(&program, 1);
	for (unsigned i = 0; i < 3; i++) {
		char id[8];

		(void)snprintf(id, sizeof id, "%u", i);
		assert_int_equal(program.ids[i].starts, 1);
		assert_int_equal(program.ids[i].attempt, 1);
		cancel(&program, id);
		assert_answer(&program, id, DW_ENOENT, DW_NOTHING);
	}
	assert_int_equal(program.odd, 0);
	journaled_end(&program);
}

static void retries_of_an_outage_count(void **state)
{
	struct program program;
	int starts[2];

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(3));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(300));
	program.verdict = DW_RETRY;
	turn_until(&program, &program.ids[0].starts, 2);
	turn_until(&program, &program.ids[1].starts, 2);
	turn_seconds(&program, 0.2);
	assert_int_equal(rows(&program), 2);
	get_redis_back(&program);
	program.verdict = DW_DONE;
	for (unsigned i = 0; i < 2; i++)
		starts[i] = program.ids[i].starts + 1; /* on a slow machine there were more */
	for (unsigned i = 0; i < 2; i++)
		turn_until(&program, &program.ids[i].starts, starts[i]);
	turn_seconds(&program, 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(program.ids[i].starts, starts[i]);
		assert_int_equal(program.ids[i].attempt, starts[i]);
	}
	journaled_end(&program);
}

/* The 16th claim waits for Redis: the next owner raises the attempt by 16. */
static void one_outage_has_fifteen_claims_of_a_timer(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(3));
	lose_redis(&program);
	program.verdict = DW_RETRY;
	program.retry_in = 1;
	turn_until(&program, &program.ids[0].starts, 15);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 15);
	get_redis_back(&program);
	program.verdict = DW_DONE;
	turn_until(&program, &program.ids[0].starts, 16);
	assert_int_equal(program.ids[0].attempt, 16);
	journaled_end(&program);
}

/* What is held when Redis comes back is claimed there, and then settled there. */
static void what_is_held_at_the_return_is_settled_in_redis(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(3));
	put(&program, "1", DW_MINUTES(10));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(300));
	put(&program, "2", DW_MILLISECONDS(300));
	program.verdict = DW_HOLD;
	for (unsigned i = 0; i < 3; i++)
		turn_until(&program, &program.ids[i].starts, 1);
	turn_seconds(&program, 0.2);
	assert_int_equal(rows(&program), 3);
	get_redis_back(&program);
	turn_seconds(&program, 0.5);
	settle(&program, "0");
	settle(&program, "1");
	settle(&program, "2");
	for (unsigned i = 0; i < 3; i++) {
		char id[8];

		(void)snprintf(id, sizeof id, "%u", i);
		assert_answer(&program, id, DW_OK, DW_STORED);
		assert_int_equal(program.ids[i].starts, 1);
		cancel(&program, id);
		assert_answer(&program, id, DW_ENOENT, DW_NOTHING);
	}
	journaled_end(&program);
}

/* A process that ends has started its timers: the next one starts them once more. */
static void what_was_running_at_the_end_starts_again(void **state)
{
	struct program program;

	(void)state;
	journaled_lease = DW_SECONDS(8);
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(2));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(300));
	program.verdict = DW_HOLD;
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	journaled_close(&program);
	redis_server_restart(&journaled_server);
	journaled_open(&program, DW_STANDBY, journaled_file);
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.ids[1].starts, 1);
	assert_int_equal(program.ids[0].attempt, 17); /* the first owner has not released */
	assert_int_equal(program.ids[1].attempt, 17);
	journaled_end(&program);
}

static void nothing_starts_after_the_lease(void **state)
{
	struct program program;

	(void)state;
	journaled_lease = DW_SECONDS(3);
	journaled_begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(2));
	lose_redis(&program);
	put(&program, "1", DW_SECONDS(4));
	turn_until(&program, &program.ids[0].starts, 1);
	turn_seconds(&program, 4);
	assert_int_equal(program.ids[1].starts, 0);
	get_redis_back(&program);
	turn_until(&program, &program.ids[1].starts, 1);
	journaled_end(&program);
}

/* ---- With a client ------------------------------------------------------------------------- */

static void client_begin(struct program *client)
{
	journaled_open(client, DW_CLIENT, NULL);
	assert_int_equal(dw_sync(client->d, DW_SECONDS(60)), DW_OK);
}

static void clients_change_waits_for_the_owner(void **state)
{
	struct program owner, client;

	(void)state;
	journaled_begin(&owner, DW_OWNER);
	put(&owner, "0", DW_MINUTES(10));
	put(&owner, "1", DW_MINUTES(10));
	put(&owner, "2", DW_MINUTES(10));
	client_begin(&client);
	begin_cancel(&client, "0");
	turn_seconds(&client, 0.3); /* the owner does not turn */
	assert_int_equal(client.ids[0].answers, 0);
	turn_seconds(&owner, 0.3);
	turn_until(&client, &client.ids[0].answers, 1);
	assert_answer(&client, "0", DW_OK, DW_STORED);
	cancel(&client, "1"); /* the owner is silent for longer than a client waits */
	assert_answer(&client, "1", DW_EUNKNOWN, DW_NOTHING);
	journaled_close(&owner);
	cancel(&client, "2"); /* there is no owner */
	assert_answer(&client, "2", DW_OK, DW_STORED);
	journaled_open(&owner, DW_OWNER, journaled_file);
	journaled_close(&client);
	journaled_end(&owner);
}

static void client_is_told_that_its_cancel_came_too_late(void **state)
{
	struct program owner, client;

	(void)state;
	journaled_begin(&owner, DW_OWNER);
	put(&owner, "0", DW_SECONDS(1));
	put(&owner, "1", DW_MINUTES(10));
	lose_redis(&owner);
	put(&owner, "1", DW_MILLISECONDS(300));
	owner.verdict = DW_HOLD;
	turn_until(&owner, &owner.ids[0].starts, 1);
	turn_until(&owner, &owner.ids[1].starts, 1);
	redis_server_restart(&journaled_server);
	client_begin(&client);
	begin_cancel(&client, "0");
	begin_cancel(&client, "1");
	turn_seconds(&client, 0.3);
	assert_int_equal(client.ids[0].answers + client.ids[1].answers, 0);
	turn_until(&owner, &owner.replays, 1);
	turn_until(&client, &client.ids[0].answers, 1);
	turn_until(&client, &client.ids[1].answers, 1);
	assert_answer(&client, "0", DW_ELATE, DW_NOTHING);
	assert_answer(&client, "1", DW_ELATE, DW_NOTHING);
	assert_int_equal(owner.odd, 2);
	journaled_close(&client);
	journaled_end(&owner);
}

/* done_unheard: the owner has done both timers, and Redis does not know that. */
static void done_unheard(struct program *owner, struct program *client)
{
	journaled_begin(owner, DW_OWNER);
	put(owner, "0", DW_SECONDS(1));
	put(owner, "1", DW_SECONDS(1));
	lose_redis(owner);
	turn_until(owner, &owner->ids[0].starts, 1);
	turn_until(owner, &owner->ids[1].starts, 1);
	turn_seconds(owner, 0.2);
	redis_server_restart(&journaled_server);
	client_begin(client);
}

/* A move of a timer that is done comes too late. A put makes another timer of the id. */
static void what_is_done_is_not_moved(void **state)
{
	struct program owner, client;

	(void)state;
	done_unheard(&owner, &client);
	begin_move(&client, "0", DW_SECONDS(2));
	turn_seconds(&client, 0.2);
	begin_move(&client, "0", DW_SECONDS(1)); /* behind the first one */
	put(&client, "1", DW_SECONDS(1));
	begin_move(&client, "1", DW_SECONDS(2));
	turn_seconds(&client, 0.2);
	turn_until(&owner, &owner.replays, 1);
	turn_until(&client, &client.ids[0].answers, 2);
	assert_int_not_equal(client.ids[0].status, DW_OK);
	turn_until(&client, &client.ids[1].answers, 1);
	turn_until(&owner, &owner.ids[1].starts, 2);
	turn_seconds(&owner, 1);
	assert_int_equal(owner.ids[0].starts, 1);
	assert_int_equal(owner.ids[1].starts, 2);
	journaled_close(&client);
	journaled_end(&owner);
}

static void mover_hears_that_it_came_too_late(void **state)
{
	struct program owner, client;

	(void)state;
	done_unheard(&owner, &client);
	begin_move(&client, "0", DW_SECONDS(2));
	turn_seconds(&client, 0.2);
	assert_int_equal(client.ids[0].answers, 0);
	turn_until(&owner, &owner.replays, 1);
	turn_until(&client, &client.ids[0].answers, 1);
	assert_answer(&client, "0", DW_ELATE, DW_NOTHING);
	turn_seconds(&owner, 2.5);
	assert_int_equal(owner.ids[0].starts, 1);
	assert_int_equal(owner.odd, 0);
	journaled_close(&client);
	journaled_end(&owner);
}

static void takeover_raises_the_attempt(void **state)
{
	struct program silent, owner;
	char other[TEMP_SIZE];

	(void)state;
	journaled_lease = DW_SECONDS(1);
	journaled_begin(&silent, DW_OWNER);
	put(&silent, "0", DW_MILLISECONDS(1500));
	journaled_open(&owner, DW_STANDBY, temp_file(other, journaled_folder, "other"));
	turn_until(&owner, &owner.ids[0].starts, 1);
	assert_int_equal(owner.ids[0].attempt, 16);
	put(&owner, "1", DW_MILLISECONDS(100));
	turn_until(&owner, &owner.ids[1].starts, 1);
	assert_int_equal(owner.ids[1].attempt, 1);
	journaled_close(&owner);
	journaled_end(&silent);
}

static void client_fires_nothing(void **state)
{
	struct program program;
	struct program client;
	char message[DW_MESSAGE_SIZE];
	char other[TEMP_SIZE];

	(void)state;
	journaled_begin(&program, DW_OWNER);
	assert_int_equal(journaled_try(&client, DW_CLIENT, "n",
				       temp_file(other, journaled_folder, "other"), message),
			 DW_EINVAL);
	assert_non_null(strstr(message, "a client starts no timers"));
	journaled_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(due_timers_start_while_redis_is_away, setup),
	    cmocka_unit_test_setup(retries_of_an_outage_count, setup),
	    cmocka_unit_test_setup(one_outage_has_fifteen_claims_of_a_timer, setup),
	    cmocka_unit_test_setup(what_is_held_at_the_return_is_settled_in_redis, setup),
	    cmocka_unit_test_setup(what_was_running_at_the_end_starts_again, setup),
	    cmocka_unit_test_setup(nothing_starts_after_the_lease, setup),
	    cmocka_unit_test_setup(clients_change_waits_for_the_owner, setup),
	    cmocka_unit_test_setup(client_is_told_that_its_cancel_came_too_late, setup),
	    cmocka_unit_test_setup(what_is_done_is_not_moved, setup),
	    cmocka_unit_test_setup(mover_hears_that_it_came_too_late, setup),
	    cmocka_unit_test_setup(takeover_raises_the_attempt, setup),
	    cmocka_unit_test_setup(client_fires_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
