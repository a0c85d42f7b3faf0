/* What an owner has not in its memory, Redis may have: a client has put it, and the owner has not
 * read its inbox yet. What the owner promises of such an id in an outage counts for the client's
 * timer, too. */
#include "support/cmocka.h"
#include "support/journaled.h"

static int hold(void **state)
{
	(void)state;
	journaled_outage = DW_OUTAGE_HOLD;
	journaled_lease = 0;
	return 0;
}

static int fire(void **state)
{
	(void)state;
	journaled_outage = DW_OUTAGE_FIRE;
	journaled_lease = DW_SECONDS(10); /* a restarted owner waits for it to end */
	return 0;
}

/* begin: an owner that has loaded everything. */
static void begin(struct program *owner)
{
	journaled_begin(owner, DW_OWNER);
	put(owner, "63", DW_MINUTES(10));
	turn_seconds(owner, 0.1);
}

/* put_unseen: a client puts the timer, and the owner does not hear of it before Redis is away. */
static void put_unseen(struct program *owner, const char *id, dw_usec delay)
{
	struct program client;

	journaled_open(&client, DW_CLIENT, NULL);
	put(&client, id, delay);
	assert_answer(&client, id, DW_OK, DW_STORED);
	journaled_close(&client);
	lose_redis(owner);
}

static void assert_gone(struct program *owner, const char *id)
{
	cancel(owner, id);
	assert_answer(owner, id, DW_ENOENT, DW_NOTHING);
}

static void cancel_of_an_absent_timer_cancels_a_clients(void **state)
{
	struct program owner;

	(void)state;
	begin(&owner);
	put_unseen(&owner, "0", DW_SECONDS(2));
	put(&owner, "0", DW_SECONDS(2));
	cancel(&owner, "0");
	assert_answer(&owner, "0", DW_OK, DW_JOURNALED);
	get_redis_back(&owner);
	turn_seconds(&owner, 2.5);
	assert_int_equal(owner.ids[0].starts, 0);
	assert_int_equal(owner.odd, 0);
	assert_gone(&owner, "0");
	journaled_end(&owner);
}

/* Each cancel of the same outage is as sure as the first one, and a program that starts again knows
 * them. */
static void each_cancel_of_an_outage_is_sure(void **state)
{
	struct program owner;

	(void)state;
	begin(&owner);
	put_unseen(&owner, "0", DW_SECONDS(4));
	for (int i = 0; i < 2; i++) {
		put(&owner, "0", DW_SECONDS(4));
		assert_answer(&owner, "0", DW_OK, DW_JOURNALED);
		cancel(&owner, "0");
		assert_answer(&owner, "0", DW_OK, DW_JOURNALED);
	}
	assert_int_equal(rows(&owner), 1);
	journaled_close(&owner);
	journaled_open(&owner, DW_OWNER, journaled_file);
	assert_int_equal(rows(&owner), 1);
	get_redis_back(&owner);
	turn_until(&owner, &owner.owners, 1);
	turn_seconds(&owner, 4);
	assert_int_equal(owner.ids[0].starts, 0);
	assert_int_equal(owner.odd, 0);
	assert_gone(&owner, "0");
	journaled_end(&owner);
}

/* A put that Redis may have is not exact any more: it may have started. So it is not moved, and its
 * cancel is told when Redis has no such timer. */
static void cancel_of_what_was_sent_is_not_sure(void **state)
{
	struct program owner;

	(void)state;
	begin(&owner);
	lose_redis(&owner);
	put(&owner, "0", DW_MINUTES(10));
	journaled_close(&owner);
	journaled_open(&owner, DW_OWNER, journaled_file);
	move(&owner, "0", DW_SECONDS(1));
	assert_answer(&owner, "0", DW_ESTORE, DW_NOTHING);
	cancel(&owner, "0");
	assert_answer(&owner, "0", DW_EUNKNOWN, DW_JOURNALED);
	put(&owner, "0", DW_MINUTES(10));
	cancel(&owner, "0");
	assert_answer(&owner, "0", DW_EUNKNOWN, DW_JOURNALED);
	get_redis_back(&owner);
	assert_int_equal(owner.odd, 1);
	assert_int_equal(owner.odd_status, DW_ENOENT);
	assert_gone(&owner, "0");
	journaled_end(&owner);
}

/* The client puts after the owner's cancel: its timer is a later one. */
static void put_after_the_cancel_stays(void **state)
{
	struct program owner, client;

	(void)state;
	begin(&owner);
	lose_redis(&owner);
	put(&owner, "0", DW_SECONDS(2));
	cancel(&owner, "0");
	assert_answer(&owner, "0", DW_OK, DW_JOURNALED);
	journaled_close(&owner);
	redis_server_restart(&journaled_server);
	journaled_open(&client, DW_CLIENT, NULL);
	put(&client, "0", DW_SECONDS(3));
	assert_answer(&client, "0", DW_OK, DW_STORED);
	journaled_open(&owner, DW_STANDBY, journaled_file);
	turn_until(&owner, &owner.ids[0].starts, 1);
	assert_int_equal(owner.odd, 1);
	assert_int_equal(owner.odd_status, DW_EEXIST);
	journaled_close(&client);
	journaled_end(&owner);
}

/* The owner's later timer was done here: the client's, which it replaced, does not start. */
static void timer_that_was_done_here_has_replaced_a_clients(void **state)
{
	struct program owner;

	(void)state;
	begin(&owner);
	put_unseen(&owner, "0", DW_SECONDS(3));
	put(&owner, "0", DW_MILLISECONDS(300));
	turn_until(&owner, &owner.ids[0].starts, 1);
	turn_seconds(&owner, 0.2);
	get_redis_back(&owner);
	turn_seconds(&owner, 3.5);
	assert_int_equal(owner.ids[0].starts, 1);
	assert_int_equal(owner.odd, 0);
	assert_gone(&owner, "0");
	journaled_end(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(cancel_of_an_absent_timer_cancels_a_clients, hold),
	    cmocka_unit_test_setup(each_cancel_of_an_outage_is_sure, hold),
	    cmocka_unit_test_setup(cancel_of_what_was_sent_is_not_sure, hold),
	    cmocka_unit_test_setup(put_after_the_cancel_stays, hold),
	    cmocka_unit_test_setup(cancel_of_an_absent_timer_cancels_a_clients, fire),
	    cmocka_unit_test_setup(each_cancel_of_an_outage_is_sure, fire),
	    cmocka_unit_test_setup(timer_that_was_done_here_has_replaced_a_clients, fire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
