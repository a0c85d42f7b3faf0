/* Counts how many handlers started, ended and failed in each of the last 60 minutes. The caller
 * passes the owner's counters from time to time. When a counter falls, another owner has begun to
 * count from 0. */
#ifndef DW_CLI_HISTORY_H
#define DW_CLI_HISTORY_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

enum history_kind { HISTORY_STARTED, HISTORY_DONE, HISTORY_FAILED, HISTORY_KINDS };

#define HISTORY_MINUTES 60
#define HISTORY_UNKNOWN (-1)

struct history {
	struct history_minute {
		bool is_known;
		json_int_t counts[HISTORY_KINDS];
	} minutes[HISTORY_MINUTES];
	int64_t newest;                 /* the newest minute, counted from 1970 */
	dw_usec at;                     /* the steady time of the last counters, or 0 */
	json_int_t last[HISTORY_KINDS]; /* the last counters of the owner */
};

/* history_note adds the counters in the owner's report. `now` is the wall clock and `steady` the
 * steady clock. If the report is no object, nobody owns the store, and nothing has happened. */
void history_note(struct history *, dw_usec now, dw_usec steady, const json_t *report);

/* history_of writes the counts of one kind for the 60 minutes that end with the minute of `now`,
 * the oldest first. A minute for which no counters came is HISTORY_UNKNOWN. Returns the sum of the
 * known counts. */
json_int_t history_of(const struct history *, enum history_kind, dw_usec now,
		      json_int_t ret_counts[HISTORY_MINUTES]);

#endif
