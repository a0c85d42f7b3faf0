/* What each operation does inside a transaction of the database. The rules are life_take()'s; this
 * is how they are carried out in SQL. Results are SQLite codes: anything but SQLITE_OK means that
 * the transaction must be rolled back. */
#ifndef DW_STORE_SQLITE_OPERATIONS_H
#define DW_STORE_SQLITE_OPERATIONS_H

#include "base/alloc.h"
#include "durawheel/store.h"
#include "store/sqlite/database.h"
#include "store/sqlite/hooks.h"

/* The one row of meta. batch counts the transactions that wrote, of all sessions; session is the
 * token of the last of them: so that after a COMMIT without an answer one can look. */
struct sqlite_meta {
	uint64_t generation;
	uint64_t batch;
	uint64_t session;
	int64_t pending;
	int64_t claimed;
	int64_t dead;
};

/* What the store's thread works with. */
struct sqlite_session {
	struct sqlite_db db;
	struct sqlite_patience patience;
	struct sqlite_outlet *outlet;
	struct alloc alloc;
	const dw_store_env *env;
	struct sqlite_meta meta; /* as in the transaction under way */
	bool changed;            /* by the transaction under way */
	bool full;               /* the disk is: no puts */
	bool mended;             /* an index was rebuilt, and no answer has said so yet */
	int code;                /* SQLite's, of the last failure */
};

int sqlite_meta_read(struct sqlite_session *);
int sqlite_meta_write(struct sqlite_session *);

/* sqlite_meta_recount: counts afresh, for the case that somebody wrote by hand. */
int sqlite_meta_recount(struct sqlite_session *);

/* sqlite_ops_writes: whether the operation may write. */
bool sqlite_ops_writes(const dw_op *);

/* sqlite_ops_apply fills the answer. An INBOX that finds nothing gets no rows. */
int sqlite_ops_apply(struct sqlite_session *, dw_op *);

/* sqlite_ops_failed: the answer to an operation whose transaction failed with an SQLite code and
 * was not done. */
int sqlite_ops_failed(const dw_op *, int code);

#endif
