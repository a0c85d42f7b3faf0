/* Converts durations and times from text to dw_usec and back.
 *
 * The parser is strict, so that a typing error never becomes another time. It accepts no white
 * space and no sign, and it has no default for missing parts. Fractions with more than six decimals
 * are rounded up, because a timer is never early. */
#include "durawheel/durawheel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/civil.h"

#define TIME_LAST INT64_C(253402300799999999) /* the last microsecond of the year 9999 */

struct unit {
	const char *name;
	dw_usec size;
};

/* The units, sorted from the largest to the smallest, as they must be written. */
static const struct unit units[] = {
    {"d", DW_DAYS(1)},    {"h", DW_HOURS(1)},         {"m", DW_MINUTES(1)},
    {"s", DW_SECONDS(1)}, {"ms", DW_MILLISECONDS(1)}, {"us", 1},
};
enum { UNITS = sizeof units / sizeof units[0] };

struct civil {
	struct civil_day date;
	int hour, minute, second;
};

/* The offset of a time from UTC: +hh:mm, or -hh:mm for west. */
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
	    !take_digits(text, 2, &civil.date.month) || !take_any(text, "-") ||
	    !take_digits(text, 2, &civil.date.day) || !take_any(text, "Tt ") ||
	    !take_digits(text, 2, &civil.hour) || !take_any(text, ":") ||
	    !take_digits(text, 2, &civil.minute) || !take_any(text, ":") ||
	    !take_digits(text, 2, &civil.second))
		return false;
	civil.date.year = year;
	*ret_civil = civil;
	return true;
}

/* exists returns true if the day, the time and the offset are valid. Unix time has no number for a
 * leap second, so second 60 is refused. */
static bool exists(const struct civil *civil, const struct offset *offset)
{
	const struct civil_day *date = &civil->date;

	return date->year >= 1 && date->month >= 1 && date->month <= 12 && date->day >= 1 &&
	       date->day <= civil_days_in(date->year, date->month) && civil->hour <= 23 &&
	       civil->minute <= 59 && civil->second <= 59 && offset->hours <= 23 &&
	       offset->minutes <= 59;
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
	seconds = civil_number(civil.date) * CIVIL_SECONDS_A_DAY + civil.hour * 3600 +
		  civil.minute * 60 + civil.second - (offset.west ? -minutes : minutes) * 60;
	if (seconds * 1000000 + fraction > TIME_LAST)
		return DW_ELIMIT;
	*ret_time = seconds * 1000000 + fraction;
	return DW_OK;
}

void dw_format_time(dw_usec time, char *text)
{
	int64_t second_of_day, microsecond;
	int64_t days;
	struct civil_day date;
	bool plain;

	if (time == DW_NEVER) {
		(void)snprintf(text, DW_TIME_SIZE, "never"); /* the text fits */
		return;
	}
	days = civil_split(civil_split(time, 1000000, &microsecond), CIVIL_SECONDS_A_DAY,
			   &second_of_day);
	date = civil_of(days);
	plain = date.year >= 0 && date.year <= 9999;
	/* Years outside of RFC 3339 use the signed form of ISO 8601, which takes at most 34
	 * bytes. */
	(void)snprintf(text, DW_TIME_SIZE,
		       plain ? "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ"
			     : "%+05lld-%02d-%02dT%02d:%02d:%02d.%06dZ",
		       (long long)date.year, date.month, date.day, (int)(second_of_day / 3600),
		       (int)(second_of_day / 60 % 60), (int)(second_of_day % 60), (int)microsecond);
}
