/* A file with recurring timers whose zone the machine does not know for a while. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/temp.h"

#define PATIENCE DW_SECONDS(60) /* far beyond what a loaded machine needs */

/* One life of a program on the file, and what it saw. */
struct life {
	dw *d;
	size_t zones;   /* DW_EVENT_ZONE */
	dw_event first; /* the first one */
	char message[DW_MESSAGE_SIZE];
	size_t starts;
	uint32_t attempt; /* of the last start */
	dw_info info;
};

static dw_verdict zone_stop(dw *d, const dw_firing *firing, void *user)
{
	(void)firing;
	(void)user;
	dw_stop(d);
	return DW_DONE;
}

static void zone_event(dw *d, const dw_event *event, void *user)
{
	struct life *life = user;

	(void)d;
	if (event->kind != DW_EVENT_ZONE)
		return;
	if (life->zones++ == 0) {
		life->first = *event;
		(void)snprintf(life->message, sizeof life->message, "%s", event->message);
	}
}

static dw_verdict zone_start(dw *d, const dw_firing *firing, void *user)
{
	struct life *life = user;

	life->starts++;
	life->attempt = firing->attempt;
	dw_stop(d);
	return DW_DONE;
}

static void open_life(struct life *life, const char *folder)
{
	char file[TEMP_SIZE], url[TEMP_SIZE + 8];
	dw_options options = {
	    .size = sizeof options, .store = url, .on_event = zone_event, .on_event_user = life};

	*life = (struct life){.d = NULL};
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(file, folder, "timers.db"));
	assert_int_equal(dw_open(&life->d, &options, NULL), DW_OK);
}

static void put_seconds(dw *d, const char *id)
{
	dw_rule rule = {.size = sizeof rule, .every = DW_SECONDS(1), .zone = "Zone"};
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .rule = &rule};

	assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
}

static void keep_info(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_info *)user = *timers;
}

/* live_without_zone: the owner tells of the zone when it has loaded both timers, and no more when
 * each is due. */
static void live_without_zone(struct life *life, const char *folder)
{
	open_life(life, folder);
	assert_int_equal(dw_on(life->d, "t", zone_start, life), DW_OK);
	assert_int_equal(dw_on(life->d, "stop", zone_stop, NULL), DW_OK);
	assert_int_equal(dw_after(life->d, "stop", "stop", DW_SECONDS(3), NULL, 0), DW_OK);
	assert_int_equal(dw_run(life->d), DW_OK);
	assert_int_equal(dw_get(life->d, "a", keep_info, &life->info), DW_OK);
	assert_int_equal(dw_sync(life->d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(life->d, PATIENCE), DW_OK);
	assert_int_equal(life->starts, 0);
}

static void zone_that_is_gone_is_told_and_its_timers_come_back(void **state)
{
	char folder[TEMP_SIZE], zone[TEMP_SIZE];
	struct life life;
	dw_usec due;

	(void)state;
	temp_make(folder);
	temp_copy("/usr/share/zoneinfo/Europe/London", temp_file(zone, folder, "Zone"));
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	open_life(&life, folder);
	put_seconds(life.d, "a");
	put_seconds(life.d, "b");
	assert_int_equal(dw_get(life.d, "a", keep_info, &life.info), DW_OK);
	assert_int_equal(dw_sync(life.d, PATIENCE), DW_OK);
	due = life.info.due;
	assert_int_equal(dw_close(life.d, PATIENCE), DW_OK);

	assert_int_equal(remove(zone), 0);
	live_without_zone(&life, folder);
	assert_int_equal(life.zones, 1);
	assert_int_equal(life.first.count, 2);
	assert_non_null(strstr(life.message, zone));
	assert_int_equal(life.info.attempt, 0);
	assert_int_equal(life.info.due, due);

	temp_copy("/usr/share/zoneinfo/Europe/London", zone);
	open_life(&life, folder);
	assert_int_equal(dw_on(life.d, "t", zone_start, &life), DW_OK);
	assert_int_equal(dw_run(life.d), DW_OK);
	assert_int_equal(dw_close(life.d, PATIENCE), DW_OK);
	assert_int_equal(unsetenv("TZDIR"), 0);
	assert_true(life.starts >= 1);
	assert_int_equal(life.attempt, 1);
	assert_int_equal(life.zones, 0);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(zone_that_is_gone_is_told_and_its_timers_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
