/* Rules: their occurrences, their text, and what is refused. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "calendar/next.h"
#include "calendar/rule_text.h"
#include "durawheel/durawheel.h"
#include "systemd_goldens.h"
#include "zoneinfo_goldens.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static dw_usec moment(const char *text)
{
	dw_usec time;

	assert_int_equal(dw_parse_time(text, &time), DW_OK);
	return time;
}

static dw_rule rule_of(const char *cron, const char *zone)
{
	return (dw_rule){.size = sizeof(dw_rule), .cron = cron, .zone = zone};
}

/* expect_times: the next occurrences after `from` are those, in UTC, with spaces between. */
static void expect_times(const dw_rule *rule, const char *from, const char *wanted)
{
	char got[1024] = "", message[DW_MESSAGE_SIZE] = "", time[DW_TIME_SIZE];
	dw_usec times[16];
	size_t count = (strlen(wanted) + 1) / 21, used = 0;
	int found = dw_rule_next(rule, moment(from), times, count, message);

	assert_string_equal(message, "");
	for (int i = 0; i < found; i++) {
		assert_true(times[i] % 1000000 == 0);
		dw_format_time(times[i], time);
		used += (size_t)snprintf(got + used, sizeof got - used, "%s%.19sZ",
					 used > 0 ? " " : "", time);
	}
	assert_string_equal(got, wanted);
}

static void cron_in_utc_names_each_time(void **state)
{
	static const struct {
		const char *cron, *from, *wanted;
	} samples[] = {
	    {"0 8 * * mon-fri", "2026-06-05T08:00:00Z",
	     "2026-06-08T08:00:00Z 2026-06-09T08:00:00Z"},
	    {"*/15 9-10 * * *", "2026-06-05T09:40:00Z",
	     "2026-06-05T09:45:00Z 2026-06-05T10:00:00Z 2026-06-05T10:15:00Z"},
	    {"50/5 23 31 12 ?", "2026-12-31T23:49:59.5Z",
	     "2026-12-31T23:50:00Z 2026-12-31T23:55:00Z 2027-12-31T23:50:00Z"},
	    {"30 0 0 1 1 *", "2026-06-01T00:00:00Z", "2027-01-01T00:00:30Z"},
	    {"0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z 2108-02-29T00:00:00Z"},
	    {"0 18 L * *", "2027-01-31T18:00:00Z", "2027-02-28T18:00:00Z 2027-03-31T18:00:00Z"},
	    {"0 0 L-2,15 2 *", "2028-01-01T00:00:00Z", "2028-02-15T00:00:00Z 2028-02-27T00:00:00Z"},
	    {"0 0 * * mon#2", "2026-06-01T00:00:00Z", "2026-06-08T00:00:00Z 2026-07-13T00:00:00Z"},
	    {"0 0 * * FRI#L", "2026-06-01T00:00:00Z", "2026-06-26T00:00:00Z 2026-07-31T00:00:00Z"},
	    {"0 0 * 2 mon#5", "2026-01-01T00:00:00Z", "2044-02-29T00:00:00Z"},
	    {"0 0 13 * fri", "2026-06-01T00:00:00Z",
	     "2026-06-05T00:00:00Z 2026-06-12T00:00:00Z "
	     "2026-06-13T00:00:00Z"},
	    {"0 0 */13 * fri", "2026-01-01T00:00:00Z", "2026-02-27T00:00:00Z 2026-03-27T00:00:00Z"},
	    {"0 0 * * fri-sun", "2026-06-04T00:00:00Z",
	     "2026-06-05T00:00:00Z 2026-06-06T00:00:00Z 2026-06-07T00:00:00Z"},
	    {"0 0 * * 7", "2026-06-01T00:00:00Z", "2026-06-07T00:00:00Z"},
	    {" 0\t0  1 jan,Jul * ", "2026-06-04T00:00:00Z",
	     "2026-07-01T00:00:00Z 2027-01-01T00:00:00Z"},
	    {"@hourly", "2026-06-04T22:59:59Z", "2026-06-04T23:00:00Z 2026-06-05T00:00:00Z"},
	    {"@daily", "2026-06-04T00:00:00Z", "2026-06-05T00:00:00Z"},
	    {"@weekly", "2026-06-04T00:00:00Z", "2026-06-07T00:00:00Z"},
	    {"@monthly", "2026-06-04T00:00:00Z", "2026-07-01T00:00:00Z"},
	    {"@Yearly", "2026-06-04T00:00:00Z", "2027-01-01T00:00:00Z"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		dw_rule rule = rule_of(samples[i].cron, NULL);

		expect_times(&rule, samples[i].from, samples[i].wanted);
	}
}

static void cron_in_a_gap_comes_once_and_later(void **state)
{
	dw_rule rule = rule_of("30 1 * * *", "Europe/London");

	(void)state;
	expect_times(&rule, "2027-03-27T00:00:00Z",
		     "2027-03-27T01:30:00Z 2027-03-28T01:30:00Z 2027-03-29T00:30:00Z");
	rule.cron = "30 1,2 * * *";
	expect_times(&rule, "2027-03-28T00:00:00Z",
		     "2027-03-28T01:30:00Z 2027-03-29T00:30:00Z 2027-03-29T01:30:00Z");
	rule.cron = "30 * * * *";
	expect_times(&rule, "2027-03-28T00:00:00Z",
		     "2027-03-28T00:30:00Z 2027-03-28T01:30:00Z 2027-03-28T02:30:00Z");
	rule = rule_of("0 9 * * *", "Pacific/Apia"); /* there was no 30 December 2011 */
	expect_times(&rule, "2011-12-29T00:00:00Z",
		     "2011-12-29T19:00:00Z 2011-12-30T19:00:00Z 2011-12-31T19:00:00Z");
}

static void cron_at_a_time_that_exists_twice_comes_first(void **state)
{
	dw_rule rule = rule_of("30 1 * * *", "Europe/London");

	(void)state;
	expect_times(&rule, "2027-10-30T00:00:00Z",
		     "2027-10-30T00:30:00Z 2027-10-31T00:30:00Z 2027-11-01T01:30:00Z");
	rule.cron = "*/30 1 * * *";
	expect_times(&rule, "2027-10-30T23:00:00Z",
		     "2027-10-31T00:00:00Z 2027-10-31T00:30:00Z 2027-10-31T01:00:00Z "
		     "2027-10-31T01:30:00Z 2027-11-01T01:00:00Z");
	rule = rule_of("30 * * 10 *", "Africa/Cairo"); /* November begins, and October again */
	expect_times(&rule, "2024-10-31T20:00:00Z",
		     "2024-10-31T20:30:00Z 2024-10-31T21:30:00Z 2025-09-30T21:30:00Z");
	rule = rule_of("45 1 * * *", "Australia/Lord_Howe"); /* by half an hour */
	expect_times(&rule, "2027-04-03T00:00:00Z", "2027-04-03T14:45:00Z 2027-04-04T15:15:00Z");
}

static void every_counts_from_its_start(void **state)
{
	dw_rule rule = {.size = sizeof rule, .every = DW_HOURS(24), .zone = "Europe/London"};

	(void)state;
	expect_times(&rule, "2027-03-27T12:00:00Z", "2027-03-28T12:00:00Z 2027-03-29T12:00:00Z");
	rule.start = moment("2027-03-27T11:00:00Z");
	expect_times(&rule, "2027-03-27T10:00:00Z", "2027-03-27T11:00:00Z 2027-03-28T11:00:00Z");
	expect_times(&rule, "2027-03-27T11:00:00Z", "2027-03-28T11:00:00Z");
	expect_times(&rule, "2027-03-29T10:59:59Z", "2027-03-29T11:00:00Z");
}

static void rule_ends_by_time_or_count(void **state)
{
	dw_rule rule = rule_of("0 8 * * *", NULL);

	(void)state;
	rule.start = moment("2027-01-02T08:00:00Z");
	rule.end = moment("2027-01-04T08:00:00Z");
	expect_times(&rule, "2027-01-01T00:00:00Z",
		     "2027-01-02T08:00:00Z 2027-01-03T08:00:00Z 2027-01-04T08:00:00Z");
	assert_int_equal(dw_rule_next(&rule, rule.end, (dw_usec[1]){0}, 1, NULL), 0);
	rule.end = 0;
	rule.count = 2;
	expect_times(&rule, "2027-01-02T08:00:00Z", "2027-01-03T08:00:00Z");
	assert_int_equal(dw_rule_next(&rule, rule.start, (dw_usec[4]){0}, 4, NULL), 1);
	assert_int_equal(dw_rule_next(&rule, rule.start - 1, (dw_usec[4]){0}, 4, NULL), 2);
	assert_int_equal(dw_rule_next(&rule, DW_NEVER, (dw_usec[4]){0}, 4, NULL), 0);
	rule.start = 0;
	assert_int_equal(dw_rule_next(&rule, DW_DAYS(1), (dw_usec[4]){0}, 4, NULL), 2);
}

static void excepted_dates_are_local(void **state)
{
	static const char *const dates[] = {"2027-03-28", "2027-03-30"};
	dw_rule rule = rule_of("30 0 * * *", "Europe/London");

	(void)state;
	rule.except = dates;
	rule.except_count = COUNT(dates);
	expect_times(&rule, "2027-03-27T00:00:00Z",
		     "2027-03-27T00:30:00Z 2027-03-28T23:30:00Z 2027-03-30T23:30:00Z");
	rule.cron = "* * * * *";
	expect_times(&rule, "2027-03-27T23:59:00Z", "2027-03-28T23:00:00Z 2027-03-28T23:01:00Z");
	rule.cron = NULL;
	rule.every = DW_HOURS(7);
	rule.start = moment("2027-03-27T20:00:00Z");
	expect_times(&rule, "2027-03-27T20:00:00Z", "2027-03-29T00:00:00Z");
}

static void local_says_what_the_clocks_do(void **state)
{
	static const struct {
		const char *cron, *time;
		dw_usec offset, shift;
		int passing;
	} samples[] = {
	    {"30 1 * * *", "2027-03-27T01:30:00Z", 0, 0, 0},
	    {"30 1 * * *", "2027-03-28T01:30:00Z", DW_HOURS(1), DW_HOURS(1), 0},
	    {"30 1,2 * * *", "2027-03-28T01:30:00Z", DW_HOURS(1), 0, 0},
	    {"30 * * * *", "2027-03-28T01:30:00Z", DW_HOURS(1), 0, 0},
	    {"30 1 * * *", "2027-10-31T00:30:00Z", DW_HOURS(1), 0, 1},
	    {"30 * * * *", "2027-10-31T01:30:00Z", 0, 0, 2},
	    {"30 * * * *", "2027-10-31T02:30:00Z", 0, 0, 0},
	    {"30 * * * *", "2027-10-30T23:30:00Z", DW_HOURS(1), 0, 0},
	    {"0 * * * *", "2027-10-31T00:00:00Z", DW_HOURS(1), 0, 1},
	    {"0 * * * *", "2027-10-31T01:00:00Z", 0, 0, 2},
	    {"0 * * * *", "2027-10-31T02:00:00Z", 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		dw_rule rule = rule_of(samples[i].cron, "Europe/London");
		dw_local local = {.size = sizeof local};

		assert_int_equal(dw_rule_local(&rule, moment(samples[i].time), &local, NULL),
				 DW_OK);
		assert_true(local.offset_us == samples[i].offset);
		assert_true(local.shift_us == samples[i].shift);
		assert_int_equal(local.passing, samples[i].passing);
	}
}

/* Each text, and a part of the message that it must give. */
static const char *const bad[][2] = {
    {"", "empty"},
    {"zone UTC", "neither every nor cron"},
    {"every 1h; cron @daily", "both every and cron"},
    {"every 999us", "every is out of range: write 1ms to 3660d"},
    {"every 3661d", "every is out of range"},
    {"every soon", "every \"soon\" is not a duration"},
    {"every 1h; every 2h", "every is given twice"},
    {"every 1h; colour red", "\"colour\" is no field"},
    {"every 1h;", "\"\" is no field"},
    {"every", "every has no value"},
    {"every 1h; zone Europe/Lundon", "Europe/Lundon: No such file"},
    {"every 1h; zone ../zoneinfo/UTC", "is not a name: write an IANA name"},
    {"every 1h; zone /etc/passwd", "is not a name"},
    {"every 1h; zone Europe//London", "is not a name"},
    {"every 1h; zone Europe", "zoneinfo/Europe: it is not a regular file"},
    {"every 1h; zone localtime", "localtime is another zone on each machine: write an IANA name"},
    {"every 1h; zone posixrules", "posixrules is another zone on each machine"},
    {"every 1h; zone leapseconds", "is not a TZif file"},
    {"every 1h; start 2026-01-01T00:00:00", "start \"2026-01-01T00:00:00\" is not a time"},
    {"every 1h; start 2026-01-02T00:00:00Z; end 2026-01-01T00:00:00Z", "end is before "
								       "start"},
    {"every 1h; count 0", "count \"0\" is wrong"},
    {"every 1h; count 100001", "count is too large: write at most 100000"},
    {"every 1h; jitter 31m", "jitter is out of range: write at most half"},
    {"every 1h; missed never", "missed \"never\" is unknown: write once, skip or all"},
    {"every 1h; except 2026-02-29", "except: \"2026-02-29\" is not a date"},
    {"every 1h; except 2026-12-25,", "except: \"\" is not a date"},
    {"cron 0 8 * *", "cron: too few fields: write 5"},
    {"cron 0 0 8 * * * *", "cron: more than 6 fields"},
    {"cron @reboot", "cron: @reboot is unknown: write @hourly"},
    {"cron 60 * * * *", "cron: minute \"60\" is wrong: write 0 to 59"},
    {"cron 0 24 * * *", "cron: hour \"24\" is wrong"},
    {"cron 0 0 0 * *", "cron: day of month \"0\" is wrong"},
    {"cron 0 0 * 13 *", "cron: month \"13\" is wrong: write 1 to 12, jan to dec"},
    {"cron 0 0 * * 8", "cron: day of week \"8\" is wrong"},
    {"cron 5-1 * * * *", "cron: minute \"5-1\" has a range that ends before it begins"},
    {"cron 5- * * * *", "has a wrong end of a range"},
    {"cron 0 0 * * 5-0", "has a range that ends before it begins"},
    {"cron */0 * * * *", "has a step of 0"},
    {"cron */ * * * *", "has no step after the /"},
    {"cron */90 * * * *", "has a step beyond the field"},
    {"cron 1, * * * *", "cron: minute \"1,\" is wrong"},
    {"cron 1x * * * *", "cron: minute \"1x\" is wrong"},
    {"cron 0 0 L-31 * *", "has no number of days up to 30 after L-"},
    {"cron 0 0 15W * *", "cron: day of month \"15W\" is wrong"},
    {"cron 0 0 * * mon#6", "has no week of 1 to 5 or L after the #"},
    {"cron 0 0 * * L", "cron: day of week \"L\" is wrong"},
    {"cron 0 0 30 2 *", "\"0 0 30 2 *\" never comes"},
};

static void bad_rule_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		char message[DW_MESSAGE_SIZE] = "";
		dw_rule *rule = NULL;

		assert_int_equal(dw_rule_parse(bad[i][0], &rule, message), DW_EINVAL);
		assert_null(rule);
		if (!strstr(message, bad[i][1]))
			assert_string_equal(message, bad[i][1]);
		assert_int_equal(dw_rule_parse(bad[i][0], &rule, NULL), DW_EINVAL);
	}
}

static void bad_struct_is_refused(void **state)
{
	dw_rule rule = rule_of("@daily", NULL);
	dw_usec time;

	(void)state;
	assert_int_equal(dw_rule_next(NULL, 0, &time, 1, NULL), DW_EINVAL);
	assert_int_equal(dw_rule_next(&rule, 0, NULL, 1, NULL), DW_EINVAL);
	rule.size--;
	assert_int_equal(dw_rule_next(&rule, 0, &time, 1, NULL), DW_EINVAL);
	rule.size = sizeof rule;
	rule.except_count = 1;
	assert_int_equal(dw_rule_next(&rule, 0, &time, 1, NULL), DW_EINVAL);
	rule.except = (const char *[]){NULL};
	assert_int_equal(dw_rule_next(&rule, 0, &time, 1, NULL), DW_EINVAL);
	rule.except_count = DW_EXCEPT_MAX + 1;
	assert_int_equal(dw_rule_next(&rule, 0, &time, 1, NULL), DW_EINVAL);
	rule.except_count = 0;
	rule.missed = (dw_missed)3;
	assert_int_equal(dw_rule_next(&rule, 0, &time, 1, NULL), DW_EINVAL);
	assert_int_equal(dw_rule_local(&rule, 0, &(dw_local){.size = 1}, NULL), DW_EINVAL);
	dw_rule_free(NULL);
}

/* A rule's text is read, written, and read again as the same. */
static void text_survives_writing(void **state)
{
	static const char *const texts[][2] = {
	    {"every 90s", "every 90s"},
	    {" zone Europe/London ;cron  0 8 * * mon-fri", "cron 0 8 * * mon-fri; zone "
							   "Europe/London"},
	    {"count 10;every 24h;start 2026-06-01T09:30:00+02:00;end 2027-01-01T00:00:00Z",
	     "every 1d; start 2026-06-01T07:30:00.000000Z; end 2027-01-01T00:00:00.000000Z; count "
	     "10"},
	    {"cron @daily; jitter 1m30s; missed skip; missed-after 1ms; missed-age 1h1us",
	     "cron @daily; jitter 90s; missed skip; missed-after 1ms; missed-age 3600000001us"},
	    {"every 1h; missed once; except 2026-12-25 ,2026-12-28",
	     "every 1h; except 2026-12-25, 2026-12-28"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t form = 0; form < 2; form++) {
			char text[DW_RULE_TEXT_MAX + 1], message[DW_MESSAGE_SIZE] = "";
			dw_rule *rule = NULL;

			(void)dw_rule_parse(texts[i][form], &rule, message);
			assert_string_equal(message, "");
			assert_int_equal(rule_write(rule, text, sizeof text), strlen(texts[i][1]));
			assert_string_equal(text, texts[i][1]);
			assert_int_equal(rule_write(rule, text, 4), strlen(texts[i][1]));
			assert_int_equal(strlen(text), 3);
			dw_rule_free(rule);
		}
}

static void jitter_is_a_function_of_id_and_occurrence(void **state)
{
	dw_usec least = DW_NEVER, most = 0, one = calendar_delay(1000, "a", 5000000, DW_NEVER);

	(void)state;
	assert_true(one == calendar_delay(1000, "a", 5000000, DW_NEVER));
	for (dw_usec i = 0; i < 1000; i++) {
		dw_usec delay = calendar_delay(DW_HOURS(1), "b", i * 1000, i * 1000 + 100);

		least = delay < least ? delay : least;
		most = delay > most ? delay : most;
	}
	assert_true(least == 0);
	assert_true(most == 50);
	assert_true(calendar_delay(0, "b", 1000, 2000) == 0);
}

static void occurrences_are_those_of_zoneinfo(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(goldens); i++) {
		dw_rule rule = rule_of(goldens[i].cron, goldens[i].zone);

		expect_times(&rule, goldens[i].from, goldens[i].times);
	}
}

/* Each time of systemd, and those that it passes over, are ours; and no others between. */
static void occurrences_are_those_of_systemd(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(systemd_goldens); i++) {
		const struct systemd_golden *golden = &systemd_goldens[i];
		size_t count = (strlen(golden->times) + strlen(golden->in_gap) + 2) / 21;
		dw_rule rule = rule_of(golden->cron, golden->zone);
		char time[DW_TIME_SIZE], found[24];
		dw_usec times[16];

		assert_int_equal(dw_rule_next(&rule, moment(golden->from), times, count, NULL),
				 count);
		for (size_t k = 0; k < count; k++) {
			dw_format_time(times[k], time);
			(void)snprintf(found, sizeof found, "%.19sZ", time);
			if (!strstr(golden->times, found) && !strstr(golden->in_gap, found))
				fail_msg("%s in %s: %s", golden->cron, golden->zone, found);
		}
	}
}

static void count_without_a_start_counts_from_the_question(void **state)
{
	dw_rule rule = {.size = sizeof rule, .every = DW_HOURS(1), .count = 3};
	dw_usec times[8];

	(void)state;
	assert_int_equal(dw_rule_next(&rule, 0, times, 8, NULL), 3);
	assert_true(times[0] == DW_HOURS(1) && times[2] == DW_HOURS(3));
	rule.start = DW_HOURS(1);
	assert_int_equal(dw_rule_next(&rule, DW_HOURS(2), times, 8, NULL), 1);
	assert_true(times[0] == DW_HOURS(3));
}

/* The last year: what would come after it never comes. */
static void rule_at_the_end_of_time_never_comes(void **state)
{
	static const char *const zones[] = {"America/New_York", "Australia/Lord_Howe",
					    "Asia/Tokyo"};
	dw_rule rule = {.size = sizeof rule, .cron = "59 23 31 12 *"};
	dw_usec times[2];

	(void)state;
	for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
		rule.zone = zones[i];
		assert_int_equal(
		    dw_rule_next(&rule, moment("9997-06-01T00:00:00Z"), times, 1, NULL), 1);
		assert_int_equal(
		    dw_rule_next(&rule, moment("9999-12-30T00:00:00Z"), times, 2, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cron_in_utc_names_each_time),
	    cmocka_unit_test(cron_in_a_gap_comes_once_and_later),
	    cmocka_unit_test(cron_at_a_time_that_exists_twice_comes_first),
	    cmocka_unit_test(every_counts_from_its_start),
	    cmocka_unit_test(rule_ends_by_time_or_count),
	    cmocka_unit_test(excepted_dates_are_local),
	    cmocka_unit_test(local_says_what_the_clocks_do),
	    cmocka_unit_test(bad_rule_is_named),
	    cmocka_unit_test(bad_struct_is_refused),
	    cmocka_unit_test(text_survives_writing),
	    cmocka_unit_test(jitter_is_a_function_of_id_and_occurrence),
	    cmocka_unit_test(occurrences_are_those_of_zoneinfo),
	    cmocka_unit_test(occurrences_are_those_of_systemd),
	    cmocka_unit_test(count_without_a_start_counts_from_the_question),
	    cmocka_unit_test(rule_at_the_end_of_time_never_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
