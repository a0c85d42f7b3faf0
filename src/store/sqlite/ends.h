/* The remembered ends of timers in the database. The last end of each id is kept. The functions
 * return SQLite codes, as in operations.h. */
#ifndef DW_STORE_SQLITE_ENDS_H
#define DW_STORE_SQLITE_ENDS_H

#include "store/sqlite/meta.h"
#include "store/sqlite/row.h"
#include "timer/ended.h"

/* How an operation ends a timer. */
struct sqlite_end {
	dw_ended ended; /* ended.end is DW_END_UNKNOWN if no end is kept */
	char topic[DW_TOPIC_MAX + 1];
};

/* sqlite_end_note finds out how the step ends the timer of the row, and remembers it in *ret_end.
 * Call it while the row can still be read. */
int sqlite_end_note(struct sqlite_session *, const dw_op *, const struct sqlite_row *,
		    const struct life_step *, struct sqlite_end *ret_end);

/* sqlite_end_add stores the end if it is to be kept, and drops some old ends. */
int sqlite_end_add(struct sqlite_session *, const char *id, struct sqlite_end *);

/* sqlite_end_forget drops some ends that have expired or are too many, and notes whether more are
 * left. */
int sqlite_end_forget(struct sqlite_session *);

/* sqlite_end_exists sets *ret_exists to true if an end of the id is remembered. */
int sqlite_end_exists(struct sqlite_session *, const char *id, bool *ret_exists);

/* sqlite_end_show fills in the answer to an ENDED. */
int sqlite_end_show(struct sqlite_session *, dw_op *);

#endif
