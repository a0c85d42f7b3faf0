/* Days of the Gregorian calendar as numbers: day 0 is 1970-01-01. No date function of libc is
 * called, because those depend on time zones and locales. */
#ifndef DW_BASE_CIVIL_H
#define DW_BASE_CIVIL_H

#include <stdint.h>

#define CIVIL_SECONDS_A_DAY INT64_C(86400)

struct civil_day {
	int64_t year;
	int month, day; /* counted from 1 */
};

/* civil_days_in returns how many days the month has. */
int civil_days_in(int64_t year, int month);

/* civil_number returns the number of a day. The year is at least 0. */
int64_t civil_number(struct civil_day);

/* civil_of returns the day of a number. It is the inverse of civil_number(), for any number. */
struct civil_day civil_of(int64_t number);

/* civil_weekday returns the weekday of a day's number, where 0 is Sunday. */
int civil_weekday(int64_t number);

/* civil_split returns the floor of number / size. *ret_rest is the rest and never negative. */
int64_t civil_split(int64_t number, int64_t size, int64_t *ret_rest);

#endif
