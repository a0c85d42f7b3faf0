/* Rules for recurring timers: when something comes again. "Every weekday at 08:00 in London",
 * "every 90 s", "the last day of the month at 18:00". durawheel/durawheel.h includes this header.
 *
 *	dw_rule rule = {.size = sizeof rule, .cron = "0 8 * * mon-fri", .zone = "Europe/London"};
 *	dw_usec times[5];
 *	char message[DW_MESSAGE_SIZE];
 *	int count = dw_rule_next(&rule, now, times, 5, message);
 *	if (count < 0) ... message says why ...
 *
 * dw_timer.rule makes a timer recurring; see below.
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
 *  - A local time that does not exist comes once, later by the time by which the clock was moved:
 *    01:30 on 2027-03-28 in London comes at 02:30 there, 01:30 UTC. If another occurrence falls on
 *    the same moment, the two are one.
 *  - A local time that exists twice comes the first time only: 01:30 on 2027-10-31 in London comes
 *    at 00:30 UTC.
 *  - If the minute or the hour begins with * or ?, the rule is an interval. It goes on in real
 *    time: also through the hour that exists twice, and without a local time that does not exist.
 *  - every counts real time, and is not affected.
 *
 * RECURRING TIMERS. A timer with dw_timer.rule is recurring. It is one timer: when a delivery is
 * settled, it becomes pending again for its next occurrence, in one step of the store.
 *
 *	dw_timer timer = {.size = sizeof timer, .id = "exam.today", .topic = "exam.today",
 *			  .rule = &rule};
 *	dw_put(d, &timer, NULL, NULL);
 *
 *  - The first occurrence is the first one after the put: of `every` without a start, one period
 *    later. Each occurrence has a generation of its own, and begins at attempt 1.
 *  - DW_RETRY stays within the occurrence. A dead letter is one occurrence: the timer goes on. If
 *    the id has its timer, dw_dead_requeue() of the letter answers DW_EEXIST. If it has none, the
 *    timer is put again with its rule, also if it was cancelled, and goes on from the letter.
 *  - A crash before the verdict is stored repeats the occurrence, with a higher attempt.
 *  - The same put again (same id, topic, data and rule) changes nothing, so a program may put its
 *    rules at each start. A put that differs replaces the timer, and `every` counts from then.
 *  - A timer that is copied from another store goes on where it was if the put has its due,
 *    occurrence, rule_end and missed, as dw_info returns them. If the rule does not have that
 *    occurrence, its next one counts, and due is ignored. rule_end 0: as the rule says.
 *  - dw_cancel() ends it. While an occurrence is being delivered, the answer is DW_ELATE, and none
 *    comes after it. dw_move() moves the next occurrence only.
 *  - Two occurrences never run side by side. The next one comes after this one; if it was missed
 *    meanwhile, rule.missed counts.
 *  - Missed: an occurrence that would start later than rule.missed_after_us. DW_MISSED_ONCE
 *    delivers the last one that is due, and firing->missed says how many came before it.
 *    DW_MISSED_SKIP goes on with the first one that is not due yet. DW_MISSED_ALL delivers each of
 *    the last 1,000. Occurrences older than rule.missed_age_us are left out in any case.
 *    DW_EVENT_MISSED reports missed occurrences that no delivery reports at once.
 *  - If the machine's clock is set back by less than 3 h, no occurrence comes again. If it is set
 *    back further, the times that were computed from it are computed again, also the delays of
 *    retries. So nothing waits for a time that the clock showed by mistake. Times that a caller has
 *    set or moved stay.
 *  - The zone's file is looked at again each hour. If the rules of a zone have changed, a pending
 *    occurrence that the rule no longer has is moved; but what is due is delivered. A timer whose
 *    zone this machine does not know waits, and is tried again each hour and by the next owner:
 *    DW_EVENT_ZONE.
 *  - late_after_us must be 0. dw_after_id() and dw_push() take no rule. A recurring timer of a
 *    queue topic becomes a message at each occurrence.
 *  - With options.journal, a recurring timer that is settled while Redis is away waits for Redis:
 *    its next occurrence comes after the outage.
 *  - An older durawheel leaves such a timer alone, and does not own its store.
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

/* What happens to occurrences that fell due while nothing could deliver them. A late occurrence
 * counts as missed once it is later than missed_after_us. */
typedef enum dw_missed {
	DW_MISSED_ONCE = 0, /* the last missed occurrence is delivered, in place of all */
	DW_MISSED_SKIP = 1, /* none is delivered */
	DW_MISSED_ALL = 2   /* each is delivered, the oldest first; at most the last 1,000 */
} dw_missed;

/* Either every or cron. All other fields may be 0. */
typedef struct dw_rule {
	size_t size;
	dw_usec every;    /* a period from start on: 1 ms to 3,660 days */
	const char *cron; /* "0 8 * * mon-fri" */
	const char *zone; /* an IANA name, "Europe/London"; NULL: UTC */
	/* The first and the last moment at which an occurrence may be. start 0: the moment of the
	 * put, or `after` in a question about the rule. end 0: there is no end. */
	dw_usec start, end;
	/* How many occurrences the rule has from start on, or from the moment in place of start: at
	 * most DW_RULE_COUNT_MAX; 0: no limit. */
	uint64_t count;
	/* Each occurrence is later by a part of this time. With `every`, jitter_us is at most half
	 * of the period. With `cron`, the delay is at most half of the time until the next
	 * occurrence. */
	dw_usec jitter_us;
	dw_missed missed;        /* what happens to missed occurrences */
	dw_usec missed_after_us; /* an occurrence that is later than this is missed; 0: 60 s */
	/* An occurrence that is older is left out in any case; 0: no limit. */
	dw_usec missed_age_us;
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
	/* Above 0: the clock goes forward by this time, and the local time of the rule does not
	 * exist. The occurrence is later than the rule says, by the same time. */
	dw_usec shift_us;
	/* 0: this local time exists once. If it exists twice: 1 the first time, 2 the second. */
	int passing;
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
