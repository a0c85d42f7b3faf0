/* Very many dead letters: the first one goes for the last one. */
#include "engine/call/arguments.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

static void die(struct harness *h, const char *id)
{
	dw_timer timer = {
	    .size = sizeof timer, .id = id, .topic = "t", .due = h->wall - 2, .late_after_us = 1};

	assert_int_equal(engine_put(h->engine, &timer, (struct done){NULL, NULL}), DW_OK);
}

static void take_first(dw *d, int status, const dw_dead *letters, size_t count,
		       const dw_cursor *next, void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	(void)snprintf(user, DW_ID_MAX + 1, "%s", letters[0].id);
}

static void first_is(struct harness *h, const char *id)
{
	char first[DW_ID_MAX + 1] = "";

	assert_int_equal(engine_dead_list(h->engine, &arguments_all_letters, NULL, 1,
					  (struct dead_lister){take_first, first}),
			 DW_OK);
	harness_turn(h);
	assert_string_equal(first, id);
}

static void letters_over_the_limit_go_with_an_event(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	die(h, "first");
	harness_turn(h);
	die(h, "second");
	harness_turn(h);
	for (int i = 2; i < DW_DEAD_MAX; i++)
		die(h, NULL);
	harness_turn(h);
	first_is(h, "first");
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD_FORGOTTEN), 0);
	h->event_count = 0; /* of the deaths there are more than the log holds */
	die(h, "last");
	harness_turn(h);
	first_is(h, "second");
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD_FORGOTTEN), 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(letters_over_the_limit_go_with_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
