/* Converts durations and times from text to dw_usec and back.
 *
 * The parser is strict, so that a typing error never becomes another time. It accepts no white
 * space and no sign, and it has no default for missing parts. It calls no date function of libc,
 * because those depend on time zones and locales. Fractions with more than six decimals are rounded
 * up, because a timer is never early. */
#include "durawheel/durawheel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_A_DAY INT64_C(86400)
/* Days from 0000-03-01, the day 0 of the calculations below, to 1970-01-01. */
#define DAYS_TO_EPOCH INT64_C(719468)
#define DAYS_AN_ERA INT64_C(146097) /* 400 years */

struct unit {
	const char *name;
	dw_usec size;
};

/* Sorted from the largest to the smallest, as they must be written. */
static const struct unit units[] = {
    {"d", DW_DAYS(1)},    {"h", DW_HOURS(1)},         {"m", DW_MINUTES(1)},
    {"s", DW_SECONDS(1)}, {"ms", DW_MILLISECONDS(1)}, {"us", 1},
};
enum { UNITS = sizeof units / sizeof units[0] };

struct civil {
	int64_t year;
	int month, day, hour, minute, second;
};

/* The offset of a time: +hh:mm, or -hh:mm for west. */
struct offset {
	bool west;
	int hours, minutes;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* take_number reads all digits; there must be at least one. *overflows is set if the number is too
 * large. */
static bool take_number(const char **text, dw_usec *ret_number, bool *overflows)
{
	dw_usec number = 0;
	const char *at = *text;

	for (; is_digit(*at); at++)
		*overflows |= __builtin_mul_overflow(number, 10, &number) ||
			      __builtin_add_overflow(number, *at - '0', &number);
	if (at == *text)
		return false;
	*text = at;
	*ret_number = number;
	return true;
}

/* take_unit reads one of the units from *next on, and sets *next to the unit after it. */
static bool take_unit(const char **text, size_t *next, dw_usec *ret_size)
{
	size_t length = strspn(*text, "dhmsu");

	for (size_t i = *next; i < UNITS; i++) {
		if (strlen(units[i].name) != length || memcmp(*text, units[i].name, length) != 0)
			continue;
		*text += length;
		*next = i + 1;
		*ret_size = units[i].size;
		return true;
	}
	return false;
}

int dw_parse_duration(const char *text, dw_usec *ret_duration)
{
	dw_usec sum = 0;
	size_t next = 0;
	bool overflows = false;

	if (!text || !ret_duration || !*text)
		return DW_EINVAL;
	while (*text) {
		dw_usec number, size, part;

		if (!take_number(&text, &number, &overflows) || !take_unit(&text, &next, &size))
			return DW_EINVAL;
		overflows |= __builtin_mul_overflow(number, size, &part) ||
			     __builtin_add_overflow(sum, part, &sum);
	}
	if (overflows)
		return DW_ELIMIT;
	*ret_duration = sum;
	return DW_OK;
}

/* take_digits reads exactly count digits. */
static bool take_digits(const char **text, int count, int *ret_number)
{
	int number = 0;

	for (int i = 0; i < count; i++) {
		if (!is_digit((*text)[i]))
			return false;
		number = number * 10 + (*text)[i] - '0';
	}
	*text += count;
	*ret_number = number;
	return true;
}

static bool take_any(const char **text, const char *set)
{
	if (!**text || !strchr(set, **text))
		return false;
	(*text)++;
	return true;
}

/* take_fraction reads a point and one to nine digits, or nothing. */
static bool take_fraction(const char **text, dw_usec *ret_fraction)
{
	int64_t nanoseconds = 0;
	int digits = 0;

	*ret_fraction = 0;
	if (!take_any(text, "."))
		return true;
	for (; is_digit(**text); (*text)++, digits++) {
		if (digits == 9)
			return false;
		nanoseconds = nanoseconds * 10 + (**text - '0');
	}
	if (digits == 0)
		return false;
	for (; digits < 9; digits++)
		nanoseconds *= 10;
	*ret_fraction = (nanoseconds + 999) / 1000;
	return true;
}

/* take_offset reads Z or +hh:mm or -hh:mm. */
static bool take_offset(const char **text, struct offset *ret_offset)
{
	*ret_offset = (struct offset){.west = **text == '-'};
	return take_any(text, "Zz") ||
	       (take_any(text, "+-") && take_digits(text, 2, &ret_offset->hours) &&
		take_any(text, ":") && take_digits(text, 2, &ret_offset->minutes));
}

static bool take_civil(const char **text, struct civil *ret_civil)
{
	struct civil civil;
	int year;

	if (!take_digits(text, 4, &year) || !take_any(text, "-") ||
	    !take_digits(text, 2, &civil.month) || !take_any(text, "-") ||
	    !take_digits(text, 2, &civil.day) || !take_any(text, "Tt ") ||
	    !take_digits(text, 2, &civil.hour) || !take_any(text, ":") ||
	    !take_digits(text, 2, &civil.minute) || !take_any(text, ":") ||
	    !take_digits(text, 2, &civil.second))
		return false;
	civil.year = year;
	*ret_civil = civil;
	return true;
}

/* exists: are the day, the time and the offset valid? A leap second has no number of its own in
 * Unix time, so second 60 is refused. */
static bool exists(const struct civil *civil, const struct offset *offset)
{
	static const int days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = civil->year % 4 == 0 && (civil->year % 100 != 0 || civil->year % 400 == 0);
	int last;

	if (civil->year < 1 || civil->month < 1 || civil->month > 12)
		return false;
	last = days[civil->month] + (leap && civil->month == 2);
	return civil->day >= 1 && civil->day <= last && civil->hour <= 23 && civil->minute <= 59 &&
	       civil->second <= 59 && offset->hours <= 23 && offset->minutes <= 59;
}

/* days_of: the number of days from 1970-01-01, for years from 0 on. Years begin in March here, so
 * that the leap day is the last day of a year (Hinnant, chrono-compatible low-level date
 * algorithms, 2013). */
static int64_t days_of(const struct civil *civil)
{
	int64_t year = civil->month > 2 ? civil->year : civil->year - 1;
	int64_t month = civil->month > 2 ? civil->month - 3 : civil->month + 9;
	int64_t day_of_year = (153 * month + 2) / 5 + civil->day - 1;

	return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_TO_EPOCH;
}

int dw_parse_time(const char *text, dw_usec *ret_time)
{
	struct civil civil;
	dw_usec fraction;
	struct offset offset;
	int64_t seconds, minutes;

	if (!text || !ret_time)
		return DW_EINVAL;
	if (!take_civil(&text, &civil) || !take_fraction(&text, &fraction) ||
	    !take_offset(&text, &offset) || *text)
		return DW_EINVAL;
	if (!exists(&civil, &offset))
		return DW_ELIMIT;
	minutes = offset.hours * 60 + offset.minutes;
	seconds = days_of(&civil) * SECONDS_A_DAY + civil.hour * 3600 + civil.minute * 60 +
		  civil.second - (offset.west ? -minutes : minutes) * 60;
	*ret_time = seconds * 1000000 + fraction;
	return DW_OK;
}

/* split returns the floor of number / size. *ret_rest is the rest, which is never negative. */
static int64_t split(int64_t number, int64_t size, int64_t *ret_rest)
{
	int64_t quotient = number / size;

	*ret_rest = number % size;
	if (*ret_rest >= 0)
		return quotient;
	*ret_rest += size;
	return quotient - 1;
}

/* civil_of_days is the inverse of days_of, for any day. */
static struct civil civil_of_days(int64_t days)
{
	int64_t day_of_era;
	int64_t era = split(days + DAYS_TO_EPOCH, DAYS_AN_ERA, &day_of_era);
	int64_t year =
	    (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * day_of_year + 2) / 153;

	return (struct civil){
	    .year = era * 400 + year + (month >= 10),
	    .month = (int)(month < 10 ? month + 3 : month - 9),
	    .day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
	};
}

void dw_format_time(dw_usec time, char *text)
{
	int64_t second_of_day, microsecond;
	int64_t days;
	struct civil civil;
	bool plain;

	if (time == DW_NEVER) {
		(void)snprintf(text, DW_TIME_SIZE, "never"); /* the text fits */
		return;
	}
	days = split(split(time, 1000000, &microsecond), SECONDS_A_DAY, &second_of_day);
	civil = civil_of_days(days);
	plain = civil.year >= 0 && civil.year <= 9999;
	/* Years outside of RFC 3339 use the signed form of ISO 8601, which takes at most 34
	 * bytes. */
	(void)snprintf(text, DW_TIME_SIZE,
		       plain ? "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ"
			     : "%+05lld-%02d-%02dT%02d:%02d:%02d.%06dZ",
		       (long long)civil.year, civil.month, civil.day, (int)(second_of_day / 3600),
		       (int)(second_of_day / 60 % 60), (int)(second_of_day % 60), (int)microsecond);
}
