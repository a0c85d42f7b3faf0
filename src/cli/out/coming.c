#include "cli/out/coming.h"

enum { BOUNDS = COMING_MINUTES + COMING_HOURS };

int coming_ask(dw *d, dw_usec from, dw_due_fn fn, void *user)
{
	dw_usec bounds[BOUNDS];

	for (int i = 0; i <= COMING_MINUTES; i++)
		bounds[i] = from + DW_MINUTES(i);
	for (int i = 2; i <= COMING_HOURS; i++)
		bounds[COMING_MINUTES + i - 1] = from + DW_HOURS(i);
	return dw_count_due(d, bounds, BOUNDS, fn, user);
}

static json_t *array_of(const uint64_t *counts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(array, json_integer((json_int_t)counts[i])) != 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

json_t *coming_object(const dw_due_counts *due)
{
	uint64_t hours[COMING_HOURS] = {0};

	for (size_t i = 0; i < COMING_MINUTES; i++)
		hours[0] += due->counts[i];
	for (size_t i = 1; i < COMING_HOURS; i++)
		hours[i] = due->counts[COMING_MINUTES + i - 1];
	return json_pack("{s:I, s:I, s:o, s:o}", "from", (json_int_t)due->from, "whole_to",
			 (json_int_t)due->whole_to, "minutes",
			 array_of(due->counts, COMING_MINUTES), "hours",
			 array_of(hours, COMING_HOURS));
}

json_int_t coming_counts(const json_t *coming, const char *key, json_int_t *ret_counts,
			 size_t count)
{
	const json_t *array = json_object_get(coming, key);
	json_int_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		ret_counts[i] = json_integer_value(json_array_get(array, i));
		sum += ret_counts[i];
	}
	return sum;
}

bool coming_is_whole(const json_t *coming, dw_usec span)
{
	return json_integer_value(json_object_get(coming, "whole_to")) >=
	       json_integer_value(json_object_get(coming, "from")) + span;
}
