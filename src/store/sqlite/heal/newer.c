#include "store/sqlite/heal/newer.h"

#include "store/sqlite/row.h"
#include "timer/record.h"

/* find steps through rows that look newer, until it finds a row that is newer. It reads each row in
 * full, because the body of a damaged row may show any version. */
static int find(sqlite3_stmt *statement, int code, int *ret_status)
{
	bool found = false;

	if (code != SQLITE_OK)
		return code;
	while (!found && (code = sqlite3_step(statement)) == SQLITE_ROW)
		found = sqlite_row_read(statement).record.newer;
	if (found)
		*ret_status = DW_ENEWER;
	return sqlite_db_finish(statement, code);
}

static int bind_version(sqlite3_stmt *statement)
{
	static const unsigned char known = RECORD_VERSION;

	return sqlite3_bind_blob(statement, 1, &known, sizeof known, SQLITE_STATIC);
}

static int look_at_schema(struct sqlite_session *session, int *ret_status)
{
	sqlite3_stmt *statement = statement_of(session, SQL_SCHEMA_VERSION);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW && sqlite_schema_is_newer(sqlite3_column_int64(statement, 0)))
		*ret_status = DW_ENEWER;
	return sqlite_db_finish(statement, code);
}

int sqlite_newer_store(struct sqlite_session *session, int *ret_status)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_NEWER);
	int code = look_at_schema(session, ret_status);

	return code ? code : find(statement, bind_version(statement), ret_status);
}

int sqlite_newer_dead(struct sqlite_session *session, const dw_op *op, int *ret_status)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_NEWER);
	int code = bind_version(statement);

	code = code ? code : bind_text(statement, 2, op->id);
	code = code ? code : sqlite3_bind_int64(statement, 3, (sqlite3_int64)op->head.generation);
	return find(statement, code, ret_status);
}

int sqlite_newer_any(struct sqlite_session *session, dw_op *purge)
{
	int code = sqlite_newer_store(session, &purge->status);

	return code ? code : sqlite_newer_dead(session, purge, &purge->status);
}
