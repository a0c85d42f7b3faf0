/* Rules for recurring timers: when something comes again. "Every weekday at 08:00 in London",
 * "every 90 s", "the last day of the month at 18:00". durawheel/durawheel.h includes this header.
 *
 *	dw_rule rule = {.size = sizeof rule, .cron = "0 8 * * mon-fri", .zone = "Europe/London"};
 *	dw_usec times[5];
 *	char message[DW_MESSAGE_SIZE];
 *	int count = dw_rule_next(&rule, now, times, 5, message);
 *	if (count < 0) ... message says why ...
 *
 * So far a rule only says its times; no timer takes one yet.
 *
 * CRON has five fields: minute, hour, day of month, month, day of week; or six, with seconds first.
 *	*  ?                any
 *	1,15  mon-fri       a list, a range
 *	* /5  8-18/2  10/5   a step (without the space): of all, of a range, from 10 on
 *	jan-dec  sun-sat    names; 0 and 7 are Sunday
 *	L  L-2              the last day of the month, two days before it
 *	mon#2  fri#L        the second Monday, the last Friday of the month
 *	@hourly @daily @weekly @monthly @yearly
 * If day of month and day of week are both given, either suffices, as in POSIX. A field that
 * begins with * or ? does not count as given.
 *
 * ZONES are those of the package tzdata, read from $TZDIR or /usr/share/zoneinfo at each call. The
 * machine's own zone is never used. Twice a year most zones move their clocks:
 *  - A local time that does not exist comes once, later by as much as the clock was moved: 01:30 on
 *    2027-03-28 in London comes at 02:30 there, 01:30 UTC. If another occurrence falls on the same
 *    moment, the two are one.
 *  - A local time that exists twice comes the first time only: 01:30 on 2027-10-31 in London comes
 *    at 00:30 UTC.
 *  - If the minute or the hour begins with * or ?, the rule is an interval. It goes on in real
 *    time: also through the hour that exists twice, and without a local time that does not exist.
 *  - every counts real time, and is not affected.
 *
 * Occurrences lie between 1970 and 9999. All calls may be made by any thread; none needs a handle.
 */
#ifndef DURAWHEEL_RULE_H
#define DURAWHEEL_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "durawheel/error.h"
#include "durawheel/time.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DW_RULE_TEXT_MAX 2048 /* bytes of a rule as text */
#define DW_EXCEPT_MAX 64      /* excepted dates */
#define DW_RULE_COUNT_MAX 100000

/* What happens to occurrences that came while nothing could deliver them. */
typedef enum dw_missed {
	DW_MISSED_ONCE = 0, /* the last of them is delivered, for all */
	DW_MISSED_SKIP = 1, /* none is delivered */
	DW_MISSED_ALL = 2   /* each is delivered, the oldest first */
} dw_missed;

/* Either every or cron. All other fields may be 0. */
typedef struct dw_rule {
	size_t size;
	dw_usec every;    /* a period from start on: 1 ms to 3,660 days */
	const char *cron; /* "0 8 * * mon-fri" */
	const char *zone; /* an IANA name, "Europe/London"; NULL: UTC */
	/* The first and the last possible moment. start 0: the moment that is asked about, or at
	 * which the timer is put. An end is itself possible; 0: there is none. */
	dw_usec start, end;
	uint64_t count;          /* at most so many from start on, DW_RULE_COUNT_MAX; 0: no limit */
	dw_usec jitter_us;       /* each comes up to so much later; at most half of the period */
	dw_missed missed;        /* what happens to missed occurrences */
	dw_usec missed_after_us; /* later than this is missed; 0: 60 s */
	dw_usec missed_age_us;   /* what is older is skipped in any case; 0: no limit */
	const char *const *except; /* local dates without occurrence, "2026-12-25" */
	size_t except_count;       /* at most DW_EXCEPT_MAX */
} dw_rule;

/* dw_rule_next writes the first occurrences after `after`, at most count of them, without jitter.
 * Returns how many: fewer than count if the rule ends. count is at most INT_MAX.
 * DW_EINVAL: ret_message (DW_MESSAGE_SIZE bytes, or NULL) names the field and says what would be
 * right. DW_ENOMEM. */
DW_API int dw_rule_next(const dw_rule *, dw_usec after, dw_usec *ret_times, size_t count,
			char *ret_message);

/* How clocks in the rule's zone show an occurrence. */
typedef struct dw_local {
	size_t size;
	dw_usec offset_us; /* local time minus UTC */
	/* Above 0: the clock goes forward by so much, and the local time of the rule does not
	 * exist. The occurrence is so much later than the rule says. */
	dw_usec shift_us;
	int passing; /* 0: this local time exists once. 1, 2: it exists twice, and this is which */
} dw_local;

/* dw_rule_local fills *ret_local, whose size you set, for a time of dw_rule_next(). Errors as
 * there. */
DW_API int dw_rule_local(const dw_rule *, dw_usec time, dw_local *ret_local, char *ret_message);

/* dw_rule_parse reads a rule as text: its fields, with ';' between them, in any order:
 *	cron 0 8 * * mon-fri; zone Europe/London; except 2026-12-25, 2026-12-28
 *	every 90s; start 2026-06-01T09:30:00Z; end 2026-07-01T00:00:00Z; count 10
 *	cron @daily; jitter 30s; missed skip; missed-after 5m; missed-age 2h
 * Durations are those of dw_parse_duration(), times those of dw_parse_time(). The rule is checked
 * as dw_rule_next() does. On DW_OK *ret_rule is yours until dw_rule_free(). DW_EINVAL: ret_message
 * (DW_MESSAGE_SIZE bytes, or NULL) says why. DW_ENOMEM. */
DW_API int dw_rule_parse(const char *text, dw_rule **ret_rule, char *ret_message);

/* dw_rule_free frees a rule of dw_rule_parse(). rule may be NULL. */
DW_API void dw_rule_free(dw_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
