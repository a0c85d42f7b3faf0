#include "web/schedules.h"

#include <string.h>

#include "cli/out/clock.h"
#include "cli/out/line.h"
#include "cli/session.h"

enum { TIMES = 3 };

#define PAUSE_MIN DW_SECONDS(1)

/* ---- The walk -------------------------------------------------------------------------------- */

bool schedules_is_walking(const struct schedules *schedules)
{
	return schedules->found != NULL;
}

void schedules_want(struct schedules *schedules, dw_usec steady)
{
	if (schedules_is_walking(schedules) || steady < schedules->next_at)
		return;
	schedules->found = json_object();
	schedules->cursor = (dw_cursor){.started = 0};
	schedules->looked_at = 0;
	schedules->began = steady;
	schedules->status = schedules->found ? DW_OK : (int)DW_ENOMEM;
}

static void schedules_end(struct schedules *schedules, int status)
{
	dw_usec steady = session_steady();
	dw_usec pause = steady - schedules->began; /* the pause is as long as the walk took */

	schedules->status = status;
	schedules->next_at = steady + (pause > PAUSE_MIN ? pause : PAUSE_MIN);
	if (status == DW_OK) {
		json_decref(schedules->whole);
		schedules->whole = schedules->found;
		schedules->total = schedules->looked_at;
		schedules->is_cut = json_object_size(schedules->found) >= SCHEDULES_MAX;
	} else {
		json_decref(schedules->found);
	}
	schedules->found = NULL;
}

/* keep_known copies the times that an earlier walk has computed, if the occurrence is still the
 * same. If the timer has moved on, its earlier occurrence becomes "last". */
static void keep_known(json_t *schedule, const json_t *before)
{
	static const char *const keys[] = {"zone", "occurrences", "last"};
	json_int_t now = json_integer_value(json_object_get(schedule, "occurrence"));
	json_int_t then = json_integer_value(json_object_get(before, "occurrence"));

	if (!json_equal(json_object_get(schedule, "rule"), json_object_get(before, "rule")))
		return;
	for (size_t i = 0; now == then && i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(before, keys[i]))
			(void)json_object_set(schedule, keys[i],
					      /* Without memory the times are computed again. */
					      json_object_get(before, keys[i]));
	if (then < now && then <= session_now())
		(void)json_object_set_new(schedule, "last", json_integer(then));
}

/* add adds a timer. If the timer has moved on during the walk, it is found twice; the later find
 * replaces the earlier one. */
static bool add(struct schedules *schedules, const dw_info *info)
{
	json_t *schedule = line_object_of_info(info, false);

	if (!schedule)
		return false;
	keep_known(schedule, json_object_get(schedules->whole, info->id));
	(void)json_object_del(schedules->found, info->id); /* it fails if the id is not there */
	return json_object_set_new(schedules->found, info->id, schedule) == 0;
}

void schedules_note(struct schedules *schedules, int status, const dw_info *timers, size_t count,
		    const dw_cursor *next)
{
	for (size_t i = 0; i < count && status == DW_OK; i++)
		if (json_object_size(schedules->found) < SCHEDULES_MAX)
			status = add(schedules, &timers[i]) ? (int)DW_OK : (int)DW_ENOMEM;
	if (status != DW_OK) {
		schedules_end(schedules, status);
		return;
	}
	schedules->looked_at = next->looked;
	schedules->cursor = *next;
	if (next->ended || json_object_size(schedules->found) >= SCHEDULES_MAX)
		schedules_end(schedules, DW_OK);
}

void schedules_free(struct schedules *schedules)
{
	json_decref(schedules->whole);
	json_decref(schedules->found);
}

/* ---- Times ----------------------------------------------------------------------------------- */

static json_t *time_of_rule(const dw_rule *rule, dw_usec time)
{
	char local_text[DW_TIME_SIZE], note[CLOCK_NOTE_SIZE];
	dw_local local = {.size = sizeof local};

	if (dw_rule_local(rule, time, &local, NULL) != DW_OK)
		return NULL;
	clock_local(time, &local, local_text);
	clock_note(time, &local, note);
	return json_pack("{s:I, s:s, s:s}", "occurrence", (json_int_t)time, "local", local_text,
			 "note", note);
}

/* later_times returns the number of occurrences that follow. If a rule has a count but no start,
 * only its owner knows where it ends, so the result is 0. */
static int later_times(const dw_rule *rule, dw_usec occurrence, dw_usec ret_times[TIMES - 1])
{
	if (rule->count > 0 && rule->start == 0)
		return 0;
	return dw_rule_next(rule, occurrence, ret_times, TIMES - 1, NULL);
}

static bool add_times(json_t *schedule, const dw_rule *rule)
{
	dw_usec times[TIMES] = {json_integer_value(json_object_get(schedule, "occurrence"))};
	int count = 1 + later_times(rule, times[0], times + 1);
	json_t *array = json_array();
	const char *zone = rule->zone ? rule->zone : "UTC";

	if (!array || json_object_set_new(schedule, "occurrences", array) != 0 || count < 1)
		return false;
	for (int i = 0; i < count; i++)
		if (json_array_append_new(array, time_of_rule(rule, times[i])) != 0)
			return false;
	return json_object_set_new(schedule, "zone", json_string(zone)) == 0;
}

/* know_times adds the times of the rule's occurrences. Returns false if out of memory. */
static bool know_times(json_t *schedule)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	dw_rule *rule = NULL;
	bool is_known;
	int status;

	if (json_object_get(schedule, "occurrences"))
		return true;
	status =
	    dw_rule_parse(json_string_value(json_object_get(schedule, "rule")), &rule, message);
	if (status == DW_EINVAL)
		return json_object_set_new(schedule, "fault", line_name(message)) == 0;
	is_known = status == DW_OK && add_times(schedule, rule);
	dw_rule_free(rule);
	return is_known;
}

/* put_some appends at most `limit` schedules, without the first `skip`. Returns false if out of
 * memory. */
static bool put_some(json_t *array, json_t *all, size_t skip, size_t limit)
{
	const char *id;
	json_t *schedule;

	json_object_foreach(all, id, schedule)
	{
		if (skip > 0)
			skip--;
		else if (json_array_size(array) == limit)
			break;
		else if (!know_times(schedule) || json_array_append(array, schedule) != 0)
			return false;
	}
	return true;
}

json_t *schedules_value(struct schedules *schedules, size_t skip, size_t limit)
{
	bool is_first = schedules->whole == NULL; /* the first walk is not over */
	json_t *all = is_first ? schedules->found : schedules->whole;
	json_t *array = json_array();
	size_t next = skip + limit;
	json_int_t searched;

	if (!array || !put_some(array, all, skip, limit)) {
		json_decref(array);
		return NULL;
	}
	searched = (json_int_t)(is_first ? schedules->looked_at : schedules->total);
	return json_pack(
	    "{s:o, s:o, s:I, s:b, s:b}", "schedules", array, "next",
	    next < json_object_size(all) ? json_integer((json_int_t)next) : json_null(), "searched",
	    searched, "whole", !is_first && !schedules->is_cut, "searching", is_first);
}
