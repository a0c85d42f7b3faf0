/* How many timers come due in each minute of the next hour, and in each hour of the next day. */
#ifndef DW_CLI_COMING_H
#define DW_CLI_COMING_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/select.h"

#define COMING_MINUTES 60
#define COMING_HOURS 24

/* coming_ask asks the store for the counts from `from` on. Returns a status. */
int coming_ask(dw *, dw_usec from, dw_due_fn, void *user);

/* coming_object returns the answer as an object: "from" and "whole_to" are times, "minutes" and
 * "hours" are arrays of counts. The first hour has the sum of the minutes. Returns NULL if out of
 * memory. */
json_t *coming_object(const dw_due_counts *);

/* coming_counts reads one of the arrays and returns the sum of its counts. coming_is_whole returns
 * true if the counts include all timers that are due within `span` after "from". */
json_int_t coming_counts(const json_t *coming, const char *key, json_int_t *ret_counts,
			 size_t count);
bool coming_is_whole(const json_t *coming, dw_usec span);

#endif
