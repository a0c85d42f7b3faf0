#include "cli/out/history.h"

/* After a longer silence it is unknown in which minute something has happened. */
#define SILENCE_MAX DW_SECONDS(90)

/* move_to makes `minute` the newest minute. If `is_known`, the counts of the minutes in between are
 * known. If the clock was set back or far ahead, a new history begins. */
static void move_to(struct history *history, int64_t minute, bool is_known)
{
	int64_t passed = minute - history->newest;
	bool is_jump = passed < 0 || passed > HISTORY_MINUTES;

	for (int64_t i = 0; i < (is_jump ? HISTORY_MINUTES : passed); i++)
		history->minutes[(minute - i) % HISTORY_MINUTES] =
		    (struct history_minute){.is_known = is_known && !is_jump};
	history->newest = minute;
	history->minutes[minute % HISTORY_MINUTES].is_known = true;
}

static void read_counters(const json_t *report, json_int_t ret_counters[HISTORY_KINDS])
{
	json_int_t failed = json_integer_value(json_object_get(report, "retried")) +
			    json_integer_value(json_object_get(report, "dead"));

	ret_counters[HISTORY_STARTED] = json_integer_value(json_object_get(report, "fired"));
	ret_counters[HISTORY_DONE] = json_integer_value(json_object_get(report, "settled"));
	ret_counters[HISTORY_FAILED] = failed;
}

static bool has_fallen(const json_int_t *last, const json_int_t *counters)
{
	for (int i = 0; i < HISTORY_KINDS; i++)
		if (counters[i] < last[i])
			return true;
	return false;
}

void history_note(struct history *history, dw_usec now, dw_usec steady, const json_t *report)
{
	bool is_joined = history->at != 0 && steady - history->at <= SILENCE_MAX;
	json_int_t counters[HISTORY_KINDS];
	struct history_minute *minute;
	bool is_new;

	if (now < DW_HOURS(1)) /* the clock was never set */
		return;
	read_counters(report, counters);
	is_new = has_fallen(history->last, counters);
	move_to(history, now / DW_MINUTES(1), is_joined);
	minute = &history->minutes[history->newest % HISTORY_MINUTES];
	for (int i = 0; i < HISTORY_KINDS; i++) {
		if (is_joined)
			minute->counts[i] += counters[i] - (is_new ? 0 : history->last[i]);
		history->last[i] = counters[i];
	}
	history->at = steady;
}

json_int_t history_of(const struct history *history, enum history_kind kind, dw_usec now,
		      json_int_t ret_counts[HISTORY_MINUTES])
{
	int64_t oldest = now / DW_MINUTES(1) - HISTORY_MINUTES + 1;
	json_int_t sum = 0;

	for (int64_t i = 0; i < HISTORY_MINUTES; i++) {
		int64_t minute = oldest + i;
		bool is_kept = minute >= 0 && minute <= history->newest &&
			       minute > history->newest - HISTORY_MINUTES;
		const struct history_minute *from =
		    is_kept ? &history->minutes[minute % HISTORY_MINUTES] : NULL;

		ret_counts[i] = from && from->is_known ? from->counts[kind] : HISTORY_UNKNOWN;
		sum += from && from->is_known ? from->counts[kind] : 0;
	}
	return sum;
}
