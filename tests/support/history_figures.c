/* The figures of a history: how many events there are, and how late timers were started. */
#include <stdlib.h>

#include "support/history_inside.h"

/* ---- Parts ----------------------------------------------------------------------------------- */

void history_divide(struct history *history, unsigned (*part_of)(size_t number))
{
	history->part_of = part_of;
}

unsigned history_part(const struct history *history, size_t number)
{
	return history->part_of ? history->part_of(number) : 0;
}

bool history_is_in(const struct history *history, uint64_t parts, size_t number)
{
	return parts >> history_part(history, number) & 1;
}

/* ---- Figures --------------------------------------------------------------------------------- */

size_t history_count(const struct history *history, enum history_kind kind)
{
	return history->counts[kind];
}

size_t history_answers(const struct history *history, enum history_kind kind, int status)
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		if (history->events[i].kind == kind && history->events[i].status == status)
			count++;
	return count;
}

static int by_time(const void *a, const void *b)
{
	dw_usec first = *(const dw_usec *)a, second = *(const dw_usec *)b;

	return (first > second) - (first < second);
}

dw_usec history_latest_in(const struct history *history, uint64_t parts, dw_usec from,
			  dw_usec until, unsigned thousandths)
{
	size_t found = 0;
	dw_usec *late = calloc(history->counts[HISTORY_START] + 1, sizeof *late);
	dw_usec latest;

	if (!late)
		abort();
	for (size_t i = 0; i < history->count; i++) {
		const struct history_event *event = &history->events[i];

		if (event->kind == HISTORY_START && event->due >= from && event->due < until &&
		    history_is_in(history, parts, event->number))
			late[found++] = event->at - event->due;
	}
	qsort(late, found, sizeof *late, by_time);
	latest = found ? late[found - 1 - found * thousandths / 1000] : 0;
	free(late);
	return latest;
}

dw_usec history_latest(const struct history *history, unsigned thousandths)
{
	return history_latest_in(history, HISTORY_ALL, INT64_MIN, DW_NEVER, thousandths);
}

dw_usec history_first_start_in(const struct history *history, uint64_t parts, dw_usec after)
{
	dw_usec first = DW_NEVER;

	for (size_t i = 0; i < history->count; i++) {
		const struct history_event *event = &history->events[i];

		if (event->kind == HISTORY_START && event->at >= after && event->at < first &&
		    history_is_in(history, parts, event->number))
			first = event->at;
	}
	return first;
}

dw_usec history_first_start(const struct history *history, dw_usec after)
{
	return history_first_start_in(history, HISTORY_ALL, after);
}

static int by_moment(const void *a, const void *b)
{
	const struct history_event *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

size_t history_changes(struct history *history)
{
	unsigned last[64] = {0}; /* the process that started a timer of each part last */
	size_t changes = 0;

	if (history->count > 0)
		qsort(history->events, history->count, sizeof *history->events, by_moment);
	for (size_t i = 0; i < history->count; i++) {
		const struct history_event *event = &history->events[i];
		unsigned *process = &last[history_part(history, event->number) % 64];

		if (event->kind != HISTORY_START)
			continue;
		changes += *process != 0 && *process != event->process;
		*process = event->process;
	}
	return changes;
}
