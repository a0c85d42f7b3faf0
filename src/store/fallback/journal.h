/* The journal: a SQLite file with the rows, and their index in memory. The file is a store of its
 * own (store/sqlite), with a thread, group commits and space kept back for a full disk. A
 * simulation has another store. */
#ifndef DW_STORE_FALLBACK_JOURNAL_H
#define DW_STORE_FALLBACK_JOURNAL_H

#include "store/fallback/fallback.h"
#include "store/fallback/origin.h"
#include "store/fallback/rows.h"

struct journal {
	struct alloc alloc;
	dw_store *file;
	struct rows_index rows;
	uint64_t session;     /* a number that names this opening of the file */
	dw_usec oldest;       /* when the first row was written (wall clock) */
	struct origin origin; /* the origin that the file has */
	dw_usec ahead;        /* origin.ahead when this process opened the file */
	/* The origin that is being written into the file, if is_noting is true. */
	struct origin origin_writes;
	bool is_noting;
	uint64_t floor; /* the highest floor that was a guess */
	char name[64];  /* the name of the namespace */
	char path[128]; /* the path for messages; a long path is cut */
};

/* journal_open opens or makes the file and reads its rows. On failure it returns DW_EINVAL (the
 * rows are of another namespace), DW_EOWNED, DW_ESTORE, DW_ENEWER, DW_ENOMEM or DW_ENOENT, and
 * ret_message says why. Damaged rows become dead letters of the file; *ret_damaged counts them. */
int journal_open(struct journal *, const struct fallback_parts *, const dw_store_env *,
		 size_t *ret_damaged, char *ret_message);

/* journal_stop waits until the file has been written; journal_free closes it. */
int journal_stop(struct journal *, dw_usec patience);
void journal_free(struct journal *);

/* These functions begin operations on the file. journal_collect() returns their answers;
 * ticket_of(op)->call is then the context. They return false without memory; then nothing was
 * begun. */
bool journal_write(struct journal *, const struct row_write *, void *context);
/* journal_pass changes a row that is a put: the file does the operation on the row, as a store
 * would do it on the timer. */
bool journal_pass(struct journal *, const struct row *, const dw_op *, void *context);
bool journal_delete(struct journal *, const struct row *, void *context);
/* journal_bury makes a damaged row a dead letter of the file. */
bool journal_bury(struct journal *, const dw_row *damaged, void *context);
bool journal_read(struct journal *, size_t limit, void *context);
/* journal_note writes the origin into the file, unless an origin is already being written. The
 * context of the operation is the journal. The owner of the journal passes the answer to
 * journal_noted(). */
void journal_note(struct journal *, const struct origin *);
void journal_noted(struct journal *, dw_op *);
dw_op *journal_collect(struct journal *);

#endif
