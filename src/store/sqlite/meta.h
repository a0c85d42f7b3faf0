/* The session of the store's thread, and the row of counters that every transaction updates. */
#ifndef DW_STORE_SQLITE_META_H
#define DW_STORE_SQLITE_META_H

#include "base/alloc.h"
#include "durawheel/store.h"
#include "store/sqlite/database.h"
#include "store/sqlite/hooks.h"

/* The only row of the table meta. `batch` counts the transactions of all sessions that wrote;
 * `session` is the token of the session that wrote last. With these two a session finds out whether
 * its COMMIT was done when the result of the COMMIT is unknown. */
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
	const char *standby;     /* the path of FILE-standby */
	struct sqlite_meta meta; /* the row of the table meta, as the current transaction sees it */
	/* Whether some topics are paused and take no puts. Below 0 if this transaction has not
	 * looked yet. */
	int closed;
	int keeping;    /* whether some topics keep the ends of their timers; below 0 if unknown */
	bool changed;   /* the current transaction has changed something */
	bool full;      /* the disk is full, so puts are refused */
	bool ends_left; /* more ends must be dropped than one operation drops */
	bool mended;    /* the file was repaired, and no answer has said so yet */
	int code;       /* SQLite's code for the last failure */
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
