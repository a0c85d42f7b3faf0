/* What dw_health() and dw_metrics() say of a program with a journal while Redis is away. */
#include <stdio.h>
#include <string.h>

#include "durawheel/metrics.h"
#include "support/cmocka.h"
#include "support/journaled.h"

enum { TEXT_SIZE = 64 * 1024 };

static int be_holding(void **state)
{
	(void)state;
	journaled_outage = DW_OUTAGE_HOLD;
	journaled_lease = DW_SECONDS(2);
	return 0;
}

static int be_firing(void **state)
{
	(void)state;
	journaled_outage = DW_OUTAGE_FIRE;
	journaled_lease = DW_SECONDS(4);
	return 0;
}

static void assert_health(const struct program *program, int status, const char *words)
{
	char message[DW_MESSAGE_SIZE];

	assert_int_equal(dw_health(program->d, message), status);
	assert_string_equal(message, words);
}

/* turn_until_health turns until the status is this one; a test that hangs is ended by its runner.
 * No other process has the store. */
static void turn_until_health(struct program *program, int status)
{
	while (dw_health(program->d, NULL) != status) {
		turn_once(program, 20);
		assert_int_not_equal(dw_health(program->d, NULL), DW_EOWNED);
	}
}

static bool shows_owner(const struct program *program)
{
	static char text[TEXT_SIZE];

	assert_int_equal(dw_metrics(program->d, text, sizeof text, NULL), DW_OK);
	if (strstr(text, "\ndurawheel_owner 1\n"))
		return true;
	assert_non_null(strstr(text, "\ndurawheel_owner 0\n"));
	return false;
}

static void owner_that_holds_is_not_well_during_an_outage(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	turn_until_health(&program, DW_OK);
	assert_true(shows_owner(&program));
	lose_redis(&program);
	assert_health(&program, DW_ESTORE,
		      "the store is away; the journal takes what is asked, and due timers wait");
	assert_true(shows_owner(&program)); /* nobody else can have the store */
	turn_seconds(&program, 2.2);
	assert_health(&program, DW_ESTORE,
		      "the store is away; the journal takes what is asked, and due timers wait");
	assert_false(shows_owner(&program));
	get_redis_back(&program);
	turn_until_health(&program, DW_OK);
	while (!shows_owner(&program)) /* the lease is renewed */
		turn_once(&program, 20);
	journaled_end(&program);
}

static void owner_that_fires_says_so_until_its_lease_ends(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	turn_until_health(&program, DW_OK);
	lose_redis(&program);
	assert_health(&program, DW_ESTORE,
		      "the store is away; the journal takes what is asked, and timers fire until "
		      "the lease ends");
	assert_true(shows_owner(&program));
	turn_seconds(&program, 4.2);
	assert_health(&program, DW_ESTORE,
		      "the store is away; the journal takes what is asked, and due timers wait");
	assert_false(shows_owner(&program));
	get_redis_back(&program);
	turn_until_health(&program, DW_OK);
	journaled_end(&program);
}

static void owner_without_a_journal_has_a_lease_too(void **state)
{
	struct program program;

	(void)state;
	journaled_server_start();
	temp_make(journaled_folder);
	journaled_open(&program, DW_OWNER, NULL);
	turn_until_health(&program, DW_OK);
	redis_server_kill(&journaled_server);
	turn_until_health(&program, DW_ESTORE);
	assert_health(&program, DW_ESTORE, "the store is away, or refuses");
	assert_true(shows_owner(&program));
	turn_seconds(&program, 2.2);
	assert_false(shows_owner(&program));
	assert_int_equal(dw_health(program.d, NULL), DW_ESTORE);
	journaled_end(&program);
}

static void client_is_not_well_during_an_outage(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_CLIENT);
	put(&program, "0", DW_MINUTES(10));
	assert_health(&program, DW_OK, "ok");
	lose_redis(&program);
	assert_health(&program, DW_ESTORE, "the store is away; the journal takes what is asked");
	get_redis_back(&program);
	turn_until_health(&program, DW_OK);
	journaled_end(&program);
}

/* Nobody knows whether another process has a store that was never reached. */
static void no_standby_without_a_store(dw_role role)
{
	struct program program;

	temp_make(journaled_folder);
	(void)temp_file(journaled_file, journaled_folder, "journal");
	journaled_server_start();
	redis_server_kill(&journaled_server);
	journaled_open(&program, role, journaled_file);
	turn_until_health(&program, DW_ESTORE);
	assert_health(&program, DW_ESTORE, "the store is away; the journal takes what is asked");
	turn_seconds(&program, 1.2); /* it asks again */
	assert_health(&program, DW_ESTORE, "the store is away; the journal takes what is asked");
	redis_server_restart(&journaled_server);
	turn_until_health(&program, DW_OK);
	assert_int_equal(program.owners, 1);
	journaled_end(&program);
}

static void owner_does_not_stand_by_before_it_was_refused(void **state)
{
	(void)state;
	no_standby_without_a_store(DW_OWNER);
}

static void standby_does_not_stand_by_before_it_was_refused(void **state)
{
	(void)state;
	no_standby_without_a_store(DW_STANDBY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(owner_that_holds_is_not_well_during_an_outage, be_holding),
	    cmocka_unit_test_setup(owner_that_fires_says_so_until_its_lease_ends, be_firing),
	    cmocka_unit_test_setup(owner_without_a_journal_has_a_lease_too, be_holding),
	    cmocka_unit_test_setup(client_is_not_well_during_an_outage, be_holding),
	    cmocka_unit_test_setup(owner_does_not_stand_by_before_it_was_refused, be_holding),
	    cmocka_unit_test_setup(standby_does_not_stand_by_before_it_was_refused, be_holding),
	};

	return cmocka_run_group_tests_name("health with a journal", tests, NULL, NULL);
}
