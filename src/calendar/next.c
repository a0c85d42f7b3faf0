/* When a rule comes next. A zone is a sequence of spans. Each span has one offset. Within a span,
 * local time and UTC run alike, so cron_from() finds the next occurrence. Where a span begins, two
 * cases need care:
 * - The clock went forward: local times from begin + before on, and before begin + offset, do not
 *   exist. An occurrence there is read with the offset before the change. So it comes once, and
 *   later by the time by which the clock was moved (RFC 5545, java.time).
 * - The clock went back: local times from begin + offset on, and before begin + before, exist
 *   twice. They were occurrences already in the span before, so they do not come again.
 * An interval ("*" in the minute or the hour) has neither case: it continues in real time. */
#include "calendar/next.h"

#include <string.h>

#include "base/civil.h"
#include "base/hash.h"
#include "base/usec.h"

#define SECOND_US INT64_C(1000000)
/* Any two offsets of a zone differ by less than this (seconds). So a local time that is further
 * ahead than this by one offset is also ahead by every other offset. */
#define OFFSETS_APART (3 * CIVIL_SECONDS_A_DAY)
/* Each round of a search passes one span, or three days without an occurrence. If there is an
 * occurrence, the search finds it in fewer rounds. */
#define ROUNDS_MAX 4096

/* span_at returns the span that contains second. The calendar keeps the last span, because the
 * next question is often about the same span. */
static const struct zone_span *span_at(struct calendar *calendar, int64_t second)
{
	if (second < calendar->span.begin || second >= calendar->span.end)
		calendar->span = zone_span_at(calendar->zone, second);
	return &calendar->span;
}

static int64_t second_of(dw_usec time)
{
	int64_t rest;

	return civil_split(time, SECOND_US, &rest);
}

/* in_gap returns the first occurrence, from second on, whose local time is skipped by the clock
 * when this span begins. It returns INT64_MAX if there is none. */
static int64_t in_gap(const struct cron *cron, const struct zone_span *span, int64_t second)
{
	int64_t from = usec_max(second, span->begin) + span->before, local;

	if (from >= span->begin + span->offset)
		return INT64_MAX;
	local = cron_from(cron, from);
	return local < span->begin + span->offset ? local - span->before : INT64_MAX;
}

/* from_local returns the first occurrence from a local time on, by this offset, or INT64_MAX. */
static int64_t from_local(const struct cron *cron, int64_t local, int32_t offset)
{
	local = cron_from(cron, local);
	return local == INT64_MAX ? INT64_MAX : local - offset;
}

/* in_span returns the first occurrence from second on, by the offset of this span. The result may
 * be beyond the span's end, or INT64_MAX. */
static int64_t in_span(const struct cron *cron, const struct zone_span *span, int64_t second)
{
	int64_t from = second + span->offset, found;
	bool changed = span->begin != INT64_MIN && !cron->interval;

	if (changed && span->offset < span->before)
		from = usec_max(from, span->begin + span->before);
	found = from_local(cron, from, span->offset);
	if (changed && span->offset > span->before)
		return usec_min(found, in_gap(cron, span, second));
	return found;
}

/* skip_to returns the second at which the search continues after this span has no more
 * occurrence. `found` is the next occurrence by the span's offset. skip_to skips whole spans
 * before `found` if no local time in them matches. It also looks at the local times that a clock
 * set back repeats after the span. */
static int64_t skip_to(const struct cron *cron, const struct zone_span *span, int64_t found)
{
	int64_t quiet = span->end + span->offset - OFFSETS_APART;

	if (from_local(cron, quiet, span->offset) != found)
		return span->end;
	return usec_max(span->end, found - OFFSETS_APART);
}

/* next_of_cron returns the first occurrence from second on, or INT64_MAX. */
static int64_t next_of_cron(struct calendar *calendar, int64_t second)
{
	for (int i = 0; i < ROUNDS_MAX && second <= CALENDAR_SECOND_MAX; i++) {
		const struct zone_span *span = span_at(calendar, second);
		int64_t found = in_span(&calendar->cron, span, second);

		if (found < span->end)
			return found;
		if (span->end == INT64_MAX)
			break;
		second = skip_to(&calendar->cron, span, found);
	}
	return INT64_MAX;
}

/* next_of_all does the same as calendar_next(), but also returns occurrences on excepted dates. */
static dw_usec next_of_all(struct calendar *calendar, dw_usec after)
{
	int64_t second;

	if (after < calendar->start)
		after = calendar->start - 1;
	if (calendar->every > 0 && after < calendar->start)
		return calendar->start;
	if (calendar->every > 0)
		return usec_add(
		    calendar->start,
		    usec_mul((after - calendar->start) / calendar->every + 1, calendar->every));
	second = next_of_cron(calendar, second_of(after) + 1);
	return usec_mul(second, SECOND_US);
}

static bool is_excepted(const struct calendar *calendar, int64_t day)
{
	for (size_t i = 0; i < calendar->except_count; i++)
		if (calendar->except[i] == day)
			return true;
	return false;
}

dw_usec calendar_next(struct calendar *calendar, dw_usec after)
{
	dw_usec occurrence = next_of_all(calendar, after);

	/* Each round passes one span of an excepted day, and a day has few spans. */
	for (int i = 0; i < 8 * DW_EXCEPT_MAX && calendar->except_count > 0; i++) {
		int64_t second = second_of(occurrence), rest, day;
		const struct zone_span *span;

		if (second > CALENDAR_SECOND_MAX)
			break;
		span = span_at(calendar, second);
		day = civil_split(second + span->offset, CIVIL_SECONDS_A_DAY, &rest);
		if (!is_excepted(calendar, day))
			break;
		second = usec_min(span->end, (day + 1) * CIVIL_SECONDS_A_DAY - span->offset);
		occurrence = next_of_all(calendar, second * SECOND_US - 1);
	}
	if (occurrence > calendar->end || occurrence > CALENDAR_MAX)
		return DW_NEVER;
	return occurrence;
}

uint64_t calendar_count(struct calendar *calendar, dw_usec after, dw_usec until, uint64_t most)
{
	uint64_t count = 0;

	while (count < most && (after = calendar_next(calendar, after)) <= until)
		count++;
	return count;
}

dw_usec calendar_nth(struct calendar *calendar, dw_usec after, uint64_t count)
{
	dw_usec found = DW_NEVER;

	for (; count > 0; count--) {
		after = calendar_next(calendar, after);
		if (after == DW_NEVER)
			break;
		found = after;
	}
	return found;
}

dw_usec calendar_newest(struct calendar *calendar, dw_usec after, dw_usec until, uint64_t most)
{
	dw_usec end = until;

	if (calendar_count(calendar, after, until, most + 1) <= most)
		return after;
	while (end - after > 1) {
		dw_usec middle = after + (end - after) / 2;

		if (calendar_count(calendar, middle, until, most + 1) > most)
			after = middle;
		else
			end = middle;
	}
	return end;
}

/* shift_of returns by how much the occurrence is later than its local time. This is 0 unless the
 * clock skips the local time. */
static int64_t shift_of(const struct cron *cron, const struct zone_span *span, int64_t second)
{
	int64_t shift = (int64_t)span->offset - span->before;

	if (span->begin == INT64_MIN || cron->interval || shift <= 0 ||
	    second >= span->begin + shift ||
	    cron_from(cron, second + span->offset) == second + span->offset)
		return 0;
	return shift;
}

void calendar_local(struct calendar *calendar, dw_usec occurrence, dw_local *ret_local)
{
	int64_t second = second_of(occurrence);
	struct zone_span span = *span_at(calendar, second);
	struct zone_span next = {.offset = span.offset};

	ret_local->offset_us = span.offset * SECOND_US;
	ret_local->shift_us = 0;
	ret_local->passing = 0;
	if (calendar->every == 0)
		ret_local->shift_us = shift_of(&calendar->cron, &span, second) * SECOND_US;
	if (span.end != INT64_MAX && second >= span.end - OFFSETS_APART)
		next = zone_span_at(calendar->zone, span.end);
	if (next.offset < span.offset && second + span.offset >= span.end + next.offset)
		ret_local->passing = 1;
	if (span.begin != INT64_MIN && second + span.offset < span.begin + span.before)
		ret_local->passing = 2;
}

dw_usec calendar_delay(dw_usec jitter_us, const char *id, dw_usec occurrence, dw_usec next)
{
	dw_usec most = usec_min(jitter_us, usec_sub(next, occurrence) / 2);

	if (most <= 0)
		return 0;
	return (dw_usec)(hash_bytes((uint64_t)occurrence, id, strlen(id)) % ((uint64_t)most + 1));
}
