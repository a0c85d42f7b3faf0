/* The session of the store's thread, and the row of counters that every transaction updates. */
#ifndef DW_STORE_SQLITE_META_H
#define DW_STORE_SQLITE_META_H

#include "base/alloc.h"
#include "durawheel/store.h"
#include "store/sqlite/database.h"
#include "store/sqlite/hooks.h"

/* The only row of the table meta. batch counts the transactions of all sessions that wrote; session
 * is the token of the last one. With these two a session finds out whether a COMMIT was done whose
 * result it does not know. */
struct sqlite_meta {
	uint64_t generation;
	uint64_t batch;
	uint64_t session;
	int64_t pending;
	int64_t claimed;
	int64_t dead;
	int64_t ended;
};

/* A connection and what belongs to it. Only the store's thread uses it. */
struct sqlite_session {
	struct sqlite_db db;
	struct sqlite_patience patience;
	struct sqlite_hooks *hooks;
	struct alloc alloc;
	const dw_store_env *env;
	const char *standby;     /* FILE-standby */
	struct sqlite_meta meta; /* the row meta, as the current transaction sees it */
	/* Some topics are paused and take no puts; below 0: not known in this transaction. */
	int closed;
	int keeping;    /* the same: some topics keep the ends of their timers */
	bool changed;   /* the current transaction has changed something */
	bool full;      /* the disk is full: no puts */
	bool ends_left; /* more ends have expired, or are too many, than one operation drops */
	bool mended;    /* the file was repaired, and no answer has said so yet */
	int code;       /* SQLite's code of the last failure */
};

static inline enum sqlite_kind sqlite_kind_of(const struct sqlite_session *session)
{
	return session->env->is_journal ? SQLITE_KIND_JOURNAL : SQLITE_KIND_TIMERS;
}

int sqlite_meta_read(struct sqlite_session *);
int sqlite_meta_write(struct sqlite_session *);

/* sqlite_meta_recount counts the rows, because a person may have changed the tables. */
int sqlite_meta_recount(struct sqlite_session *);

#endif
