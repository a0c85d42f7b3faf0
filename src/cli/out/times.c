#include "cli/out/times.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"

enum { DECIMALS_MAX = 6, STRICT_SIZE = 128, SECONDS_MIN = 9, SECONDS_MAX = 12 };

#define LAST_SECOND INT64_C(253402300799) /* the last second of the year 9999 */

/* The spellings of each unit, and the unit that dw_parse_duration() reads. */
static const struct spelling {
	const char *word;
	const char *unit;
	dw_usec size;
} spellings[] = {
    {"d", "d", DW_DAYS(1)},
    {"day", "d", DW_DAYS(1)},
    {"days", "d", DW_DAYS(1)},
    {"h", "h", DW_HOURS(1)},
    {"hr", "h", DW_HOURS(1)},
    {"hrs", "h", DW_HOURS(1)},
    {"hour", "h", DW_HOURS(1)},
    {"hours", "h", DW_HOURS(1)},
    {"m", "m", DW_MINUTES(1)},
    {"min", "m", DW_MINUTES(1)},
    {"mins", "m", DW_MINUTES(1)},
    {"minute", "m", DW_MINUTES(1)},
    {"s", "s", DW_SECONDS(1)},
    {"minutes", "m", DW_MINUTES(1)},
    {"sec", "s", DW_SECONDS(1)},
    {"secs", "s", DW_SECONDS(1)},
    {"second", "s", DW_SECONDS(1)},
    {"seconds", "s", DW_SECONDS(1)},
    {"us", "us", 1},
    {"ms", "ms", DW_MILLISECONDS(1)},
};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

/* take_fraction reads an optional point with one to six digits. The fraction is *ret_parts divided
 * by *ret_of. */
static bool take_fraction(const char **text, dw_usec *ret_parts, dw_usec *ret_of)
{
	dw_usec parts = 0;
	dw_usec of = 1;
	size_t digits;

	if (**text == '.') {
		digits = strspn(++*text, DIGITS);
		if (digits == 0 || digits > DECIMALS_MAX)
			return false;
		for (; digits > 0; digits--, (*text)++, of *= 10)
			parts = parts * 10 + (**text - '0');
	}
	*ret_parts = parts;
	*ret_of = of;
	return true;
}

/* take_spelling reads a unit. Returns NULL if text does not begin with one. */
static const struct spelling *take_spelling(const char **text)
{
	size_t length = strspn(*text, "abcdefghijklmnopqrstuvwxyz");

	for (size_t i = 0; i < SPELLINGS; i++)
		if (strlen(spellings[i].word) == length &&
		    memcmp(*text, spellings[i].word, length) == 0) {
			*text += length;
			return &spellings[i];
		}
	return NULL;
}

int duration_of(const char *text, dw_usec *ret_duration)
{
	char strict[STRICT_SIZE] = "";
	size_t used = 0;
	dw_usec fractions = 0;
	dw_usec whole, parts, of;
	int status;

	if (strcmp(text, "0") == 0) {
		*ret_duration = 0;
		return DW_OK;
	}
	while (*text) {
		const char *number = text;
		size_t digits = strspn(text, DIGITS);
		const struct spelling *spelling;

		text += digits;
		if (digits >= sizeof strict - used || !take_fraction(&text, &parts, &of))
			return DW_EINVAL;
		spelling = take_spelling(&text);
		if (!spelling)
			return DW_EINVAL;
		used += (size_t)snprintf(strict + used, sizeof strict - used, "%.*s%s", (int)digits,
					 number, spelling->unit);
		if (used >= sizeof strict)
			return DW_EINVAL;
		fractions += (parts * spelling->size + of - 1) / of;
	}
	status = dw_parse_duration(strict, &whole);
	if (status != DW_OK)
		return status;
	return __builtin_add_overflow(whole, fractions, ret_duration) ? DW_ELIMIT : DW_OK;
}

const char *duration_fault(int status)
{
	return status == DW_ELIMIT
		   ? "is too long: write at most 106751991d"
		   : "is not a duration: write numbers with d h m s ms us, the largest first, as "
		     "30m, 1h30m or 250us; 5min, 2hours and 1.5h are understood, too";
}

/* seconds_of reads a number of seconds since 1970. */
static bool seconds_of(const char *text, dw_usec *ret_time)
{
	size_t digits = strspn(text, DIGITS);
	dw_usec seconds = 0;
	dw_usec parts, of;

	if (digits < SECONDS_MIN || digits > SECONDS_MAX)
		return false;
	for (; digits > 0; digits--, text++)
		seconds = seconds * 10 + (*text - '0');
	if (seconds > LAST_SECOND || !take_fraction(&text, &parts, &of) || *text)
		return false;
	*ret_time = DW_SECONDS(seconds) + DW_SECONDS(parts) / of;
	return true;
}

int time_of(const char *text, dw_usec *ret_time)
{
	return seconds_of(text, ret_time) ? DW_OK : dw_parse_time(text, ret_time);
}

/* lacks_offset returns true if the text would be a valid time with an offset behind it. */
static bool lacks_offset(const char *text)
{
	char with_offset[DW_TIME_SIZE];
	dw_usec time;
	int length = snprintf(with_offset, sizeof with_offset, "%sZ", text);

	return length > 0 && (size_t)length < sizeof with_offset &&
	       dw_parse_time(with_offset, &time) != DW_EINVAL;
}

bool time_is_duration(const char *text)
{
	dw_usec duration;

	return duration_of(text, &duration) != DW_EINVAL;
}

const char *time_fault(const char *text, int status)
{
	if (status == DW_ELIMIT)
		return "does not exist: its month, day, hour, minute, second or offset is out of "
		       "range";
	if (*text && text[strspn(text, DIGITS)] == '\0')
		return "is not a time: seconds since 1970 have 9 to 12 digits, as 1780306200, and "
		       "at most 253402300799; milliseconds and microseconds are not understood";
	if (time_is_duration(text))
		return "is a duration and not a time: write a time as 2026-06-01T09:30:00Z, or "
		       "seconds since 1970, as 1780306200";
	if (lacks_offset(text))
		return "has no offset: write Z (UTC) or one like +02:00 behind it";
	return "is not a time: write RFC 3339 with its offset, as 2026-06-01T09:30:00Z or "
	       "2026-06-01T09:30:00+02:00, or seconds since 1970, as 1780306200";
}
