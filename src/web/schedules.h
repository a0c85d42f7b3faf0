/* Collects the recurring timers of a store, each with its next occurrences.
 *
 * No store has an index of rules, so a walk reads all timers page by page. The result of a walk is
 * shown until the next walk has ended. So readers need not wait, even if a walk through a million
 * timers takes a while. After a long walk there is a long pause. */
#ifndef DW_WEB_SCHEDULES_H
#define DW_WEB_SCHEDULES_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

#define SCHEDULES_MAX 1000 /* The limit for a store. A walk ends when it has found this number. */

struct schedules {
	json_t *whole;      /* the schedules by id that the last finished walk has found; or NULL */
	json_t *found;      /* the schedules by id that the current walk has found; or NULL */
	dw_cursor cursor;   /* the position of the current walk */
	uint64_t looked_at; /* the number of timers that the current walk has looked at */
	uint64_t total;     /* the number of timers that the last finished walk has looked at */
	bool is_cut;        /* the last finished walk found SCHEDULES_MAX and ended early */
	int status;         /* the status of the last page */
	dw_usec began;      /* the steady time at which the current walk began */
	dw_usec next_at;    /* the steady time from which on the next walk may begin */
};

/* schedules_want begins a walk, unless one is under way or has just ended. */
void schedules_want(struct schedules *, dw_usec steady);
bool schedules_is_walking(const struct schedules *);

/* schedules_note adds the next page to the walk, and moves the walk's cursor. */
void schedules_note(struct schedules *, int status, const dw_info *timers, size_t count,
		    const dw_cursor *next);

/* schedules_value returns at most `limit` schedules in the order of their deadlines, without the
 * first `skip`. Returns NULL if out of memory. The caller frees the object:
 *	"schedules"  An array.
 *	"next"       The value of `skip` for the following schedules; null if there are none.
 *	"searched"   The number of timers that the walk has looked at.
 *	"whole"      True if these are all recurring timers of the store.
 *	"searching"  True if the first walk is not over.
 * Each schedule has the keys of `show --json` except its data, and these:
 *	"zone"         The time zone of the rule.
 *	"occurrences"  The next three occurrences, in the form of `when --json`.
 *	"last"         The last occurrence that has passed, if it is known.
 *	"fault"        Why this machine cannot read the rule, if it cannot. */
json_t *schedules_value(struct schedules *, size_t skip, size_t limit);

void schedules_free(struct schedules *);

#endif
