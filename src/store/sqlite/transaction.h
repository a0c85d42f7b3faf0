/* Runs a batch of operations as one transaction. If one operation makes the transaction fail, each
 * operation gets a transaction of its own. An operation is answered as failed only if it was not
 * done: after a COMMIT with an unknown result the file is read. */
#ifndef DW_STORE_SQLITE_TRANSACTION_H
#define DW_STORE_SQLITE_TRANSACTION_H

#include "store/sqlite/file/files.h"
#include "store/sqlite/operations.h"
#include "store/sqlite/file/reserve.h"
#include "store/sqlite/heal/suspects.h"

enum { SQLITE_BATCH_MAX = 4096, SQLITE_FATE_SIZE = 512 };

struct sqlite_batch {
	struct sqlite_session session;
	struct sqlite_reserve reserve;
	struct sqlite_files files;
	size_t count;
	dw_op *ops[SQLITE_BATCH_MAX];
	struct sqlite_asked {
		dw_head head;
		dw_cursor after;
		/* A copy of what each operation asked, before an answer overwrites it. */
	} asked[SQLITE_BATCH_MAX];
	bool told; /* the log says that the disk is full */
	/* Other processes must learn of a change; the caller sets this to false again. */
	bool wrote;
	bool gone; /* the file is not at its path, or this process may not use it */
	char fate[SQLITE_FATE_SIZE]; /* the last line that was logged about the file being gone */
	bool foreign;  /* another process has written since this was last set to false */
	bool forgets;  /* the current transaction drops old ends */
	uint64_t seen; /* the highest meta.batch that this session knows */
	struct sqlite_suspects suspects;
};

/* sqlite_batch_add takes an operation over. The batch must have room. */
void sqlite_batch_add(struct sqlite_batch *, dw_op *);

/* sqlite_batch_run does all operations and sets the status of each. The operations stay in `ops`
 * until the caller empties it. */
void sqlite_batch_run(struct sqlite_batch *);

/* sqlite_batch_forget drops some old ends in a transaction of its own. If it fails, the next REPORT
 * drops them. */
void sqlite_batch_forget(struct sqlite_batch *);

/* sqlite_batch_find_file returns true if the file is at its path, even if it was gone for a while.
 * Each batch asks this before it begins, and before it confirms what it wrote. */
bool sqlite_batch_find_file(struct sqlite_batch *);

/* sqlite_batch_look_for_space decides whether the session may store new timers: it may if the
 * reserve is whole. It tries to restore the reserve, at most once a second. */
void sqlite_batch_look_for_space(struct sqlite_batch *);

#endif
