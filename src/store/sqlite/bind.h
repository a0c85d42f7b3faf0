/* Shorthands for the files that run operations in SQL. */
#ifndef DW_STORE_SQLITE_BIND_H
#define DW_STORE_SQLITE_BIND_H

#include "store/sqlite/meta.h"

static inline sqlite3_stmt *statement_of(struct sqlite_session *session, enum sqlite_sql which)
{
	return session->db.statements[which];
}

static inline int bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	return sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

/* run steps a statement and resets it. `code` is the result of binding its parameters. If binding
 * has failed, the statement is not stepped. */
static inline int run(sqlite3_stmt *statement, int code)
{
	return sqlite_db_finish(statement, code ? code : sqlite3_step(statement));
}

static inline dw_usec wall(struct sqlite_session *session)
{
	return sqlite_hooks_now(session->hooks);
}

static inline sqlite3_int64 limit_of(const dw_op *op)
{
	return op->limit < INT32_MAX ? (sqlite3_int64)op->limit : INT32_MAX;
}

#endif
