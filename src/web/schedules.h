/* The recurring timers of a store, each with its next times.
 *
 * No store has an index of rules, so they are found by a walk through all timers, a page at a time.
 * What a walk has found stays until the next one has ended: so a store of a million timers, whose
 * walk takes a while, is shown at once, and its walks have long pauses. */
#ifndef DW_WEB_SCHEDULES_H
#define DW_WEB_SCHEDULES_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

#define SCHEDULES_MAX 1000 /* of one store; a walk ends with them */

struct schedules {
	json_t *whole;      /* by id, of the last walk that has ended; or NULL */
	json_t *found;      /* by id, of the walk that is under way; or NULL */
	dw_cursor cursor;   /* of that walk */
	uint64_t looked_at; /* timers, in that walk */
	uint64_t total;     /* timers, in the last walk that has ended */
	bool is_cut;        /* the last walk ended with SCHEDULES_MAX */
	int status;         /* of the last page */
	dw_usec began;      /* steady; that walk */
	dw_usec next_at;    /* steady; no walk begins before */
};

/* schedules_want begins a walk, unless one is under way or has just ended. */
void schedules_want(struct schedules *, dw_usec steady);
bool schedules_is_walking(const struct schedules *);

/* schedules_note takes the next page of the walk, whose cursor it moves. */
void schedules_note(struct schedules *, int status, const dw_info *timers, size_t count,
		    const dw_cursor *next);

/* schedules_value returns at most `limit` of them, in the order of their deadlines, without the
 * first `skip`:
 *	{"schedules", "next": what to skip then, or null, "searched": timers,
 *	 "whole": these are all, "searching": the first walk is not over}
 * Each is as show --json without its data, and has "zone", "occurrences": the next three as of
 * when --json, "last" if it is known, and "fault" if the rule cannot be read here. NULL: no
 * memory. */
json_t *schedules_value(struct schedules *, size_t skip, size_t limit);

void schedules_free(struct schedules *);

#endif
