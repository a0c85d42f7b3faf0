/* Tools for the file of options.journal, which keeps the calls of a program while Redis is away:
 * they list its rows, and drop a row. The chapter JOURNAL of durawheel(7) says what rows mean. */
#ifndef DURAWHEEL_JOURNAL_H
#define DURAWHEEL_JOURNAL_H

#include <stdint.h>

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One timer in a journal: what a program asked for while Redis was away. */
typedef struct dw_journal_row {
	size_t size;
	const char *name; /* the namespace */
	const char *id;
	const char *what;  /* "put", "cancel", "move", "claim", "settle" or "retry" */
	const char *topic; /* a put's topic, or "" */
	dw_usec at;        /* when it was asked for */
	dw_usec due;       /* the deadline of a put, a move or a retry, or 0 */
} dw_journal_row;

/* Called for each row, which is valid during the call. */
typedef void (*dw_journal_fn)(const dw_journal_row *, void *user);

/* dw_journal_list calls fn for each row of the journal at path, in the order in which they were
 * written. A program may have the file meanwhile. *ret_damaged, if not NULL, counts the rows that
 * cannot be read. On failure ret_message (DW_MESSAGE_SIZE bytes, or NULL) says why, and fn may
 * have got some of the rows. It waits for the disk. Any thread.
 *
 *	DW_EINVAL    fn is NULL, or path is NULL or empty, or this durawheel has no journals
 *	DW_ENOENT    there is no such file, or it is empty
 *	DW_ESTORE    the file is not a journal, or cannot be read
 *	DW_ECORRUPT  the file is damaged
 *	DW_ENEWER    a newer durawheel wrote the file
 *	DW_EFULL     the disk is full
 *	DW_EGONE     the file was removed meanwhile
 *	DW_ENOMEM, DW_ESYS */
DW_API int dw_journal_list(const char *path, dw_journal_fn fn, void *user, uint64_t *ret_damaged,
			   char *ret_message);

/* dw_journal_drop deletes the row of id, or all rows if id is NULL, and counts them in *ret_count.
 * Redis never gets what these rows say. If id is "", the file forgets instead to which server
 * its rows belong. If it fails in the middle, ret_message also says how many rows are deleted.
 * Otherwise as dw_journal_list().
 *
 *	DW_EOWNED    a program has the file open
 *	DW_ENOENT    there is no such file or it is empty, and ret_message says so. Or the journal
 *	             has no such row, and ret_message becomes "". */
DW_API int dw_journal_drop(const char *path, const char *id, uint64_t *ret_count,
			   char *ret_message);

#ifdef __cplusplus
}
#endif

#endif
