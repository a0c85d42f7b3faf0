/* Finds the next local time that a cron expression names. A month's days are one word of bits, so
 * the search skips whole months, and 29 February costs a few dozen steps. */
#include "calendar/cron.h"

#include "base/bits.h"
#include "base/civil.h"

/* A search ends after this many months: the days of the week and the lengths of the months
 * repeat after 400 years. */
#define MONTHS_MAX (400 * 12)
/* The bits 0, 7, 14, 21 and 28. Shifted by the day of a month's first Monday, they are all its
 * Mondays. */
#define EVERY_WEEK UINT64_C(0x10204081)

/* next_bit returns the position of the lowest bit from `from` on, or -1. from is at most 63. */
static int next_bit(uint64_t bits, int from)
{
	bits &= UINT64_MAX << from;
	return bits ? (int)bits_lowest(bits) : -1;
}

/* time_from returns the first time of a day from `second` of the day on, in seconds, or -1 if there
 * is none. */
static int time_from(const struct cron *cron, int second)
{
	int hour = second / 3600, minute = second / 60 % 60, found;

	if (cron->hours >> hour & 1) {
		if (cron->minutes >> minute & 1) {
			found = next_bit(cron->seconds, second % 60);
			if (found >= 0)
				return hour * 3600 + minute * 60 + found;
		}
		found = next_bit(cron->minutes, minute + 1);
		if (found >= 0)
			return hour * 3600 + found * 60 + next_bit(cron->seconds, 0);
	}
	hour = next_bit(cron->hours, hour + 1);
	if (hour < 0)
		return -1;
	return hour * 3600 + next_bit(cron->minutes, 0) * 60 + next_bit(cron->seconds, 0);
}

/* weekdays_of returns the days of a month that fall on this weekday and that the weekday field
 * names. Each day is a bit. `first` is the day of the month of the first such weekday, and
 * `days` is the length of the month. */
static uint64_t weekdays_of(const struct cron *cron, int weekday, int first, int days)
{
	unsigned nth = cron->weekdays_nth[weekday];
	uint64_t found = cron->weekdays >> weekday & 1 ? EVERY_WEEK << first : 0;

	for (int week = 1; week <= 5 && nth; week++)
		if (nth >> week & 1)
			found |= UINT64_C(1) << (first + 7 * (week - 1));
	if (nth & 1)
		found |= UINT64_C(1) << (first + 28 <= days ? first + 28 : first + 21);
	return found;
}

/* days_of_month returns, as bits, the days of a month that match the two day fields: both
 * fields, or one of them if `either_day` is set. `begins` is the weekday of day 1. */
static uint64_t days_of_month(const struct cron *cron, int days, int begins)
{
	uint64_t by_month = cron->days, by_week = 0;

	for (int before = 0; cron->days_before_last >> before && before < days; before++)
		if (cron->days_before_last >> before & 1)
			by_month |= UINT64_C(1) << (days - before);
	for (int weekday = 0; weekday < 7; weekday++)
		by_week |= weekdays_of(cron, weekday, 1 + (weekday - begins + 7) % 7, days);
	return (cron->either_day ? by_month | by_week : by_month & by_week) &
	       ((UINT64_C(2) << days) - 2);
}

int64_t cron_from(const struct cron *cron, int64_t local)
{
	int64_t second;
	struct civil_day date = civil_of(civil_split(local, CIVIL_SECONDS_A_DAY, &second));

	for (int i = 0; i <= MONTHS_MAX && date.year <= CRON_YEAR_MAX; i++) {
		int64_t before = civil_number((struct civil_day){date.year, date.month, 1}) - 1;
		uint64_t days = 0;
		int time = -1, day;

		if (cron->months >> date.month & 1)
			days = days_of_month(cron, civil_days_in(date.year, date.month),
					     civil_weekday(before + 1));
		day = next_bit(days, date.day);
		if (day == date.day)
			time = time_from(cron, (int)second);
		if (day == date.day && time < 0)
			day = next_bit(days, date.day + 1);
		if (day > 0)
			return (before + day) * CIVIL_SECONDS_A_DAY +
			       (time < 0 ? time_from(cron, 0) : time);
		second = 0;
		date = (struct civil_day){date.year + date.month / 12, date.month % 12 + 1, 1};
	}
	return INT64_MAX;
}
