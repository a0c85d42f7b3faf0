/* What a link learns of the server: since when it has been up, and when nobody could use it. */
#include <stdio.h>
#include <string.h>

#include "redis/life.h"
#include "support/cmocka.h"

#define NOW DW_SECONDS(1000)

static void up(struct life *life, const char *id, int64_t uptime, dw_usec now)
{
	struct hello hello = {.uptime = uptime};

	(void)snprintf(hello.server, sizeof hello.server, "%s", id);
	life_up(life, &hello, now);
}

static dw_usec away(const struct life *life)
{
	return life->server.away_until - life->server.away_since;
}

static void server_is_up_for_a_second_less_than_it_tells(void **state)
{
	struct life life = {.is_away = false};

	(void)state;
	up(&life, "one", 10, NOW);
	assert_string_equal(life.server.id, "one");
	assert_int_equal(life.server.up_since, NOW - DW_SECONDS(9));
	up(&life, "two", 0, NOW);
	assert_int_equal(life.server.up_since, NOW);
}

static void same_server_is_up_since_it_was_seen(void **state)
{
	struct life life = {.is_away = false};

	(void)state;
	up(&life, "one", 1, NOW);
	up(&life, "one", 1, NOW + DW_SECONDS(5)); /* its clock went back */
	assert_int_equal(life.server.up_since, NOW);
	up(&life, "", -1, NOW + DW_SECONDS(6));
	up(&life, "", -1, NOW + DW_SECONDS(7)); /* nobody knows whether it is the same */
	assert_int_equal(life.server.up_since, NOW + DW_SECONDS(7));
}

static void server_is_away_from_the_first_refusal_to_the_last(void **state)
{
	struct life life = {.is_away = false};

	(void)state;
	up(&life, "one", 10, NOW);
	life_lost(&life);
	assert_int_equal(away(&life), 0);
	life_refused(&life, true, NOW + 100);
	life_refused(&life, true, NOW + 400);
	up(&life, "two", 0, NOW + 500);
	assert_int_equal(away(&life), 300);
	life_lost(&life);
	assert_int_equal(away(&life), 0);
}

static void server_that_loads_is_away(void **state)
{
	struct life life = {.is_away = false};

	(void)state;
	life_refused(&life, true, NOW);
	for (int i = 1; i <= 20; i++) {
		life_accepted(&life);
		life_loading(&life, NOW + DW_SECONDS(i));
	}
	up(&life, "two", 20, NOW + DW_SECONDS(21));
	assert_int_equal(away(&life), DW_SECONDS(20));
	assert_int_equal(life.server.up_since,
			 NOW + DW_SECONDS(20)); /* nobody could use it before */
}

/* Somebody may have used the server meanwhile. */
static void other_failure_ends_the_time_away(void **state)
{
	struct life life = {.is_away = false};

	(void)state;
	life_refused(&life, true, NOW);
	life_refused(&life, true, NOW + 100);
	life_refused(&life, false, NOW + 200); /* a time-out */
	assert_int_equal(away(&life), 100);
	life_refused(&life, true, NOW + 300);
	assert_int_equal(away(&life), 0);
	life_accepted(&life);
	life_refused(&life, true, NOW + 500); /* it had accepted a connection, and closed it */
	assert_int_equal(away(&life), 0);
}

/* The process stood still, and somebody may have used the server meanwhile. */
static void long_pause_ends_the_time_away(void **state)
{
	struct life life = {.is_away = false};

	(void)state;
	life_refused(&life, true, NOW);
	life_refused(&life, true, NOW + DW_SECONDS(2));
	assert_int_equal(away(&life), DW_SECONDS(2));
	life_refused(&life, true, NOW + DW_SECONDS(7));
	assert_int_equal(away(&life), 0);
	life_refused(&life, true, NOW + DW_SECONDS(8));
	assert_int_equal(away(&life), DW_SECONDS(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(server_is_up_for_a_second_less_than_it_tells),
	    cmocka_unit_test(same_server_is_up_since_it_was_seen),
	    cmocka_unit_test(server_is_away_from_the_first_refusal_to_the_last),
	    cmocka_unit_test(server_that_loads_is_away),
	    cmocka_unit_test(other_failure_ends_the_time_away),
	    cmocka_unit_test(long_pause_ends_the_time_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
