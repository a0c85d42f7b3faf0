/* The calculations follow Hinnant, chrono-compatible low-level date algorithms, 2013: years begin
 * in March, so that the leap day is the last day of a year. */
#include "base/civil.h"

/* Days from 0000-03-01, the day 0 of the calculations below, to 1970-01-01. */
#define DAYS_TO_EPOCH INT64_C(719468)
#define DAYS_AN_ERA INT64_C(146097) /* 400 years */

int civil_days_in(int64_t year, int month)
{
	static const int days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month] + (leap && month == 2);
}

int64_t civil_number(struct civil_day civil)
{
	int64_t year = civil.month > 2 ? civil.year : civil.year - 1;
	int64_t month = civil.month > 2 ? civil.month - 3 : civil.month + 9;
	int64_t day_of_year = (153 * month + 2) / 5 + civil.day - 1;

	return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_TO_EPOCH;
}

int64_t civil_split(int64_t number, int64_t size, int64_t *ret_rest)
{
	int64_t quotient = number / size;

	*ret_rest = number % size;
	if (*ret_rest >= 0)
		return quotient;
	*ret_rest += size;
	return quotient - 1;
}

struct civil_day civil_of(int64_t number)
{
	int64_t day_of_era;
	int64_t era = civil_split(number + DAYS_TO_EPOCH, DAYS_AN_ERA, &day_of_era);
	int64_t year =
	    (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * day_of_year + 2) / 153;

	return (struct civil_day){
	    .year = era * 400 + year + (month >= 10),
	    .month = (int)(month < 10 ? month + 3 : month - 9),
	    .day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
	};
}

int civil_weekday(int64_t number)
{
	int64_t weekday;

	(void)civil_split(number + 4, 7, &weekday); /* 1970-01-01 was a Thursday */
	return (int)weekday;
}
