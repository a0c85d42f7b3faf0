/* Selections of timers: list, count or cancel the timers of a topic, timers whose ids begin with
 * some bytes, timers with a rule, or timers that are due in a span of time. It also counts how many
 * timers are due when.
 *
 * Only the deadline is indexed, because an index by topic would make each put dearer. So the store
 * looks at all timers from due_from to due_to: 1,000,000 of them take 2 to 4 s. It looks at about
 * 1,000 in a step, and does other work between the steps. With Redis, a page is not answered amid
 * timers that have the same deadline.
 *
 * Owners and clients make these calls, on the thread of the handle. The arguments of a call are
 * copied before it returns. */
#ifndef DURAWHEEL_SELECT_H
#define DURAWHEEL_SELECT_H

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Selects timers: those that match every field that is set. All zero: every timer. */
typedef struct dw_select {
	size_t size;
	const char *topic;     /* NULL: any */
	const char *id_prefix; /* the id begins with these bytes; NULL: any id */
	dw_usec due_from;      /* due then or later; 0: no bound */
	dw_usec due_to;        /* due before that; 0: no bound */
	unsigned states;       /* a bit for each dw_state, as 1u << DW_PENDING; 0: any */
	int recurring;         /* 1: it has a rule; 0: any */
	/* For dw_list(). 1: timers of shards that cannot be read now are left out, and next->lacks
	 * says so. 0: the call then fails. */
	int partial;
} dw_select;

/* dw_list lists at most limit of the selected timers, and never more than DW_LIST_MAX. select NULL:
 * all timers. after: the cursor behind which the page begins; NULL: at the first timer. A page is
 * one step: before the last page, too, it may have fewer than limit timers, or none. next->looked
 * says how many timers the pages have looked at. DW_EINVAL: dw_last_error() says which argument is
 * not valid. */
DW_API int dw_list(dw *, const dw_select *select, const dw_cursor *after, size_t limit, dw_list_fn,
		   void *user);

/* What dw_count() or dw_cancel_where() has done so far. */
typedef struct dw_tally {
	size_t size;
	int over;         /* 1: this is the last call */
	int status;       /* DW_OK, or why it ended before the last timer */
	uint64_t matched; /* timers that were found */
	uint64_t done;    /* cancelled */
	uint64_t late;    /* timers whose cancel was answered DW_ELATE */
	/* Timers that ended or were put again after they were found: left alone. */
	uint64_t gone;
	uint64_t failed;
	const char *failed_id; /* the first timer whose cancel failed, or NULL */
	int failed_status;
} dw_tally;

/* Called once at the end, and before that at most every 100 ms. */
typedef void (*dw_tally_fn)(dw *, const dw_tally *, void *user);

/* dw_count counts the selected timers; select NULL: all of them. The counts that an owner keeps
 * cost nothing: dw_stats.timers, and the numbers of dw_topic_list() (topic.h). */
DW_API int dw_count(dw *, const dw_select *select, dw_tally_fn, void *user);

/* dw_cancel_where cancels the selected timers, each as dw_cancel() does. It is not one atomic step:
 * other calls happen in between. If the process dies, the timers that were not reached yet stay. A
 * timer that is put again after it was found stays, too, because a cancel names the generation that
 * was found. A recurring timer that was found ends even if its next occurrence has come meanwhile.
 * Timers that are put meanwhile, or whose next occurrence comes, may be found or not; so a second
 * call may find more. DW_EINVAL: as dw_list(); or nothing is set, and it would cancel every timer
 * (dw_purge() does that). */
DW_API int dw_cancel_where(dw *, const dw_select *select, dw_tally_fn, void *user);

/* How many timers are due in each of several spans of time. */
typedef struct dw_due_counts {
	size_t size;
	dw_usec from;           /* the first bound */
	const uint64_t *counts; /* counts[i]: due at bounds[i] or later, and before bounds[i + 1] */
	size_t count;           /* one less than there are bounds */
	/* The counts are complete for timers that are due before this time, and have only some
	 * of the later timers. It is the last bound if the store has looked at all timers before
	 * that. */
	dw_usec whole_to;
} dw_due_counts;

/* counts is valid until the callback returns. It is NULL unless status is DW_OK. */
typedef void (*dw_due_fn)(dw *, int status, const dw_due_counts *counts, void *user);

#define DW_DUE_BOUNDS_MAX 256  /* bounds of one dw_count_due() */
#define DW_DUE_LOOKS_MAX 20000 /* timers at which one dw_count_due() looks */

/* dw_count_due counts the timers that are due from each of the bounds to the next one. The bounds
 * grow. The call is cheap for any number of timers: Redis counts by its index, in the time of a few
 * reads. SQLite and memory look at no more than DW_DUE_LOOKS_MAX timers, and whole_to says how far
 * they came. Timers that an owner has claimed, some milliseconds before their deadline, may be left
 * out. Shards that the server refuses are left out. DW_EINVAL: there are fewer than 2 bounds, or
 * more than DW_DUE_BOUNDS_MAX, or they do not grow. */
DW_API int dw_count_due(dw *, const dw_usec *bounds, size_t count, dw_due_fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
