#include "cli/out/time_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum { WORDS_MAX = 10, NAME_MIN = 3, DECIMALS_MAX = 9, NUMBER_DIGITS_MAX = 4 };

/* The state while a text is read: its words, and the index of the next word. */
struct words {
	const char *source;
	char text[TIME_WORDS_SIZE];
	const char *word[WORDS_MAX];
	size_t count, at;
	struct time_words *parts;
	char *hint;
	int status; /* DW_ELIMIT: each part is well formed, but one is out of range */
};

static bool hint(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* hint writes what is wrong with the text, and returns false. */
static bool hint(struct words *words, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(words->hint, TIME_HINT_SIZE, format, arguments); /* cut if long */
	va_end(arguments);
	return false;
}

/* twice reports that the text has two parts of one kind. It returns false. */
static bool twice(struct words *words, const char *what)
{
	return hint(words, "it has two %s", what);
}

/* ---- Dividing ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* has_form returns true if text begins with the form, in which 9 stands for a digit. */
static bool has_form(const char *text, const char *form)
{
	for (; *form; text++, form++)
		if (*form == '9' ? !is_digit(*text) : *form != *text)
			return false;
	return true;
}

/* cut_day replaces the 'T' between a day and a time by a blank. */
static void cut_day(char *word)
{
	enum { DAY_SIZE = sizeof "2026-12-01" - 1 };

	if (has_form(word, "9999-99-99") && (word[DAY_SIZE] | 0x20) == 't')
		word[DAY_SIZE] = ' ';
}

/* divide copies the text and splits it into words. */
static bool divide(struct words *words, const char *text)
{
	static const char between[] = " ,";
	size_t size = strlen(text);
	char *at = words->text;

	if (size >= sizeof words->text)
		return hint(words, "it is too long");
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~')
			return hint(words, "it has a character that no time has");
	memcpy(words->text, text, size + 1);
	for (at += strspn(at, between); *at; at += strspn(at, between)) {
		if (words->count == WORDS_MAX)
			return hint(words, "it has too many words");
		words->word[words->count++] = at;
		cut_day(at);
		at += strcspn(at, between);
		if (*at)
			*at++ = '\0';
	}
	return true;
}

/* take_number reads 1 to `most` digits. */
static bool take_number(const char **text, size_t most, int *ret_number)
{
	size_t digits = strspn(*text, DIGITS);
	int number = 0;

	if (digits == 0 || digits > most)
		return false;
	for (; digits > 0; digits--, (*text)++)
		number = number * 10 + **text - '0';
	*ret_number = number;
	return true;
}

/* name_at returns the index of a name or of its first three letters or more, or -1. */
static int name_at(const char *word, const char *const *names, int count)
{
	size_t size = strlen(word);

	for (int i = 0; size >= NAME_MIN && i < count; i++)
		if (size <= strlen(names[i]) && strncasecmp(word, names[i], size) == 0)
			return i;
	return -1;
}

/* ---- Days ---------------------------------------------------------------------------------- */

static bool set_day(struct words *words, int year, int month, int day)
{
	struct time_words *parts = words->parts;

	if (parts->month >= 0 || parts->days != TIME_NO_DAYS)
		return twice(words, "days");
	parts->year = year;
	parts->month = month;
	parts->day = day;
	return true;
}

static bool take_month(struct words *words, const char *word, bool *ret_taken)
{
	static const char *const names[] = {"january",   "february", "march",    "april",
					    "may",       "june",     "july",     "august",
					    "september", "october",  "november", "december"};
	int month = strcasecmp(word, "sept") == 0 ? 8 : name_at(word, names, 12);

	*ret_taken = month >= 0;
	return month < 0 || set_day(words, words->parts->year, month + 1, words->parts->day);
}

static bool take_weekday(struct words *words, const char *word, bool *ret_taken)
{
	static const char *const names[] = {"sunday",   "monday", "tuesday", "wednesday",
					    "thursday", "friday", "saturday"};
	int weekday = name_at(word, names, 7);

	*ret_taken = weekday >= 0;
	if (weekday >= 0 && words->parts->weekday >= 0)
		return twice(words, "days of the week");
	if (weekday >= 0)
		words->parts->weekday = weekday;
	return true;
}

static bool take_relative_day(struct words *words, const char *word, bool *ret_taken)
{
	static const char *const names[] = {"yesterday", "today", "tomorrow"};

	*ret_taken = true;
	for (int i = 0; i < 3; i++) {
		if (strcasecmp(word, names[i]) != 0)
			continue;
		if (words->parts->month >= 0 || words->parts->days != TIME_NO_DAYS)
			return twice(words, "days");
		words->parts->days = i - 1;
		return true;
	}
	*ret_taken = false;
	return true;
}

/* take_number_of_day reads the day of a month, like 1 or 1st, or a year. */
static bool take_number_of_day(struct words *words, const char *word, bool *ret_taken)
{
	static const char *const endings[] = {"", "st", "nd", "rd", "th"};
	size_t digits = strspn(word, DIGITS);
	int number = 0;

	*ret_taken = false;
	if (digits == 0 || digits > NUMBER_DIGITS_MAX || digits == 3)
		return true;
	(void)take_number(&word, NUMBER_DIGITS_MAX, &number); /* the digits were checked above */
	for (size_t i = 0; i < 5; i++) {
		if (strcasecmp(word, endings[i]) != 0 || (digits == 4 && i > 0))
			continue;
		*ret_taken = true;
		if ((digits == 4 ? words->parts->year : words->parts->day) >= 0)
			return twice(words, digits == 4 ? "years" : "days of a month");
		*(digits == 4 ? &words->parts->year : &words->parts->day) = number;
	}
	return true;
}

/* take_iso_day reads a day like 2026-12-01. It refuses a day like 01/12/2026, because either number
 * may be the month. */
static bool take_iso_day(struct words *words, const char *word, bool *ret_taken)
{
	size_t size = strspn(word, DIGITS "./-");

	*ret_taken = has_form(word, "9999-99-99") && !word[sizeof "2026-12-01" - 1];
	if (*ret_taken)
		return set_day(words,
			       (int)(word[0] - '0') * 1000 + (word[1] - '0') * 100 +
				   (word[2] - '0') * 10 + (word[3] - '0'),
			       (word[5] - '0') * 10 + (word[6] - '0'),
			       (word[8] - '0') * 10 + (word[9] - '0'));
	if (!word[size] && is_digit(*word) && strpbrk(word, "./-"))
		return hint(words, "write its day as 2026-12-01: year, month, day");
	return true;
}

/* ---- Times --------------------------------------------------------------------------------- */

/* take_fraction reads a point and one to nine digits, or nothing. It rounds up to microseconds. */
static bool take_fraction(const char **text, dw_usec *ret_fraction)
{
	dw_usec nanoseconds = 0, scale = 1000000000;
	size_t digits;

	*ret_fraction = 0;
	if (**text != '.')
		return true;
	digits = strspn(++*text, DIGITS);
	if (digits == 0 || digits > DECIMALS_MAX)
		return false;
	for (; digits > 0; digits--, (*text)++) {
		scale /= 10;
		nanoseconds += (**text - '0') * scale;
	}
	*ret_fraction = (nanoseconds + 999) / 1000;
	return true;
}

/* half_of returns 0 for am, 12 for pm, and -1 for any other word. */
static int half_of(const char *word)
{
	return strcasecmp(word, "am") == 0 || strcasecmp(word, "a.m.") == 0   ? 0
	       : strcasecmp(word, "pm") == 0 || strcasecmp(word, "p.m.") == 0 ? 12
									      : -1;
}

/* set_half changes the hour of a time with am or pm. */
static bool set_half(struct words *words, int half)
{
	struct time_words *parts = words->parts;

	if (parts->hour < 1 || parts->hour > 12)
		return hint(words, "with am and pm hours go from 1 to 12");
	parts->hour = parts->hour % 12 + half;
	return true;
}

static bool check_clock(struct words *words)
{
	const struct time_words *parts = words->parts;

	words->status = DW_ELIMIT;
	if (parts->hour == 24)
		return hint(words, "hours go to 23: midnight is 00:00 of the next day");
	if (parts->hour > 23)
		return hint(words, "there is no hour %d", parts->hour);
	if (parts->minute > 59)
		return hint(words, "there is no minute %d", parts->minute);
	if (parts->second > 59)
		return hint(words, "there is no second %d", parts->second);
	words->status = DW_EINVAL;
	return true;
}

/* take_utc_offset reads Z, UTC, GMT, +02:00, +0200 or +02. */
static bool take_utc_offset(struct words *words, const char *word, bool *ret_taken)
{
	bool is_zero = strcasecmp(word, "z") == 0 || strcasecmp(word, "utc") == 0 ||
		       strcasecmp(word, "gmt") == 0;
	int hours, minutes = 0;

	*ret_taken = is_zero || has_form(word, *word == '-' ? "-99" : "+99");
	if (!*ret_taken)
		return true;
	if (is_zero && words->parts->has_offset && words->parts->offset_us == 0)
		return true; /* as in "+00:00 UTC" */
	if (words->parts->has_offset)
		return twice(words, "offsets");
	words->parts->has_offset = true;
	if (is_zero)
		return true;
	if (word[3] && !(has_form(word + 3, ":99") && !word[6]) &&
	    !(has_form(word + 3, "99") && !word[5]))
		return hint(words, "write its offset as +02:00");
	hours = (word[1] - '0') * 10 + (word[2] - '0');
	if (word[3])
		minutes =
		    (word[3 + (word[3] == ':')] - '0') * 10 + (word[4 + (word[3] == ':')] - '0');
	if (hours > 23 || minutes > 59) {
		words->status = DW_ELIMIT;
		return hint(words, "its offset is out of range: at most 23:59");
	}
	words->parts->offset_us = (*word == '-' ? -1 : 1) * (DW_HOURS(hours) + DW_MINUTES(minutes));
	return true;
}

/* take_ending reads am, pm or an offset that follows a time without a blank. */
static bool take_ending(struct words *words, const char *ending)
{
	bool taken = false;

	if (half_of(ending) >= 0)
		return set_half(words, half_of(ending));
	if (*ending && !take_utc_offset(words, ending, &taken))
		return false;
	return !*ending || taken || hint(words, "\"%.40s\" is not understood", ending);
}

/* take_clock reads a time of day: 9:00, 09:00:30.5, 9am, or noon. "am" may also be the next
 * word. */
static bool take_clock(struct words *words, const char *word, bool *ret_taken)
{
	struct time_words *parts = words->parts;
	const char *next = words->at < words->count ? words->word[words->at] : "";
	size_t digits = strspn(word, DIGITS);
	bool is_noon = strcasecmp(word, "noon") == 0, has_half;

	has_half = half_of(word + digits) >= 0 || (!word[digits] && half_of(next) >= 0);
	*ret_taken = is_noon || (digits > 0 && digits <= 2 && (word[digits] == ':' || has_half));
	if (!*ret_taken)
		return true;
	if (parts->hour >= 0)
		return twice(words, "times of day");
	parts->hour = 12;
	parts->minute = parts->second = 0;
	if (is_noon)
		return true;
	if (!take_number(&word, 2, &parts->hour) ||
	    (*word == ':' &&
	     (!has_form(word, ":99") || (word++, !take_number(&word, 2, &parts->minute)))) ||
	    (*word == ':' &&
	     (!has_form(word, ":99") || (word++, !take_number(&word, 2, &parts->second)))) ||
	    !take_fraction(&word, &parts->fraction_us))
		return hint(words, "write its time as 09:00, 09:00:30 or 9am");
	if (!take_ending(words, word))
		return false;
	if (!*word && half_of(next) >= 0) {
		words->at++;
		return set_half(words, half_of(next)) && check_clock(words);
	}
	return check_clock(words);
}

/* ---- All ----------------------------------------------------------------------------------- */

/* take_zone reads the name of a zone, which always contains a '/'. */
static bool take_zone(struct words *words, const char *word, bool *ret_taken)
{
	*ret_taken = strchr(word, '/') && !is_digit(*word);
	if (*ret_taken && *words->parts->zone)
		return twice(words, "zones");
	if (*ret_taken)
		memcpy(words->parts->zone, word, strlen(word) + 1);
	return true;
}

static bool take_filler(struct words *words, const char *word, bool *ret_taken)
{
	*ret_taken = strcasecmp(word, "at") == 0 || strcasecmp(word, "on") == 0;
	if (strcasecmp(word, "midnight") == 0)
		return hint(words, "write 00:00, which is the beginning of its day");
	if (strcasecmp(word, "next") == 0 || strcasecmp(word, "this") == 0)
		return hint(words, "\"%s\" may mean two days: write the day alone, as \"mon 9am\"",
			    word);
	return true;
}

static bool take_word(struct words *words)
{
	static bool (*const takes[])(struct words *, const char *, bool *) = {
	    take_filler,  take_clock,        take_iso_day, take_utc_offset,   take_month,
	    take_weekday, take_relative_day, take_zone,    take_number_of_day};
	const char *word = words->word[words->at++];
	bool taken = false;

	for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
		if (!takes[i](words, word, &taken))
			return false;
		if (taken)
			return true;
	}
	return hint(words, "\"%.40s\" is not understood", word);
}

/* check_whole refuses a part that needs another part, which the text does not have. */
static bool check_whole(struct words *words)
{
	const struct time_words *parts = words->parts;

	if (parts->day >= 0 && parts->month < 0)
		return hint(words, "%d is no time of day: write %d:00 or %dam", parts->day,
			    parts->day, parts->day);
	if (parts->year >= 0 && parts->month < 0)
		return hint(words, "it has a year, but no month");
	if (parts->month >= 0 && parts->day < 0)
		return hint(words, "it has a month, but no day of it");
	if (parts->hour < 0)
		return hint(words, "it has no time of day; write one behind it, as \"%.60s 09:00\"",
			    words->source);
	if (parts->days != TIME_NO_DAYS && parts->weekday >= 0)
		return twice(words, "days");
	return true;
}

int time_words_read(const char *text, struct time_words *ret_words, char ret_hint[TIME_HINT_SIZE])
{
	struct words words = {
	    .source = text, .parts = ret_words, .hint = ret_hint, .status = DW_EINVAL};

	*ret_words = (struct time_words){
	    .year = -1, .month = -1, .day = -1, .weekday = -1, .days = TIME_NO_DAYS, .hour = -1};
	*ret_hint = '\0';
	if (!divide(&words, text))
		return words.status;
	while (words.at < words.count)
		if (!take_word(&words))
			return words.status;
	return words.count > 0 && check_whole(&words) ? DW_OK : words.status;
}
