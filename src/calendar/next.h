/* A rule that is ready for questions about its occurrences: its cron expression is parsed, its zone
 * is loaded, and its dates are numbers. */
#ifndef DW_CALENDAR_NEXT_H
#define DW_CALENDAR_NEXT_H

#include <stddef.h>

#include "calendar/cron.h"
#include "calendar/zone.h"
#include "durawheel/durawheel.h"

/* No occurrence is later than this time. It is in the year CRON_YEAR_MAX everywhere. */
#define CALENDAR_SECOND_MAX INT64_C(253402128000)
#define CALENDAR_MAX (CALENDAR_SECOND_MAX * 1000000)

struct calendar {
	dw_usec every; /* the interval of the rule; 0: the rule has a cron expression */
	struct cron cron;
	struct zone_table *zone; /* NULL: UTC */
	struct zone_span span;   /* the span of the last question */
	dw_usec start, end;      /* both may be occurrences themselves */
	uint64_t count;          /* occurrences from start on; 0: no limit */
	size_t except_count;
	int64_t except[DW_EXCEPT_MAX]; /* numbers of local days, sorted */
};

/* calendar_next returns the first occurrence after `after`, or DW_NEVER. It ignores the calendar's
 * count. */
dw_usec calendar_next(struct calendar *, dw_usec after);

/* calendar_count returns how many occurrences come after `after`, until `until`; at most `most`. */
uint64_t calendar_count(struct calendar *, dw_usec after, dw_usec until, uint64_t most);

/* calendar_nth returns the count-th occurrence after `after`. If there are fewer, it returns the
 * last one; if there is none, DW_NEVER. */
dw_usec calendar_nth(struct calendar *, dw_usec after, uint64_t count);

/* calendar_newest returns a time at or after `after`. From this time on there are at most `most`
 * occurrences until `until`, the newest ones. */
dw_usec calendar_newest(struct calendar *, dw_usec after, dw_usec until, uint64_t most);

/* calendar_local writes the occurrence as local clocks show it. */
void calendar_local(struct calendar *, dw_usec occurrence, dw_local *ret_local);

/* calendar_delay returns the jitter of an occurrence: 0 to jitter_us, and at most half of the time
 * until `next`. It is the same for the same id and occurrence, also after a restart, because a
 * fresh random number could postpone a timer again and again. */
dw_usec calendar_delay(dw_usec jitter_us, const char *id, dw_usec occurrence, dw_usec next);

#endif
