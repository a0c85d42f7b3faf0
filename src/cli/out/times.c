#include "cli/out/times.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/out/durations.h"
#include "cli/out/text.h"
#include "cli/out/time_words.h"

#define DIGITS "0123456789"

enum { DECIMALS_MAX = 6, SECONDS_MIN = 9, SECONDS_MAX = 12, WEEK_DAYS = 7 };

#define LAST_SECOND INT64_C(253402300799) /* the last second of the year 9999 */

static int refuse(char *fault, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(char *fault, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(fault, TIME_FAULT_SIZE, format, arguments); /* cut if long */
	va_end(arguments);
	return status;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* seconds_of reads seconds since 1970, which must have at least `least` digits. */
static bool seconds_of(const char *text, size_t least, dw_usec *ret_time)
{
	size_t digits = strspn(text, DIGITS), decimals;
	dw_usec seconds = 0, parts = 0, scale = DW_SECONDS(1);

	if (digits < least || digits > SECONDS_MAX)
		return false;
	for (; digits > 0; digits--, text++)
		seconds = seconds * 10 + (*text - '0');
	if (*text == '.') {
		decimals = strspn(++text, DIGITS);
		if (decimals == 0 || decimals > DECIMALS_MAX)
			return false;
		for (; decimals > 0; decimals--, text++)
			parts += (*text - '0') * (scale /= 10);
	}
	if (*text || seconds > LAST_SECOND)
		return false;
	*ret_time = DW_SECONDS(seconds) + parts;
	return true;
}

/* is_compact returns true if the text is a day without separators, like 20261201, or a day and a
 * time, like 202612010900 or 20261201090000. ret_plain is then the time with separators. */
static bool is_compact(const char *text, char ret_plain[DW_TIME_SIZE])
{
	size_t digits = strspn(text, DIGITS);
	char full[DW_TIME_SIZE];
	dw_usec time;

	if (text[digits] || (digits != 8 && digits != 12 && digits != 14))
		return false;
	(void)snprintf(ret_plain, DW_TIME_SIZE, "%.4s-%.2s-%.2s %.2s:%.2s", text, text + 4,
		       text + 6, digits > 8 ? text + 8 : "09",
		       digits > 8 ? text + 10 : "00");             /* it fits */
	(void)snprintf(full, sizeof full, "%.16s:00Z", ret_plain); /* it fits */
	return strncmp(text, "19", 2) >= 0 && strncmp(text, "21", 2) <= 0 &&
	       dw_parse_time(full, &time) == DW_OK;
}

const char *time_resembles(dw_usec number, dw_usec *ret_right)
{
	/* Microseconds of the years 2001 to 2286 are 1e15 to 1e16. */
	static const struct {
		dw_usec from, times;
		const char *unit;
	} units[] = {{INT64_C(1000000000), 1000000, "seconds"},
		     {INT64_C(1000000000000), 1000, "milliseconds"},
		     {INT64_C(1000000000000000000), -1000, "nanoseconds"}};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (number == DW_NEVER || number < units[i].from || number / 10 >= units[i].from)
			continue;
		*ret_right = units[i].times > 0 ? number * units[i].times : number / 1000;
		return units[i].unit;
	}
	return NULL;
}

/* refuse_number refuses a text of digits only. If it looks like a time, the message shows the right
 * form. */
static int refuse_number(const char *text, char *fault)
{
	enum { KEPT = 10 }; /* seconds from 2001 to 2286 have ten digits */
	const size_t digits = strspn(text, DIGITS);
	const char *unit = digits == 13   ? "milliseconds"
			   : digits == 16 ? "microseconds"
			   : digits == 19 ? "nanoseconds"
					  : NULL;
	char plain[DW_TIME_SIZE], seconds[KEPT + 1];
	dw_usec time;

	if (is_compact(text, plain))
		return refuse(fault, DW_EINVAL, "is not a time: it looks like a day; write \"%s\"",
			      plain);
	if (!unit)
		return refuse(fault, DW_EINVAL,
			      "is not a time: seconds since 1970 have 9 to 12 digits, as "
			      "1780306200, or begin with '@', and are at most 253402300799");
	(void)snprintf(seconds, sizeof seconds, "%s", text); /* the rest is cut */
	(void)seconds_of(seconds, 1, &time);                 /* ten digits are seconds */
	dw_format_time(time, plain);
	return refuse(fault, DW_EINVAL,
		      "is not a time: it looks like %s; write seconds since 1970, as @%s, which is "
		      "%.19sZ",
		      unit, seconds, plain);
}

/* read_number reads seconds since 1970, with or without '@'. Returns DW_ENOENT if the text is no
 * number. */
static int read_number(const char *text, dw_usec *ret_time, char *fault)
{
	char plain[DW_TIME_SIZE];

	if (*text == '@' && seconds_of(text + 1, 1, ret_time))
		return DW_OK;
	if (*text == '@' && text[1] && !text[1 + strspn(text + 1, DIGITS)])
		return refuse_number(text + 1, fault);
	if (*text == '@')
		return refuse(
		    fault, DW_EINVAL,
		    "is not a time: write seconds since 1970 behind the '@', with at most "
		    "six decimals, as @1780306200.5");
	if (strlen(text) == SECONDS_MAX && is_compact(text, plain))
		return refuse(fault, DW_EINVAL,
			      "is not a time: it may be \"%s\" or seconds; write that, or @%s",
			      plain, text);
	if (seconds_of(text, SECONDS_MIN, ret_time))
		return DW_OK;
	return *text && !text[strspn(text, DIGITS)] ? refuse_number(text, fault) : DW_ENOENT;
}

/* ---- Days ---------------------------------------------------------------------------------- */

/* The words that are read, the zone in which they are read, and the buffer for a message. */
struct time_reading {
	const struct time_words *words;
	const struct local_zone *zone;
	dw_usec now; /* the current time as clocks in the zone show it */
	char *fault;
};

static int weekday_of(dw_usec wall)
{
	/* 1970-01-01 was a Thursday. Local times are after the year 0, so the sum is positive. */
	return (int)((wall / DW_DAYS(1) + 4 + WEEK_DAYS * INT64_C(1000000)) % WEEK_DAYS);
}

/* day_of returns the beginning of the day in which a local time lies. */
static dw_usec day_of(dw_usec wall)
{
	dw_usec rest = wall % DW_DAYS(1);

	return wall - (rest < 0 ? rest + DW_DAYS(1) : rest);
}

/* wall_of_day writes the local time at which a day begins. Returns DW_OK or DW_ELIMIT. */
static int wall_of_day(int year, int month, int day, dw_usec *ret_wall)
{
	char text[DW_TIME_SIZE];

	(void)snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, day); /* fits */
	return dw_parse_time(text, ret_wall);
}

static int refuse_day(const struct time_reading *reading, int year)
{
	static const char *const names[] = {"January",   "February", "March",    "April",
					    "May",       "June",     "July",     "August",
					    "September", "October",  "November", "December"};
	const struct time_words *words = reading->words;
	dw_usec wall;
	int last = 31;

	if (year < 1)
		return refuse(reading->fault, DW_ELIMIT, "does not exist: there is no year %d",
			      year);
	if (words->month < 1 || words->month > 12)
		return refuse(reading->fault, DW_ELIMIT, "does not exist: there is no month %d",
			      words->month);
	while (wall_of_day(year, words->month, last, &wall) != DW_OK)
		last--;
	return refuse(reading->fault, DW_ELIMIT, "does not exist: %s %04d has the days 1 to %d",
		      names[words->month - 1], year, last);
}

/* find_date finds the day that the text names by month and day. If the text has no year, it finds
 * the next such day. */
static int find_date(const struct time_reading *reading, dw_usec clock, dw_usec *ret_day)
{
	const struct time_words *words = reading->words;
	char today[DW_TIME_SIZE];
	int year = words->year;

	if (year >= 0)
		return wall_of_day(year, words->month, words->day, ret_day) == DW_OK
			   ? DW_OK
			   : refuse_day(reading, year);
	dw_format_time(reading->now, today);
	year = (int)strtol(today, NULL, 10);
	/* The next February 29 may be eight years away. */
	for (int i = 0; i <= 8; i++)
		if (wall_of_day(year + i, words->month, words->day, ret_day) == DW_OK &&
		    *ret_day + clock > reading->now)
			return DW_OK;
	return refuse_day(reading, year);
}

/* next_day returns the next day on which the time of day is in the future: today, tomorrow, or the
 * next day with the weekday of the text. */
static dw_usec next_day(const struct time_reading *reading, dw_usec clock)
{
	dw_usec day = day_of(reading->now), step = DW_DAYS(1);
	int weekday = reading->words->weekday;

	if (weekday >= 0) {
		step *= WEEK_DAYS;
		day += (weekday - weekday_of(day) + WEEK_DAYS) % WEEK_DAYS * DW_DAYS(1);
	}
	return day + clock > reading->now ? day : day + step;
}

/* check_weekday refuses a date if the text names another day of the week. */
static int check_weekday(const struct time_reading *reading, dw_usec day)
{
	static const char *const names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
					    "Thursday", "Friday", "Saturday"};
	int weekday = weekday_of(day);

	if (reading->words->weekday < 0 || reading->words->weekday == weekday)
		return DW_OK;
	return refuse(reading->fault, DW_ELIMIT, "does not exist: this day is a %s",
		      names[weekday]);
}

/* find_day finds the day that the words mean. `clock` is the time of day. */
static int find_day(const struct time_reading *reading, dw_usec clock, dw_usec *ret_day)
{
	const struct time_words *words = reading->words;
	int code;

	if (words->month >= 0) {
		code = find_date(reading, clock, ret_day);
		return code == DW_OK ? check_weekday(reading, *ret_day) : code;
	}
	if (words->days != TIME_NO_DAYS)
		*ret_day = day_of(reading->now) + words->days * DW_DAYS(1);
	else
		*ret_day = next_day(reading, clock);
	return DW_OK;
}

/* ---- Moments ------------------------------------------------------------------------------- */

static int refuse_moments(const struct time_reading *reading, int count, const dw_usec moments[2])
{
	char first[LOCAL_TEXT_SIZE], second[LOCAL_TEXT_SIZE];

	local_format(reading->zone, moments[0], first);
	if (count == 0)
		return refuse(reading->fault, DW_ELIMIT,
			      "does not exist in %s, where clocks go forward then; write %s, or "
			      "another time",
			      reading->zone->name, first);
	local_format(reading->zone, moments[1], second);
	return refuse(reading->fault, DW_EINVAL,
		      "comes twice in %s, where clocks go back then; write %s for the first, or %s",
		      reading->zone->name, first, second);
}

/* find_moment finds the moment at which clocks in the zone show the local time `wall`. */
static int find_moment(const struct time_reading *reading, dw_usec wall, dw_usec *ret_time)
{
	dw_usec moments[2];
	int count;

	if (reading->zone->kind != LOCAL_FIXED && wall < DW_DAYS(1))
		return refuse(reading->fault, DW_EINVAL,
			      "is before 1970: write its offset behind it, Z (UTC) or one like "
			      "+02:00");
	count = local_moments(reading->zone, wall, moments);
	if (count != 1)
		return refuse_moments(reading, count, moments);
	if (moments[0] > DW_SECONDS(LAST_SECOND + 1) - 1)
		return refuse(reading->fault, DW_ELIMIT,
			      "does not exist: it is after the year 9999");
	*ret_time = moments[0];
	return DW_OK;
}

/* check_zone refuses an offset with the name of a zone that has another offset at that time. */
static int check_zone(const struct time_reading *reading, const struct local_zone *named,
		      dw_usec time)
{
	char right[LOCAL_TEXT_SIZE];

	if (local_offset(named, time) == reading->words->offset_us)
		return DW_OK;
	local_words(named, time, right);
	return refuse(reading->fault, DW_EINVAL,
		      "has another offset than its zone: this moment is %s", right);
}

int time_zone(const struct time_place *place, struct local_zone *ret_zone,
	      char ret_fault[TIME_FAULT_SIZE])
{
	char why[LOCAL_FAULT_SIZE];
	int status = place->zone ? local_zone_find(place->zone, ret_zone, why)
				 : local_zone_of_machine(ret_zone, why);

	return status == DW_OK ? DW_OK : refuse(ret_fault, status, "%s", why);
}

/* find_zone finds the zone in which a text is read. It is the zone that the text names, else the
 * offset of the text, else the zone of the place. */
static int find_zone(const struct time_words *words, const struct time_place *place,
		     struct local_zone *ret_zone, char *fault)
{
	const struct time_place named = {.zone = *words->zone ? words->zone : place->zone};
	char why[TIME_FAULT_SIZE];
	int status = DW_OK;

	if (words->has_offset && !*words->zone)
		*ret_zone = local_zone_fixed(words->offset_us);
	else
		status = time_zone(&named, ret_zone, why);
	return status == DW_OK ? DW_OK
			       : refuse(fault, status, "is in an unknown zone: %.400s", why);
}

static int find_time(const struct time_words *words, const struct time_place *place,
		     struct time_read *ret_read, char *fault)
{
	const dw_usec clock = DW_HOURS(words->hour) + DW_MINUTES(words->minute) +
			      DW_SECONDS(words->second) + words->fraction_us;
	const struct local_zone fixed = local_zone_fixed(words->offset_us);
	struct time_reading reading = {.words = words, .fault = fault, .zone = &ret_read->zone};
	dw_usec day;
	int code = find_zone(words, place, &ret_read->zone, fault);

	if (code != DW_OK)
		return code;
	ret_read->has_zone = true;
	if (words->has_offset)
		reading.zone = &fixed;
	reading.now = place->now + local_offset(reading.zone, place->now);
	code = find_day(&reading, clock, &day);
	if (code == DW_OK)
		code = find_moment(&reading, day + clock, &ret_read->time);
	if (code == DW_OK && words->has_offset && *words->zone)
		code = check_zone(&reading, &ret_read->zone, ret_read->time);
	return code;
}

/* ---- Texts --------------------------------------------------------------------------------- */

static int refuse_words(const char *text, int status, const char *hint, char *fault)
{
	if (status == DW_ELIMIT)
		return refuse(fault, status, "does not exist: %s", hint);
	if (is_duration(text))
		return refuse(fault, status,
			      "is a duration and not a time: write \"in %.64s\", or a time as "
			      "\"2026-06-01 09:30\"",
			      text);
	if (*hint)
		return refuse(fault, status, "is not a time: %s", hint);
	return refuse(fault, status,
		      "is not a time: write one as \"2026-06-01 09:30\", 09:30, "
		      "\"tomorrow 9am\", 2026-06-01T09:30:00+02:00, or seconds since "
		      "1970, as @1780306200");
}

/* read_delay reads "now", or "in" with a duration. Returns DW_ENOENT if the text is neither. */
static int read_delay(const char *text, dw_usec now, dw_usec *ret_time, char *fault)
{
	dw_usec delay = 0;
	int status = DW_OK;

	if (strcasecmp(text, "now") != 0) {
		if (strncasecmp(text, "in ", 3) != 0)
			return DW_ENOENT;
		status = duration_of(text + 3 + strspn(text + 3, " "), &delay);
	}
	if (status != DW_OK)
		return refuse(fault, status, "is not a time: what follows \"in\" %s",
			      duration_fault(text + 3 + strspn(text + 3, " "), status));
	*ret_time = delay > DW_NEVER - now ? DW_NEVER : now + delay;
	return DW_OK;
}

int time_of(const char *text, const struct time_place *place, struct time_read *ret_read,
	    char ret_fault[TIME_FAULT_SIZE])
{
	char hint[TIME_HINT_SIZE];
	struct time_words words;
	int status;

	*ret_read = (struct time_read){.is_understood = false};
	if (dw_parse_time(text, &ret_read->time) == DW_OK)
		return DW_OK;
	status = read_number(text, &ret_read->time, ret_fault);
	if (status != DW_ENOENT)
		return status;
	ret_read->is_understood = true;
	status = read_delay(text, place->now, &ret_read->time, ret_fault);
	if (status != DW_ENOENT)
		return status;
	status = time_words_read(text, &words, hint);
	if (status != DW_OK)
		return refuse_words(text, status, hint, ret_fault);
	return find_time(&words, place, ret_read, ret_fault);
}

void time_echo(const struct time_read *read, const struct time_place *place,
	       char ret_text[TIME_ECHO_SIZE])
{
	char when[LOCAL_TEXT_SIZE], distance[TEXT_SPAN_SIZE], fault[TIME_FAULT_SIZE];
	struct local_zone zone = read->zone;

	if (!read->has_zone && time_zone(place, &zone, fault) != DW_OK)
		zone = local_zone_fixed(0);
	local_words(&zone, read->time, when);
	text_distance(read->time, place->now, distance);
	(void)snprintf(ret_text, TIME_ECHO_SIZE, "%s%s%s", when, *distance ? ", " : "",
		       distance); /* it fits */
}
