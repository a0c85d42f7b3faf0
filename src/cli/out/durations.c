#include "cli/out/durations.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { DECIMALS_MAX = 6, WORD_MIN = 3, TEXT_MAX = 128 };

#define WEEK DW_DAYS(7)

/* The spellings of each unit. Capital letters are allowed in words of three letters or more. A
 * single capital letter is not allowed, because M could mean minute or month. */
static const struct spelling {
	const char *word;
	dw_usec size;
} spellings[] = {
    {"w", WEEK},
    {"week", WEEK},
    {"weeks", WEEK},
    {"d", DW_DAYS(1)},
    {"day", DW_DAYS(1)},
    {"days", DW_DAYS(1)},
    {"h", DW_HOURS(1)},
    {"hr", DW_HOURS(1)},
    {"hrs", DW_HOURS(1)},
    {"hour", DW_HOURS(1)},
    {"hours", DW_HOURS(1)},
    {"m", DW_MINUTES(1)},
    {"min", DW_MINUTES(1)},
    {"mins", DW_MINUTES(1)},
    {"minute", DW_MINUTES(1)},
    {"minutes", DW_MINUTES(1)},
    {"s", DW_SECONDS(1)},
    {"sec", DW_SECONDS(1)},
    {"secs", DW_SECONDS(1)},
    {"second", DW_SECONDS(1)},
    {"seconds", DW_SECONDS(1)},
    {"ms", DW_MILLISECONDS(1)},
    {"us", 1},
};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

/* take_whole reads digits; there must be at least one. *overflows is set if the number is too
 * large. */
static bool take_whole(const char **text, dw_usec *ret_number, bool *overflows)
{
	dw_usec number = 0;
	size_t digits = strspn(*text, DIGITS);

	if (digits == 0)
		return false;
	for (; digits > 0; digits--, (*text)++)
		*overflows |= __builtin_mul_overflow(number, 10, &number) ||
			      __builtin_add_overflow(number, **text - '0', &number);
	*ret_number = number;
	return true;
}

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

/* take_unit reads a unit, and blanks before it. Returns the length of the unit, or 0 if the text
 * continues with no unit. */
static dw_usec take_unit(const char **text)
{
	const char *word = *text + strspn(*text, " ");
	size_t length = strspn(word, LETTERS);

	for (size_t i = 0; i < SPELLINGS; i++)
		if (strlen(spellings[i].word) == length &&
		    (length < WORD_MIN ? strncmp : strncasecmp)(word, spellings[i].word, length) ==
			0) {
			*text = word + length;
			return spellings[i].size;
		}
	return 0;
}

/* take_part reads a number, its unit and the blanks after it, and adds the duration to *sum. The
 * unit must be smaller than *size, and becomes the new *size. */
static bool take_part(const char **text, dw_usec *size, dw_usec *sum, bool *overflows)
{
	dw_usec whole, parts, of, unit, part;

	if (!take_whole(text, &whole, overflows) || !take_fraction(text, &parts, &of))
		return false;
	unit = take_unit(text);
	if (unit == 0 || unit >= *size)
		return false;
	*size = unit;
	*overflows |= __builtin_mul_overflow(whole, unit, &part) ||
		      __builtin_add_overflow(part, (parts * unit + of - 1) / of, &part) ||
		      __builtin_add_overflow(*sum, part, sum);
	*text += strspn(*text, " ");
	return true;
}

int duration_of(const char *text, dw_usec *ret_duration)
{
	dw_usec sum = 0, size = INT64_MAX;
	bool overflows = false;

	text += strspn(text, " ");
	if (text[0] == '0' && strspn(text + 1, " ") == strlen(text + 1)) {
		*ret_duration = 0;
		return DW_OK;
	}
	if (!*text || strlen(text) >= TEXT_MAX)
		return DW_EINVAL;
	while (*text)
		if (!take_part(&text, &size, &sum, &overflows))
			return DW_EINVAL;
	if (overflows)
		return DW_ELIMIT;
	*ret_duration = sum;
	return DW_OK;
}

bool is_duration(const char *text)
{
	dw_usec duration;

	return duration_of(text, &duration) != DW_EINVAL;
}

/* unit_of_calendar returns true if the text is a number with a unit that has no fixed length. */
static bool unit_of_calendar(const char *text)
{
	static const char *const words[] = {"mo", "month", "months", "y", "yr", "year", "years"};
	const char *word = text + strspn(text, DIGITS);

	word += strspn(word, " ");
	for (size_t i = 0; word > text && i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(word, words[i]) == 0)
			return true;
	return false;
}

const char *duration_fault(const char *text, int status)
{
	size_t digits = strspn(text, DIGITS);

	if (status == DW_ELIMIT)
		return "is too long: write at most 106751991d";
	if (digits > 0 && text[digits] == '\0')
		return "is not a duration: it has no unit; write one of w d h m s ms us behind it, "
		       "as 30s or 5min";
	if (text[0] == '-' && is_duration(text + 1))
		return "is not a duration: it is negative; write one without the '-', or 0";
	if (digits > 0 && text[digits] == ',')
		return "is not a duration: write its decimals behind a point, as 1.5h";
	if (unit_of_calendar(text))
		return "is not a duration: months and years differ in length; write days, as 30d";
	return "is not a duration: write numbers with w d h m s ms us, the largest first, as 30m, "
	       "1h30m or 250us; 5min, 2 hours and 1.5h are understood, too";
}
