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
	uint64_t session;            /* names this opening of the file */
	dw_usec oldest;              /* when the first row was written, wall time */
	struct origin origin;        /* what the file has */
	dw_usec ahead;               /* its value when this process opened the file */
	struct origin origin_writes; /* what is being written into the file, if is_noting */
	bool is_noting;
	uint64_t floor; /* the latest floor that was a guess */
	char name[64];  /* the namespace */
	char path[128]; /* for words; cut if long */
};

/* journal_open opens or makes the file and reads its rows. On failure ret_message says why:
 * DW_EINVAL (the rows are of another namespace), DW_EOWNED, DW_ESTORE, DW_ENEWER, DW_ENOMEM,
 * DW_ENOENT. Damaged rows go to the file's dead letters; *ret_damaged counts them. */
int journal_open(struct journal *, const struct fallback_parts *, const dw_store_env *,
		 size_t *ret_damaged, char *ret_message);

/* journal_stop waits for what is being written; journal_free closes the file. */
int journal_stop(struct journal *, dw_usec patience);
void journal_free(struct journal *);

/* The operations on the file. Their answers come with journal_collect(); ticket_of(op)->call is
 * context. False: no memory, nothing was begun. */
bool journal_write(struct journal *, const struct row_write *, void *context);
/* journal_pass does with the row, which is a put, what the operation does with its timer. */
bool journal_pass(struct journal *, const struct row *, const dw_op *, void *context);
bool journal_delete(struct journal *, const struct row *, void *context);
/* journal_bury sets a damaged row aside, among the file's dead letters. */
bool journal_bury(struct journal *, const dw_row *damaged, void *context);
bool journal_read(struct journal *, size_t limit, void *context);
/* journal_note writes the origin, unless that is being done. The journal is the context; its owner
 * hands the answer to journal_noted(). */
void journal_note(struct journal *, const struct origin *);
void journal_noted(struct journal *, dw_op *);
dw_op *journal_collect(struct journal *);

#endif
