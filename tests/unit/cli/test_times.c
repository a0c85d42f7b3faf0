/* The reader of times as people write them: what it understands, and in which words it refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/out/durations.h"
#include "cli/out/times.h"
#include "support/cmocka.h"

/* 03:50 on a Sunday in Berlin. */
#define NOW "2026-11-29T02:50:00Z"

/* A text, and the time that it means in UTC, or a part of the words that refuse it. */
struct reading {
	const char *text, *wanted;
};

static dw_usec moment(const char *text)
{
	dw_usec time;

	assert_int_equal(dw_parse_time(text, &time), DW_OK);
	return time;
}

static void check_all(const struct reading *readings, size_t count, const char *zone,
		      const char *now)
{
	const struct time_place place = {.now = moment(now), .zone = zone};

	for (size_t i = 0; i < count; i++) {
		const char *text = readings[i].text, *wanted = readings[i].wanted;
		char fault[TIME_FAULT_SIZE] = "", found[DW_TIME_SIZE];
		struct time_read read;
		dw_usec time;
		int status = time_of(text, &place, &read, fault);

		if (dw_parse_time(wanted, &time) == DW_OK) {
			if (status != DW_OK)
				fail_msg("\"%s\" %s", text, fault);
			dw_format_time(read.time, found);
			if (read.time != time)
				fail_msg("\"%s\" is %s, not %s", text, found, wanted);
		} else if (status == DW_OK || !strstr(fault, wanted)) {
			fail_msg("\"%s\" is refused by \"%s\" (%d), not by \"%s\"", text, fault,
				 status, wanted);
		}
	}
}
#define CHECK_ALL(readings, zone, now)                                                             \
	check_all(readings, sizeof(readings) / sizeof *(readings), zone, now)

static void exact_times_are_as_the_library_reads_them(void **state)
{
	static const struct reading readings[] = {
	    {"2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z"},
	    {"2026-12-01T09:00:00+01:00", "2026-12-01T08:00:00Z"},
	    {"2026-12-01t09:00:00z", "2026-12-01T09:00:00Z"},
	    {"2026-12-01 09:00:00.5-05:00", "2026-12-01T14:00:00.500000Z"},
	    {"2026-12-01T09:00:00.123456789Z", "2026-12-01T09:00:00.123457Z"},
	    {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
	    {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
	    {"1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"},
	    {"1795478400", "2026-11-24T00:00:00Z"},
	    {"100000000", "1973-03-03T09:46:40Z"},
	    {"1795478400.25", "2026-11-24T00:00:00.250000Z"},
	    {"@1795478400", "2026-11-24T00:00:00Z"},
	    {"@0", "1970-01-01T00:00:00Z"},
	    {"@1795478400.000001", "2026-11-24T00:00:00.000001Z"},
	    {"@253402300799", "9999-12-31T23:59:59Z"},
	};

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", NOW);
	CHECK_ALL(readings, "No/Where", NOW); /* they need no zone */
}

static void days_and_times_are_local(void **state)
{
	static const struct reading readings[] = {
	    {"2026-12-01 09:00", "2026-12-01T08:00:00Z"},
	    {"2026-12-01T09:00", "2026-12-01T08:00:00Z"},
	    {"2026-12-01 9:00", "2026-12-01T08:00:00Z"},
	    {"2026-12-01  09:00:30", "2026-12-01T08:00:30Z"},
	    {" 2026-12-01 09:00 ", "2026-12-01T08:00:00Z"},
	    {"2026-12-01 09:00:30.25", "2026-12-01T08:00:30.250000Z"},
	    {"2026-07-01 09:00", "2026-07-01T07:00:00Z"},
	    {"2026-12-01 9am", "2026-12-01T08:00:00Z"},
	    {"9am 2026-12-01", "2026-12-01T08:00:00Z"},
	    {"2026-12-01 at 9:30 pm", "2026-12-01T20:30:00Z"},
	    {"2026-12-01 noon", "2026-12-01T11:00:00Z"},
	    {"2026-12-01 12am", "2026-11-30T23:00:00Z"},
	    {"2026-12-01 12PM", "2026-12-01T11:00:00Z"},
	    {"2026-12-01T09:00Z", "2026-12-01T09:00:00Z"},
	    {"2026-12-01T09:00+05:30", "2026-12-01T03:30:00Z"},
	    {"2026-12-01 09:00 +0530", "2026-12-01T03:30:00Z"},
	    {"2026-12-01 09:00 -05", "2026-12-01T14:00:00Z"},
	    {"2026-12-01 09:00 UTC", "2026-12-01T09:00:00Z"},
	    {"2026-12-01 09:00 gmt", "2026-12-01T09:00:00Z"},
	    {"2026-12-01 09:00 America/New_York", "2026-12-01T14:00:00Z"},
	    {"2026-12-01 09:00:00 +01:00 Europe/Berlin", "2026-12-01T08:00:00Z"},
	    {"1 dec 2026 09:00", "2026-12-01T08:00:00Z"},
	    {"Dec 1, 2026 9am", "2026-12-01T08:00:00Z"},
	    {"december 1st 9am", "2026-12-01T08:00:00Z"},
	    {"9am on 3rd Jan", "2027-01-03T08:00:00Z"},
	    {"nov 29 03:49", "2027-11-29T02:49:00Z"},
	    {"nov 29 03:51", "2026-11-29T02:51:00Z"},
	    {"feb 29 noon", "2028-02-29T11:00:00Z"},
	    {"sept 1 2027 8:00", "2027-09-01T06:00:00Z"},
	    {"Tue, 01 Dec 2026 09:00:00 +0100", "2026-12-01T08:00:00Z"},
	    {"tuesday 2026-12-01 09:00", "2026-12-01T08:00:00Z"},
	    {"9999-12-31 23:59:59", "9999-12-31T22:59:59Z"},
	    {"1970-01-02 01:00", "1970-01-02T00:00:00Z"},
	};

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", NOW);
}

static void words_count_from_now(void **state)
{
	static const struct reading readings[] = {
	    {"now", NOW},
	    {"NOW", NOW},
	    {"in 30 min", "2026-11-29T03:20:00Z"},
	    {"in 1w", "2026-12-06T02:50:00Z"},
	    {"In 1 h 30 min", "2026-11-29T04:20:00Z"},
	    {"in 0", NOW},
	    {"today 9am", "2026-11-29T08:00:00Z"},
	    {"today 03:00", "2026-11-29T02:00:00Z"},
	    {"tomorrow 9am", "2026-11-30T08:00:00Z"},
	    {"Tomorrow at 09:00", "2026-11-30T08:00:00Z"},
	    {"9 am tomorrow", "2026-11-30T08:00:00Z"},
	    {"tomorrow 9am America/New_York", "2026-11-29T14:00:00Z"},
	    {"tomorrow 09:00 UTC", "2026-11-30T09:00:00Z"},
	    {"yesterday 18:00", "2026-11-28T17:00:00Z"},
	    {"09:00", "2026-11-29T08:00:00Z"},
	    {"03:50", "2026-11-30T02:50:00Z"},
	    {"03:51", "2026-11-29T02:51:00Z"},
	    {"9am", "2026-11-29T08:00:00Z"},
	    {"9:15pm", "2026-11-29T20:15:00Z"},
	    {"noon", "2026-11-29T11:00:00Z"},
	    {"00:00", "2026-11-29T23:00:00Z"},
	    {"09:00Z", "2026-11-29T09:00:00Z"},
	    {"02:49Z", "2026-11-30T02:49:00Z"},
	    {"sun 03:49", "2026-12-06T02:49:00Z"},
	    {"sun 03:51", "2026-11-29T02:51:00Z"},
	    {"mon 9:30", "2026-11-30T08:30:00Z"},
	    {"Saturday 9:30", "2026-12-05T08:30:00Z"},
	    {"tues 9:30", "2026-12-01T08:30:00Z"},
	};

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", NOW);
}

static void what_is_no_time_is_refused_in_words(void **state)
{
	static const struct reading readings[] = {
	    {"", "is not a time: write one as"},
	    {" ", "is not a time: write one as"},
	    {"x", "\"x\" is not understood"},
	    {"tomorrow", "no time of day; write one behind it, as \"tomorrow 09:00\""},
	    {"2026-12-01", "no time of day; write one behind it, as \"2026-12-01 09:00\""},
	    {"tomorrow 9", "9 is no time of day: write 9:00 or 9am"},
	    {"30 min", "is a duration and not a time: write \"in 30 min\""},
	    {"5m", "is a duration"},
	    {"in", "\"in\" is not understood"},
	    {"in x", "what follows \"in\" is not a duration"},
	    {"in 106751992d", "what follows \"in\" is too long"},
	    {"next monday 9am", "\"next\" may mean two days"},
	    {"midnight", "write 00:00"},
	    {"1/12/2026 9:00", "write its day as 2026-12-01: year, month, day"},
	    {"1.12.2026 9:00", "write its day as 2026-12-01"},
	    {"26-12-01 9:00", "write its day as 2026-12-01"},
	    {"dec 9am", "it has a month, but no day"},
	    {"2026 9am", "it has a year, but no month"},
	    {"dec 1 dec 2 9am", "it has two days"},
	    {"today tomorrow 9am", "it has two days"},
	    {"tomorrow mon 9am", "it has two days"},
	    {"9am 10am", "it has two times of day"},
	    {"13pm", "hours go from 1 to 12"},
	    {"0am", "hours go from 1 to 12"},
	};

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", NOW);
}

static void a_part_out_of_range_is_named(void **state)
{
	static const struct reading readings[] = {
	    {"24:00", "does not exist: hours go to 23: midnight is 00:00 of the next day"},
	    {"25:00", "does not exist: there is no hour 25"},
	    {"09:60", "does not exist: there is no minute 60"},
	    {"2016-12-31T23:59:60Z", "does not exist: there is no second 60"},
	    {"09:0", "write its time as 09:00"},
	    {"09:00:", "write its time as 09:00"},
	    {"09:00.", "write its time as 09:00"},
	    {"09:00x", "\"x\" is not understood"},
	    {"tomorrow 9am Z +01:00", "it has two offsets"},
	    {"tomorrow 9am +1:00", "\"+1:00\" is not understood"},
	    {"tomorrow 9am +25:00", "does not exist: its offset is out of range"},
	    {"2026-02-30 10:00", "does not exist: February 2026 has the days 1 to 28"},
	    {"2028-02-30T10:00:00Z", "does not exist: February 2028 has the days 1 to 29"},
	    {"2026-13-01 10:00", "does not exist: there is no month 13"},
	    {"apr 31 10:00", "does not exist: April 2026 has the days 1 to 30"},
	    {"0000-01-01 00:00", "does not exist: there is no year 0"},
	    {"10000-01-01 00:00", "write its day as"},
	    {"9999-12-31 23:59 -01:00", "does not exist: it is after the year 9999"},
	    {"0001-01-01 00:00", "is before 1970: write its offset"},
	    {"Wed, 01 Dec 2026 09:00", "does not exist: this day is a Tuesday"},
	    {"2026-12-01 09:00 +02:00 Europe/Berlin",
	     "this moment is 2026-12-01 08:00:00 +01:00 Europe/Berlin"},
	    {"2026-12-01 09:00 No/Where", "is in an unknown zone: "},
	    {"2026-12-01 09:00 ../../etc/passwd", "is in an unknown zone: "},
	    {"tomorrow\t9am", "it has a character that no time has"},
	    {"tomorrow 9am\n", "it has a character that no time has"},
	    {"tom\033[31morrow 9am", "it has a character that no time has"},
	    {"tomorrow 9\xc3\xa4m", "it has a character that no time has"},
	    {"a b c d e f g h i j k l", "is not a time"},
	};

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", NOW);
}

static void numbers_of_another_unit_are_refused_with_the_right_one(void **state)
{
	static const struct reading readings[] = {
	    {"1795478400000", "looks like milliseconds; write seconds since 1970, as @1795478400, "
			      "which is 2026-11-24T00:00:00Z"},
	    {"1795478400000000", "looks like microseconds; write seconds since 1970, as @17954"},
	    {"1795478400000000000", "looks like nanoseconds; write seconds since 1970, as @17954"},
	    {"@1795478400000", "looks like milliseconds"},
	    {"20261201", "looks like a day; write \"2026-12-01 09:00\""},
	    {"202612011530",
	     "may be \"2026-12-01 15:30\" or seconds; write that, or @202612011530"},
	    {"20261201153000", "looks like a day; write \"2026-12-01 15:30\""},
	    {"0930", "9 to 12 digits"},
	    {"99999999", "9 to 12 digits"},
	    {"253402300800", "at most 253402300799"},
	    {"99999999999999999999999999999999", "9 to 12 digits"},
	    {"-1795478400", "is not a time"},
	    {"@", "write seconds since 1970 behind the '@'"},
	    {"@-1", "write seconds since 1970 behind the '@'"},
	    {"@1795478400.1234567", "at most six decimals"},
	    {"@1e9", "write seconds since 1970 behind the '@'"},
	    {"1795478400.", "is not a time"},
	    {"1e99", "is not a time"},
	};
	dw_usec right = 0;

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", NOW);
	assert_string_equal(time_resembles(1795478400, &right), "seconds");
	assert_int_equal(right, INT64_C(1795478400000000));
	assert_string_equal(time_resembles(INT64_C(1795478400123), &right), "milliseconds");
	assert_int_equal(right, INT64_C(1795478400123000));
	assert_string_equal(time_resembles(INT64_C(1795478400123456789), &right), "nanoseconds");
	assert_int_equal(right, INT64_C(1795478400123456));
	assert_null(time_resembles(INT64_C(1795478400123456), &right));
	assert_null(time_resembles(0, &right));
	assert_null(time_resembles(-1, &right));
	assert_null(time_resembles(INT64_MAX, &right));
}

/* In each zone: the hour that does not exist, and the one that comes twice. */
static void a_local_time_that_does_not_exist_or_comes_twice_is_refused(void **state)
{
	static const struct {
		const char *zone;
		struct reading readings[5];
	} zones[] = {
	    {"Europe/Berlin",
	     {{"2027-03-28 01:59", "2027-03-28T00:59:00Z"},
	      {"2027-03-28 02:30", "does not exist in Europe/Berlin, where clocks go forward then; "
				   "write 2027-03-28T03:30:00+02:00"},
	      {"2027-10-31 02:30", "comes twice in Europe/Berlin, where clocks go back then; write "
				   "2027-10-31T02:30:00+02:00 for the first, or "
				   "2027-10-31T02:30:00+01:00"},
	      {"2027-10-31 02:30 +01:00", "2027-10-31T01:30:00Z"},
	      {"2027-10-31 03:00", "2027-10-31T02:00:00Z"}}},
	    {"America/New_York",
	     {{"2027-03-14 02:00", "does not exist in America/New_York"},
	      {"2027-03-14 03:00", "2027-03-14T07:00:00Z"},
	      {"2027-11-07 01:00", "comes twice in America/New_York"},
	      {"2027-11-07 00:59", "2027-11-07T04:59:00Z"},
	      {"2027-11-07 02:00", "2027-11-07T07:00:00Z"}}},
	    {"Australia/Lord_Howe", /* half an hour */
	     {{"2026-10-04 02:15", "write 2026-10-04T02:45:00+11:00"},
	      {"2026-10-04 02:30", "2026-10-03T15:30:00Z"},
	      {"2027-04-04 01:45", "comes twice"},
	      {"2027-04-04 01:29", "2027-04-03T14:29:00Z"},
	      {"2027-04-04 02:00", "2027-04-03T15:30:00Z"}}},
	    {"Pacific/Apia", /* a day that was left out */
	     {{"2011-12-29 12:00", "2011-12-29T22:00:00Z"},
	      {"2011-12-30 12:00", "does not exist in Pacific/Apia"},
	      {"2011-12-31 12:00", "2011-12-30T22:00:00Z"},
	      {"2011-12-30 00:00", "does not exist"},
	      {"2011-12-31 00:00", "2011-12-30T10:00:00Z"}}},
	    {"Asia/Kolkata",
	     {{"2027-03-28 02:30", "2027-03-27T21:00:00Z"},
	      {"2027-10-31 02:30", "2027-10-30T21:00:00Z"},
	      {"tomorrow 9am", "2026-11-30T03:30:00Z"},
	      {"08:20", "2026-11-30T02:50:00Z"},
	      {"08:21", "2026-11-29T02:51:00Z"}}},
	    {"America/Sao_Paulo", /* at midnight */
	     {{"2018-11-04 00:00", "does not exist"},
	      {"2018-11-04 01:00", "2018-11-04T03:00:00Z"},
	      {"2018-02-17 23:30", "comes twice"},
	      {"2018-02-18 00:00", "2018-02-18T03:00:00Z"},
	      {"2018-02-17 22:59", "2018-02-18T00:59:00Z"}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++)
		CHECK_ALL(zones[i].readings, zones[i].zone, NOW);
}

/* The next 02:30 is refused, too, if it comes twice. Whoever wants the 02:30 of the day after it
 * says so. */
static void a_next_time_in_a_change_of_the_clocks_is_refused(void **state)
{
	static const struct reading readings[] = {
	    {"02:30", "comes twice"},
	    {"03:30", "2027-10-31T02:30:00Z"},
	    {"tomorrow 02:30", "comes twice"},
	};

	(void)state;
	CHECK_ALL(readings, "Europe/Berlin", "2027-10-30T12:00:00Z");
}

static void use_tz(const char *tz)
{
	assert_int_equal(tz ? setenv("TZ", tz, 1) : unsetenv("TZ"), 0);
	tzset();
}

static void the_zone_of_the_machine_is_that_of_tz(void **state)
{
	static const struct {
		const char *tz, *wanted, *echo;
	} zones[] = {
	    {"Europe/Berlin", "2026-12-01T08:00:00Z", "2026-12-01 09:00:00 +01:00 Europe/Berlin"},
	    {":Asia/Tokyo", "2026-12-01T00:00:00Z", "2026-12-01 09:00:00 +09:00 Asia/Tokyo"},
	    {"/usr/share/zoneinfo/Asia/Tokyo", "2026-12-01T00:00:00Z",
	     "2026-12-01 09:00:00 +09:00 Asia/Tokyo"},
	    {"XYZ-3", "2026-12-01T06:00:00Z", "2026-12-01 09:00:00 +03:00 XYZ-3"},
	    {"<+0330>-3:30", "2026-12-01T05:30:00Z", "2026-12-01 09:00:00 +03:30 <+0330>-3:30"},
	    {"", "2026-12-01T09:00:00Z", "2026-12-01 09:00:00 +00:00 UTC"},
	    {"No/Where", "no zone \"No/Where\", which TZ names", NULL},
	    {"nonsense", "no zone \"nonsense\", which TZ names", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
		const struct reading reading = {"2026-12-01 09:00", zones[i].wanted};
		const struct time_place place = {.now = moment(NOW)};
		char fault[TIME_FAULT_SIZE], echo[TIME_ECHO_SIZE];
		struct time_read read;

		use_tz(zones[i].tz);
		check_all(&reading, 1, NULL, NOW);
		if (!zones[i].echo)
			continue;
		assert_int_equal(time_of(reading.text, &place, &read, fault), DW_OK);
		time_echo(&read, &place, echo);
		assert_non_null(strstr(echo, zones[i].echo));
		assert_non_null(strstr(echo, ", in "));
	}
	use_tz(NULL);
}

static void what_is_echoed_can_be_read_again(void **state)
{
	static const char *const zones[] = {"Europe/Berlin", "America/New_York", "Asia/Kolkata",
					    "Australia/Lord_Howe", "UTC"};

	(void)state;
	for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
		struct time_read read = {.has_zone = true}, again;
		const struct time_place place = {.now = moment(NOW), .zone = zones[i]};
		char fault[TIME_FAULT_SIZE], text[LOCAL_TEXT_SIZE];

		assert_int_equal(local_zone_find(zones[i], &read.zone, fault), DW_OK);
		/* Every 7 hours of a year, so that all changes of the clocks are among them. */
		for (dw_usec time = place.now; time < place.now + DW_DAYS(366);
		     time += DW_HOURS(7) + DW_MINUTES(15)) {
			local_words(&read.zone, time, text);
			if (time_of(text, &place, &again, fault) != DW_OK)
				fail_msg("%s %s", text, fault);
			assert_int_equal(again.time, time);
		}
	}
}

static void durations_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		dw_usec wanted;
	} good[] = {
	    {"0", 0},
	    {"30m", DW_MINUTES(30)},
	    {"30 min", DW_MINUTES(30)},
	    {"30 Minutes", DW_MINUTES(30)},
	    {"1w", DW_DAYS(7)},
	    {"2 weeks", DW_DAYS(14)},
	    {"1w2d", DW_DAYS(9)},
	    {"1 h 30 min", DW_MINUTES(90)},
	    {"1h30m", DW_MINUTES(90)},
	    {"1.5h", DW_MINUTES(90)},
	    {"1.5 hours", DW_MINUTES(90)},
	    {"250us", 250},
	    {" 5m", DW_MINUTES(5)},
	    {"5m  ", DW_MINUTES(5)},
	    {" 0 ", 0},
	    {"0.000001h", 3600},
	    {"1.000001s", 1000001},
	    {"0.000001us", 1},
	    {"106751991d", INT64_C(106751991) * DW_DAYS(1)},
	};
	static const struct reading bad[] = {
	    {"", "write numbers with w d h"},
	    {"5", "has no unit; write one of w d h m s ms us"},
	    {"-5m", "is negative"},
	    {"1,5h", "behind a point, as 1.5h"},
	    {"1 month", "differ in length; write days, as 30d"},
	    {"1y", "differ in length"},
	    {"30m1h", "the largest first"},
	    {"5m5m", "the largest first"},
	    {"5M", "write numbers with"},
	    {" ", "write numbers with"},
	    {"0 0", "write numbers with"},
	    {"5\tm", "write numbers with"},
	    {"5.m", "write numbers with"},
	    {"5.1234567s", "write numbers with"},
	    {"0x10s", "write numbers with"},
	    {"106751992d", "is too long"},
	    {"99999999999999999999999w", "is too long"},
	};
	dw_usec found = -1;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (duration_of(good[i].text, &found) != DW_OK || found != good[i].wanted)
			fail_msg("\"%s\" is %lld us", good[i].text, (long long)found);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		int status = duration_of(bad[i].text, &found);

		if (status == DW_OK || !strstr(duration_fault(bad[i].text, status), bad[i].wanted))
			fail_msg("\"%s\" %s", bad[i].text, duration_fault(bad[i].text, status));
	}
}

/* Texts of random bytes and of random words are read or refused, and nothing else happens. A
 * sanitizer watches. */
static void no_text_does_harm(void **state)
{
	static const char *const words[] = {"tomorrow", "9am",   "2026-12-01", "09:00", "+01:00",
					    "dec",      "1",     "29th",       "2026",  "mon",
					    "noon",     "in",    "@",          "Z",     ",",
					    "UTC",      "99:99", "::",         "a/b",   "T",
					    "0",        "am",    "p.m.",       "feb",   ".5",
					    "-",        "+99"};
	enum { WORDS = sizeof words / sizeof words[0] };
	const struct time_place place = {.now = moment(NOW), .zone = "Europe/Berlin"};
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[160] = "", fault[TIME_FAULT_SIZE];
		struct time_read read;
		dw_usec duration;
		size_t used = 0;

		for (int j = 0; j < 8; j++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			if (i % 2 == 0)
				used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
							 words[(seed >> 33) % WORDS],
							 (seed >> 20) % 3 ? " " : "");
			else
				used += (size_t)snprintf(text + used, sizeof text - used, "%c",
							 (char)(seed >> 33));
		}
		if (time_of(text, &place, &read, fault) == DW_OK)
			assert_true(read.time <= INT64_C(253402300799999999));
		(void)duration_of(text, &duration); /* only a sanitizer has an opinion */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact_times_are_as_the_library_reads_them),
	    cmocka_unit_test(days_and_times_are_local),
	    cmocka_unit_test(words_count_from_now),
	    cmocka_unit_test(what_is_no_time_is_refused_in_words),
	    cmocka_unit_test(a_part_out_of_range_is_named),
	    cmocka_unit_test(numbers_of_another_unit_are_refused_with_the_right_one),
	    cmocka_unit_test(a_local_time_that_does_not_exist_or_comes_twice_is_refused),
	    cmocka_unit_test(a_next_time_in_a_change_of_the_clocks_is_refused),
	    cmocka_unit_test(the_zone_of_the_machine_is_that_of_tz),
	    cmocka_unit_test(what_is_echoed_can_be_read_again),
	    cmocka_unit_test(durations_are_read_as_people_write_them),
	    cmocka_unit_test(no_text_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
