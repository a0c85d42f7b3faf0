/* A batch of operations is one transaction. If one of them makes it fail, each gets a transaction
 * of its own. An operation is only answered as failed if it was not done: after a COMMIT without an
 * answer the file is looked at. */
#ifndef DW_STORE_SQLITE_TRANSACTION_H
#define DW_STORE_SQLITE_TRANSACTION_H

#include "store/sqlite/files.h"
#include "store/sqlite/operations.h"
#include "store/sqlite/reserve.h"

enum { SQLITE_BATCH_MAX = 4096 };

struct sqlite_batch {
	struct sqlite_session session;
	struct sqlite_reserve reserve;
	struct sqlite_files files;
	size_t count;
	dw_op *ops[SQLITE_BATCH_MAX];
	struct sqlite_asked {
		dw_head head;
		dw_cursor after;
	} asked[SQLITE_BATCH_MAX]; /* of them, before an answer overwrote it */
	bool told;                 /* that the disk is full */
	bool wrote;                /* what is new to others; for the caller to clear */
	bool gone;                 /* the file is not where it was; said */
	bool foreign;              /* another process has written since it was last looked at */
	uint64_t seen;             /* the last meta.batch this session knows of */
};

/* sqlite_batch_add takes an operation over; there is room. */
void sqlite_batch_add(struct sqlite_batch *, dw_op *);

/* sqlite_batch_run carries all of them out and sets each status. The operations stay in ops until
 * the caller empties it. */
void sqlite_batch_run(struct sqlite_batch *);

/* sqlite_batch_find_file: true if the file is at its path, even if it was gone meanwhile. Each
 * batch asks this before it begins, and before it confirms what it wrote. */
bool sqlite_batch_find_file(struct sqlite_batch *);

/* sqlite_batch_look_for_space decides whether the session stores anything new: the reserve must be
 * whole. It is restored here, at most once a second. */
void sqlite_batch_look_for_space(struct sqlite_batch *);

#endif
