/* Keeps how many handlers started, ended and failed in each of the last 60 minutes. It is fed with
 * the counters of the owner. When a counter falls, another owner has begun to count from 0. */
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
	int64_t newest;                 /* the number of the newest minute since 1970 */
	dw_usec at;                     /* the steady time of the last note; 0 if there is none */
	json_int_t last[HISTORY_KINDS]; /* the counters then */
};

/* history_note notes the counters in the owner's report. If the report is no object, nobody owns
 * the store, and nothing has happened. */
void history_note(struct history *, dw_usec now, dw_usec steady, const json_t *report);

/* history_of writes the counts of a kind, of 60 minutes up to that of `now`, the oldest first. A
 * minute in which nobody could ask is HISTORY_UNKNOWN. Returns the sum of the others. */
json_int_t history_of(const struct history *, enum history_kind, dw_usec now,
		      json_int_t ret_counts[HISTORY_MINUTES]);

#endif
