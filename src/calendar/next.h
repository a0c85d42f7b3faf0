/* A rule that is ready to be asked: its cron expression is parsed, its zone is loaded, and its
 * dates are numbers. */
#ifndef DW_CALENDAR_NEXT_H
#define DW_CALENDAR_NEXT_H

#include <stddef.h>

#include "calendar/cron.h"
#include "calendar/zone.h"
#include "durawheel/durawheel.h"

/* No occurrence is later: this is in the year CRON_YEAR_MAX everywhere. */
#define CALENDAR_SECOND_MAX INT64_C(253402128000)
#define CALENDAR_MAX (CALENDAR_SECOND_MAX * 1000000)

struct calendar {
	dw_usec every; /* 0: by cron */
	struct cron cron;
	struct zone_table *zone; /* NULL: UTC */
	struct zone_span span;   /* the last one that was looked at */
	dw_usec start, end;      /* end itself counts */
	uint64_t count;          /* occurrences from start on; 0: no limit */
	size_t except_count;
	int64_t except[DW_EXCEPT_MAX]; /* numbers of local days, sorted */
};

/* calendar_next: the first occurrence after `after`, or DW_NEVER. count is not looked at. */
dw_usec calendar_next(struct calendar *, dw_usec after);

/* calendar_count: how many occurrences come after `after`, until `until`; at most `most`. */
uint64_t calendar_count(struct calendar *, dw_usec after, dw_usec until, uint64_t most);

/* calendar_nth: the count-th occurrence after `after`; the last one if there are fewer, and
 * DW_NEVER if there is none. */
dw_usec calendar_nth(struct calendar *, dw_usec after, uint64_t count);

/* calendar_newest: a time at or after `after` from which on there are at most `most` occurrences
 * until `until`: the newest ones. */
dw_usec calendar_newest(struct calendar *, dw_usec after, dw_usec until, uint64_t most);

/* calendar_local: how local clocks show the occurrence. */
void calendar_local(struct calendar *, dw_usec occurrence, dw_local *ret_local);

/* calendar_delay: the jitter of an occurrence: 0 to jitter_us, at most half of the time until
 * `next`. The same for the same id and occurrence, also after a restart: a fresh draw could
 * postpone a timer again and again. */
dw_usec calendar_delay(dw_usec jitter_us, const char *id, dw_usec occurrence, dw_usec next);

#endif
