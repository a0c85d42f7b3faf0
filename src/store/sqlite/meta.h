/* What the store's thread works with, and the row of counters that every transaction keeps. */
#ifndef DW_STORE_SQLITE_META_H
#define DW_STORE_SQLITE_META_H

#include "base/alloc.h"
#include "durawheel/store.h"
#include "store/sqlite/database.h"
#include "store/sqlite/hooks.h"

/* The one row of meta. batch counts the transactions of all sessions that wrote; session is the
 * token of the last one. They tell whether a COMMIT without an answer was done. */
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
	struct sqlite_hooks *hooks;
	struct alloc alloc;
	const dw_store_env *env;
	struct sqlite_meta meta; /* as in the transaction under way */
	bool changed;            /* by the transaction under way */
	bool full;               /* the disk is: no puts */
	bool mended;             /* an index was rebuilt, and no answer has said so yet */
	int code;                /* SQLite's, of the last failure */
};

static inline enum sqlite_kind sqlite_kind_of(const struct sqlite_session *session)
{
	return session->env->is_journal ? SQLITE_KIND_JOURNAL : SQLITE_KIND_TIMERS;
}

int sqlite_meta_read(struct sqlite_session *);
int sqlite_meta_write(struct sqlite_session *);

/* sqlite_meta_recount counts the rows, in case somebody has changed the tables by hand. */
int sqlite_meta_recount(struct sqlite_session *);

#endif
