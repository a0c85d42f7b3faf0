/* Recurring timers whose occurrences came while nobody handled them, and zones that change. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ruled.h"
#include "support/temp.h"

/* miss lets the time pass while nobody handles the timer, and then handles it. */
static void miss(struct ruled *seen, const char *rule, const char *until)
{
	ruled_open(seen, 0);
	assert_int_equal(ruled_put(seen, rule), DW_OK);
	ruled_advance(seen, until);
	assert_int_equal(dw_on(seen->d, "t", ruled_start, seen), DW_OK);
	assert_int_equal(dw_test_advance(seen->d, ruled_time(until)), DW_OK);
}

static void missed_once_delivers_the_last_one_for_all(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1h", "2030-01-01T10:30:00Z");
	assert_int_equal(seen.count, 1);
	assert_start(&seen, 0, "2030-01-01T10:30:00Z", "2030-01-01T10:00:00Z", 9);
	assert_int_equal(seen.events[DW_EVENT_MISSED], 0);
	ruled_advance(&seen, "2030-01-01T11:30:00Z");
	assert_int_equal(seen.count, 2);
	assert_on_time(&seen, 1, "2030-01-01T11:00:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void missed_once_and_too_old_waits_for_the_next(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1h; missed-age 20m", "2030-01-01T10:30:00Z");
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.events[DW_EVENT_MISSED], 1);
	assert_int_equal(seen.missed, 10);
	ruled_advance(&seen, "2030-01-01T11:30:00Z");
	assert_int_equal(seen.count, 1);
	assert_start(&seen, 0, "2030-01-01T11:00:00Z", "2030-01-01T11:00:00Z", 10);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void missed_skip_delivers_none_of_them(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1h; missed skip", "2030-01-01T10:30:00Z");
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.events[DW_EVENT_MISSED], 1);
	assert_int_equal(seen.missed, 10);
	ruled_advance(&seen, "2030-01-01T12:30:00Z");
	assert_int_equal(seen.count, 2);
	assert_start(&seen, 0, "2030-01-01T11:00:00Z", "2030-01-01T11:00:00Z", 10);
	assert_on_time(&seen, 1, "2030-01-01T12:00:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void missed_all_delivers_each_the_oldest_first(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1h; missed all", "2030-01-01T10:30:00Z");
	assert_int_equal(seen.count, 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(seen.starts[i].occurrence,
				 DW_TEST_START + (dw_usec)(i + 1) * DW_HOURS(1));
	assert_int_equal(seen.events[DW_EVENT_MISSED], 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void missed_all_is_bounded(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1m; missed all", "2030-01-02T00:00:30Z");
	assert_int_equal(seen.count, 1000);
	assert_start(&seen, 0, "2030-01-02T00:00:30Z", "2030-01-01T07:21:00Z", 440);
	assert_int_equal(seen.events[DW_EVENT_MISSED], 1);
	assert_int_equal(seen.missed, 440);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	miss(&seen, "every 1h; missed all; missed-age 150m", "2030-01-01T10:30:00Z");
	assert_int_equal(seen.count, 3);
	assert_start(&seen, 0, "2030-01-01T10:30:00Z", "2030-01-01T08:00:00Z", 7);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* A year of seconds is counted only as far as it is told. */
static void missed_for_long_is_counted_up_to_a_limit(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1s", "2031-01-01T00:00:00Z");
	assert_int_equal(seen.count, 1);
	assert_start(&seen, 0, "2031-01-01T00:00:00Z", "2031-01-01T00:00:00Z", 10000);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void slightly_late_is_not_missed(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 20s; missed skip", "2030-01-01T00:01:10Z");
	assert_int_equal(seen.count, 3);
	assert_start(&seen, 0, "2030-01-01T00:01:10Z", "2030-01-01T00:00:20Z", 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void missed_after_has_a_border(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1h; missed skip; missed-after 5m", "2030-01-01T01:05:00Z");
	assert_int_equal(seen.count, 1);
	assert_start(&seen, 0, "2030-01-01T01:05:00Z", "2030-01-01T01:00:00Z", 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	miss(&seen, "every 1h; missed skip; missed-after 5m", "2030-01-01T01:05:00.000001Z");
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.missed, 1);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* A delivery that has begun is no missed one, however late its retry comes. */
static void late_retry_is_not_missed(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	seen.retry_at = 1;
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	assert_int_equal(ruled_put(&seen, "every 1h; missed skip"), DW_OK);
	ruled_advance(&seen, "2030-01-01T01:00:01Z");
	assert_int_equal(seen.count, 1);
	assert_int_equal(dw_on(seen.d, "t", NULL, NULL), DW_OK);
	ruled_advance(&seen, "2030-01-01T01:30:00Z");
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	ruled_advance(&seen, "2030-01-01T01:30:00Z");
	assert_int_equal(seen.count, 2);
	assert_start(&seen, 1, "2030-01-01T01:30:00Z", "2030-01-01T01:00:00Z", 0);
	assert_int_equal(seen.starts[1].attempt, 2);
	assert_int_equal(seen.events[DW_EVENT_MISSED], 0);
	ruled_advance(&seen, "2030-01-01T02:30:00Z");
	assert_int_equal(seen.count, 3);
	assert_on_time(&seen, 2, "2030-01-01T02:00:00Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* 29 February does not come before the rule ends. */
static void count_of_no_occurrence_is_refused(void **state)
{
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(ruled_put(&seen, "cron 0 0 29 2 *; end 2031-01-01T00:00:00Z; count 3"),
			 DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "it never comes"));
	assert_int_equal(ruled_put(&seen, "cron 0 0 29 2 *; end 2033-01-01T00:00:00Z; count 3"),
			 DW_OK);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void last_occurrence_skipped_ends_the_rule(void **state)
{
	struct ruled seen;

	(void)state;
	miss(&seen, "every 1h; missed skip; count 2", "2030-01-01T10:30:00Z");
	assert_int_equal(seen.count, 0);
	ruled_look(&seen);
	assert_int_equal(seen.status, DW_ENOENT);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* ---- Zones --------------------------------------------------------------------------------- */

/* use_zone makes "Zone" of this folder a copy of a zone of the system. */
static void use_zone(const char *folder, const char *zone)
{
	char from[TEMP_SIZE], made[TEMP_SIZE], to[TEMP_SIZE];

	temp_copy(temp_file(from, "/usr/share/zoneinfo", zone), temp_file(made, folder, "new"));
	assert_int_equal(rename(made, temp_file(to, folder, "Zone")), 0);
}

/* open_in opens a handle whose zones are those of a new folder. */
static void open_in(char *folder, struct ruled *seen)
{
	temp_make(folder);
	use_zone(folder, "Europe/London");
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	ruled_open(seen, 0);
	assert_int_equal(dw_on(seen->d, "t", ruled_start, seen), DW_OK);
	assert_int_equal(ruled_put(seen, "cron 0 12 * * *; zone Zone"), DW_OK);
}

static void close_in(const char *folder, struct ruled *seen)
{
	assert_int_equal(unsetenv("TZDIR"), 0);
	assert_int_equal(dw_close(seen->d, 0), DW_OK);
	temp_remove(folder);
}

static void zone_whose_rules_change_moves_what_is_pending(void **state)
{
	char folder[TEMP_SIZE];
	struct ruled seen;

	(void)state;
	open_in(folder, &seen);
	ruled_look(&seen);
	assert_int_equal(seen.due, ruled_time("2030-01-01T12:00:00Z"));
	use_zone(folder, "America/New_York");
	ruled_advance(&seen, "2030-01-01T02:00:00Z");
	ruled_look(&seen);
	assert_int_equal(seen.due, ruled_time("2030-01-01T17:00:00Z"));
	ruled_advance(&seen, "2030-01-02T18:00:00Z");
	assert_int_equal(seen.count, 2);
	assert_on_time(&seen, 0, "2030-01-01T17:00:00Z");
	assert_on_time(&seen, 1, "2030-01-02T17:00:00Z");
	close_in(folder, &seen);
}

/* Whoever has moved a timer wants it there, whatever its zone does. */
static void moved_timer_stays_when_its_zone_changes(void **state)
{
	char folder[TEMP_SIZE];
	struct ruled seen;

	(void)state;
	open_in(folder, &seen);
	assert_int_equal(
	    dw_move(seen.d, "a", ruled_time("2030-01-01T15:00:00Z"), ruled_answer, &seen), DW_OK);
	ruled_advance(&seen, "2030-01-01T00:30:00Z");
	use_zone(folder, "America/New_York");
	ruled_advance(&seen, "2030-01-01T02:00:00Z");
	ruled_look(&seen);
	assert_int_equal(seen.due, ruled_time("2030-01-01T15:00:00Z"));
	ruled_advance(&seen, "2030-01-02T18:00:00Z");
	assert_int_equal(seen.starts[0].now, ruled_time("2030-01-01T15:00:00Z"));
	close_in(folder, &seen);
}

/* The occurrence at noon was moved, and delivered early. When the zone's file is replaced before
 * noon, the next one stays tomorrow's. */
static void zone_that_is_replaced_repeats_no_occurrence(void **state)
{
	char folder[TEMP_SIZE];
	struct ruled seen;

	(void)state;
	open_in(folder, &seen);
	assert_int_equal(
	    dw_move(seen.d, "a", ruled_time("2030-01-01T01:00:00Z"), ruled_answer, &seen), DW_OK);
	ruled_advance(&seen, "2030-01-01T01:30:00Z");
	assert_int_equal(seen.count, 1);
	use_zone(folder, "Europe/London");
	ruled_advance(&seen, "2030-01-02T12:00:00Z");
	assert_int_equal(seen.count, 2);
	assert_on_time(&seen, 1, "2030-01-02T12:00:00Z");
	close_in(folder, &seen);
}

static void zone_that_is_gone_keeps_its_timer(void **state)
{
	char folder[TEMP_SIZE], zone[TEMP_SIZE];
	struct ruled seen;

	(void)state;
	open_in(folder, &seen);
	assert_int_equal(remove(temp_file(zone, folder, "Zone")), 0);
	ruled_advance(&seen, "2030-01-01T14:30:00Z");
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.events[DW_EVENT_ZONE], 3);
	ruled_look(&seen);
	assert_int_equal(seen.due, ruled_time("2030-01-01T12:00:00Z"));
	use_zone(folder, "Europe/London");
	ruled_advance(&seen, "2030-01-02T14:30:00Z");
	assert_int_equal(seen.count, 2);
	assert_start(&seen, 0, "2030-01-01T15:00:00Z", "2030-01-01T12:00:00Z", 0);
	assert_int_equal(seen.starts[0].attempt, 1);
	assert_on_time(&seen, 1, "2030-01-02T12:00:00Z");
	close_in(folder, &seen);
}

static void keep_topic(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	dw_topic_info *found = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	*found = count > 0 ? topics[0] : (dw_topic_info){0};
}

static void assert_waits(const struct ruled *seen, dw_waits waits, uint64_t due)
{
	dw_topic_info found = {0};

	assert_int_equal(dw_topic_list(seen->d, "t", keep_topic, &found), DW_OK);
	assert_int_equal(dw_sync(seen->d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(found.waits, waits);
	assert_int_equal(found.due, due);
	assert_int_equal(found.on_purpose, 0);
}

/* Many timers of one zone make one event an hour. */
static void zone_that_is_gone_is_told_once_an_hour(void **state)
{
	char folder[TEMP_SIZE], zone[TEMP_SIZE], id[16];
	dw_rule rule = {.size = sizeof rule, .cron = "0 12 * * *", .zone = "Zone"};
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .rule = &rule};
	struct ruled seen;

	(void)state;
	open_in(folder, &seen);
	for (int i = 0; i < 99; i++) {
		(void)snprintf(id, sizeof id, "b%d", i);
		assert_int_equal(dw_put(seen.d, &timer, NULL, NULL), DW_OK);
	}
	assert_int_equal(remove(temp_file(zone, folder, "Zone")), 0);
	ruled_advance(&seen, "2030-01-01T12:30:00Z");
	assert_int_equal(seen.events[DW_EVENT_ZONE], 1);
	assert_int_equal(seen.waiting, 100);
	assert_waits(&seen, DW_WAITS_ZONE, 100);
	ruled_advance(&seen, "2030-01-01T14:30:00Z");
	assert_int_equal(seen.events[DW_EVENT_ZONE], 3);
	assert_int_equal(seen.waiting, 100);
	use_zone(folder, "Europe/London");
	ruled_advance(&seen, "2030-01-01T16:30:00Z");
	assert_int_equal(seen.events[DW_EVENT_ZONE], 3);
	assert_int_equal(seen.count, 100);
	assert_waits(&seen, DW_WAITS_NOT, 0);
	close_in(folder, &seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(missed_once_delivers_the_last_one_for_all),
	    cmocka_unit_test(missed_once_and_too_old_waits_for_the_next),
	    cmocka_unit_test(missed_skip_delivers_none_of_them),
	    cmocka_unit_test(missed_all_delivers_each_the_oldest_first),
	    cmocka_unit_test(missed_all_is_bounded),
	    cmocka_unit_test(missed_for_long_is_counted_up_to_a_limit),
	    cmocka_unit_test(slightly_late_is_not_missed),
	    cmocka_unit_test(missed_after_has_a_border),
	    cmocka_unit_test(late_retry_is_not_missed),
	    cmocka_unit_test(count_of_no_occurrence_is_refused),
	    cmocka_unit_test(last_occurrence_skipped_ends_the_rule),
	    cmocka_unit_test(zone_whose_rules_change_moves_what_is_pending),
	    cmocka_unit_test(moved_timer_stays_when_its_zone_changes),
	    cmocka_unit_test(zone_that_is_replaced_repeats_no_occurrence),
	    cmocka_unit_test(zone_that_is_gone_keeps_its_timer),
	    cmocka_unit_test(zone_that_is_gone_is_told_once_an_hour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
