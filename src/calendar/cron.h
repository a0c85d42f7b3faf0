/* A cron expression as sets of bits, and the local times that it names.
 *
 * A local time is a number of seconds: what the clock on the wall shows, counted as if it were UTC.
 * This part knows no zones; next.c maps local times to moments. */
#ifndef DW_CALENDAR_CRON_H
#define DW_CALENDAR_CRON_H

#include <stdbool.h>
#include <stdint.h>

/* No occurrence is later than this year. */
#define CRON_YEAR_MAX 9999

struct cron {
	uint64_t seconds, minutes;
	uint32_t hours, days, months, weekdays; /* bit 0 of weekdays is Sunday */
	uint32_t days_before_last;              /* bit 2 is L-2, bit 0 is L */
	uint8_t weekdays_nth[7];                /* bit 1 to 5: MON#1 to MON#5; bit 0: MON#L */
	/* True if both day fields are restricted. Then a day that matches one of the two
	 * suffices. */
	bool either_day;
	/* True if the minute or the hour begins with * or ?. Then the expression is an interval,
	 * which continues in real time when the clock is changed. */
	bool interval;
};

/* cron_parse reads 5 fields, 6 with seconds first, or a name like @daily. It returns DW_OK or
 * DW_EINVAL. With DW_EINVAL ret_message says which field is wrong, and what would be right. */
int cron_parse(const char *text, struct cron *ret_cron, char *ret_message);

/* cron_from returns the first local time from `local` on, or INT64_MAX. local is at least -86400 *
 * 365. */
int64_t cron_from(const struct cron *, int64_t local);

#endif
