#include "calendar/footer.h"

#include "base/civil.h"

/* RFC 8536, 3.3.1 allows -167 to 167 hours for a time of day. POSIX allows 0 to 24 hours for an
 * offset. */
enum { TIME_HOURS_MAX = 167, OFFSET_HOURS_MAX = 24, NAME_MIN = 3 };

struct footer_text {
	const char *at, *end;
};

static bool take_sign(struct footer_text *text, char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

/* take_limited reads a number of at most three digits, between least and most. */
static bool take_limited(struct footer_text *text, int least, int most, int *ret_number)
{
	const char *begin = text->at;
	int number = 0;

	for (; text->at < text->end && text->at - begin < 3; text->at++) {
		if (*text->at < '0' || *text->at > '9')
			break;
		number = number * 10 + (*text->at - '0');
	}
	*ret_number = number;
	return text->at > begin && number >= least && number <= most;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* skip_name skips the name of an offset: letters, or anything between < and >. */
static bool skip_name(struct footer_text *text)
{
	const char *begin = text->at;

	if (take_sign(text, '<')) {
		while (text->at < text->end && *text->at != '>')
			text->at++;
		return take_sign(text, '>');
	}
	while (text->at < text->end && is_letter(*text->at))
		text->at++;
	return text->at - begin >= NAME_MIN;
}

/* take_hours reads [+-]hh[:mm[:ss]] as seconds. */
static bool take_hours(struct footer_text *text, int most, int32_t *ret_seconds)
{
	bool minus = take_sign(text, '-');
	int hours, minutes = 0, seconds = 0;

	if (!minus)
		(void)take_sign(text, '+'); /* a plus may be left out */
	if (!take_limited(text, 0, most, &hours))
		return false;
	if (take_sign(text, ':') && !take_limited(text, 0, 59, &minutes))
		return false;
	if (take_sign(text, ':') && !take_limited(text, 0, 59, &seconds))
		return false;
	seconds += hours * 3600 + minutes * 60;
	*ret_seconds = minus ? -seconds : seconds;
	return true;
}

static bool take_day(struct footer_text *text, struct footer_day *ret_day)
{
	struct footer_day day = {.kind = 'N', .time = 7200};
	bool read;

	if (take_sign(text, 'M')) {
		day.kind = 'M';
		read = take_limited(text, 1, 12, &day.month) && take_sign(text, '.') &&
		       take_limited(text, 1, 5, &day.week) && take_sign(text, '.') &&
		       take_limited(text, 0, 6, &day.day);
	} else if (take_sign(text, 'J')) {
		day.kind = 'J';
		read = take_limited(text, 1, 365, &day.day);
	} else {
		read = take_limited(text, 0, 365, &day.day);
	}
	if (!read || (take_sign(text, '/') && !take_hours(text, TIME_HOURS_MAX, &day.time)))
		return false;
	*ret_day = day;
	return true;
}

/* take_summer reads the name of summer time, its offset and when it begins and ends. */
static bool take_summer(struct footer_text *text, struct footer *footer)
{
	int32_t west;

	if (!skip_name(text))
		return false;
	footer->summer = footer->standard + 3600;
	if (text->at < text->end && *text->at != ',') {
		if (!take_hours(text, OFFSET_HOURS_MAX, &west))
			return false;
		footer->summer = -west;
	}
	footer->changes = true;
	return take_sign(text, ',') && take_day(text, &footer->start) && take_sign(text, ',') &&
	       take_day(text, &footer->end);
}

bool footer_parse(const char *text, size_t size, struct footer *ret_footer)
{
	struct footer_text rest = {.at = text, .end = text + size};
	struct footer footer = {0};
	int32_t west;

	if (!skip_name(&rest) || !take_hours(&rest, OFFSET_HOURS_MAX, &west))
		return false;
	footer.standard = -west;
	if (rest.at < rest.end && !take_summer(&rest, &footer))
		return false;
	if (rest.at < rest.end)
		return false;
	*ret_footer = footer;
	return true;
}

/* day_in returns the number of the day, as in civil.h, on which this moment falls in this year. */
static int64_t day_in(const struct footer_day *day, int64_t year)
{
	int64_t first =
	    civil_number((struct civil_day){year, day->kind == 'M' ? day->month : 1, 1});
	int in_month;

	if (day->kind == 'N')
		return first + day->day;
	if (day->kind == 'J') /* counts no 29 February */
		return first + day->day - (day->day < 60 || civil_days_in(year, 2) == 28);
	in_month = (day->day - civil_weekday(first) + 7) % 7 + 7 * (day->week - 1);
	if (in_month >= civil_days_in(year, day->month)) /* week 5 is the last one */
		in_month -= 7;
	return first + in_month;
}

/* change_in returns the change of offset that happens on this day of this year. `before` is the
 * offset until the change, and `after` is the offset from the change on. */
static struct zone_change change_in(const struct footer_day *day, int64_t year, int32_t before,
				    int32_t after)
{
	return (struct zone_change){day_in(day, year) * CIVIL_SECONDS_A_DAY + day->time - before,
				    after};
}

/* insert_change keeps the list sorted. If two changes fall on one moment, the change to summer time
 * counts as the later one. This is how a zone says that it has summer time all year (RFC 8536,
 * 3.3.1). */
static void insert_change(struct zone_change *changes, int count, struct zone_change change,
			  bool summer)
{
	int at = count;

	for (; at > 0; at--) {
		if (changes[at - 1].at < change.at)
			break;
		if (changes[at - 1].at == change.at && summer)
			break;
		changes[at] = changes[at - 1];
	}
	changes[at] = change;
}

void footer_changes(const struct footer *footer, int64_t second,
		    struct zone_change ret_changes[FOOTER_CHANGES])
{
	int64_t rest;
	int64_t day = civil_split(second + footer->standard, CIVIL_SECONDS_A_DAY, &rest);
	int64_t year = civil_of(day).year - 2;

	for (int i = 0; i < FOOTER_CHANGES; i += 2, year++) {
		const struct footer_day *start = &footer->start, *end = &footer->end;

		insert_change(ret_changes, i,
			      change_in(start, year, footer->standard, footer->summer), true);
		insert_change(ret_changes, i + 1,
			      change_in(end, year, footer->summer, footer->standard), false);
	}
}
