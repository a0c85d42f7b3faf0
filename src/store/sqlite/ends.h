/* The ends of timers in the database: the last one of each id. Results are SQLite codes, as in
 * operations.h. */
#ifndef DW_STORE_SQLITE_ENDS_H
#define DW_STORE_SQLITE_ENDS_H

#include "store/sqlite/meta.h"
#include "store/sqlite/row.h"
#include "timer/ended.h"

/* An end that a step brings. */
struct sqlite_end {
	dw_ended ended; /* end: DW_END_UNKNOWN, if none is kept */
	char topic[DW_TOPIC_MAX + 1];
};

/* sqlite_end_note keeps what the step means for the timer of the row, while the row can be read. */
int sqlite_end_note(struct sqlite_session *, const dw_op *, const struct sqlite_row *,
		    const struct life_step *, struct sqlite_end *ret_end);

/* sqlite_end_add stores the end, if one is kept, and drops some old ones. */
int sqlite_end_add(struct sqlite_session *, const char *id, struct sqlite_end *);

/* sqlite_end_forget drops some ends that have expired or are too many, and notes if more are
 * left. */
int sqlite_end_forget(struct sqlite_session *);

/* sqlite_end_exists sets *ret_exists to true if an end of the id is remembered. */
int sqlite_end_exists(struct sqlite_session *, const char *id, bool *ret_exists);

/* sqlite_end_show fills in the answer of an ENDED. */
int sqlite_end_show(struct sqlite_session *, dw_op *);

#endif
