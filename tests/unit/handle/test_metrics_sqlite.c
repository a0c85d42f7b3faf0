/* Who asks for metrics beside the owner: a client, a standby; and a handle that does not turn. */
#include "durawheel/metrics.h"
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handle/handle.h"
#include "support/seen.h"
#include "support/temp.h"

enum { TEXT_SIZE = 64 * 1024 };

struct place {
	char folder[TEMP_SIZE];
	char url[TEMP_SIZE + 32];
	char text[TEXT_SIZE];
};

static void make(struct place *place)
{
	temp_make(place->folder);
	(void)snprintf(place->url, sizeof place->url, "sqlite:%s/timers.db", place->folder);
}

/* turn waits a little for work of the handle, and does it. */
static void turn(dw *d)
{
	struct pollfd ready = {.fd = dw_fd(d), .events = POLLIN};

	(void)poll(&ready, 1, 20);
	assert_int_equal(dw_turn(d), DW_OK);
}

static bool shows(struct place *place, dw *d, const char *line)
{
	int status = dw_metrics(d, place->text, sizeof place->text, NULL);

	assert_true(status == DW_OK || status == DW_EBUSY);
	return status == DW_OK && strstr(place->text, line);
}

static void client_shows_what_the_owner_told(void **state)
{
	struct seen seen = {.verdict = DW_DONE};
	struct place place;
	dw *owner, *client;

	(void)state;
	make(&place);
	owner = open_store(place.url, DW_OWNER);
	client = open_store(place.url, DW_CLIENT);
	assert_int_equal(dw_on(owner, "mail", on_due, &seen), DW_OK);
	assert_int_equal(dw_after(owner, "mail", NULL, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_metrics(client, place.text, sizeof place.text, NULL), DW_EBUSY);
	while (!shows(&place, client, "durawheel_ended_total{topic=\"mail\",end=\"done\"} 1\n")) {
		turn(owner);
		turn(client);
	}
	assert_non_null(strstr(place.text, "durawheel_owner 1\n"));
	assert_non_null(strstr(place.text, "durawheel_lateness_seconds_count 1\n"));
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	while (!shows(&place, client, "durawheel_owner 0\n"))
		turn(client);
	assert_null(strstr(place.text, "durawheel_lateness"));
	assert_null(strstr(place.text, "\ndurawheel_timers{"));
	assert_null(strstr(place.text, "\ndurawheel_started_total{"));
	assert_null(strstr(place.text, "\ndurawheel_topic_"));
	assert_int_equal(dw_health(client, NULL), DW_OK);
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
	temp_remove(place.folder);
}

static void standby_is_healthy_in_its_way(void **state)
{
	char message[DW_MESSAGE_SIZE];
	struct place place;
	dw *owner, *standby;

	(void)state;
	make(&place);
	owner = open_store(place.url, DW_OWNER);
	standby = open_store(place.url, DW_STANDBY);
	assert_int_equal(dw_health(standby, message), DW_EBUSY); /* nobody was asked yet */
	assert_string_equal(message, "waiting for the store: it has not said yet who has it");
	while (dw_health(standby, message) == DW_EBUSY)
		turn(standby);
	assert_int_equal(dw_health(standby, message), DW_EOWNED);
	assert_string_equal(message, "standby: another process has the store");
	while (!shows(&place, standby, "durawheel_owner 1\n")) {
		turn(owner);
		turn(standby);
	}
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	while (dw_health(standby, message) != DW_OK)
		turn(standby);
	assert_int_equal(dw_close(standby, PATIENCE), DW_OK);
	temp_remove(place.folder);
}

static void arm(dw *d, dw_usec at)
{
	struct loop_port port = loop_port(d->loop);

	port.arm(port.user, at);
}

static void overdue_turn_is_no_health(void **state)
{
	char message[DW_MESSAGE_SIZE];
	struct place place;
	dw *d;

	(void)state;
	make(&place);
	d = open_store(place.url, DW_OWNER);
	while (dw_health(d, message) != DW_OK)
		turn(d);
	arm(d, DW_NEVER); /* idle for ever: no turn is overdue */
	assert_int_equal(dw_health(d, message), DW_OK);
	arm(d, dw_now(d) - DW_SECONDS(2));
	assert_int_equal(dw_health(d, message), DW_OK);
	arm(d, dw_now(d) - DW_SECONDS(7));
	assert_int_equal(dw_health(d, message), DW_ETIMEOUT);
	assert_non_null(strstr(message, "overdue by 7 s"));
	turn(d);
	assert_int_equal(dw_health(d, message), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(place.folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(client_shows_what_the_owner_told),
	    cmocka_unit_test(standby_is_healthy_in_its_way),
	    cmocka_unit_test(overdue_turn_is_no_health),
	};

	return cmocka_run_group_tests_name("metrics on SQLite", tests, NULL, NULL);
}
