#include "store/sqlite/status.h"

#include "store/identity.h"
#include "store/sqlite/bind.h"
#include "store/sqlite/dead_letters.h"
#include "store/sqlite/ends.h"
#include "store/sqlite/file/standby.h"
#include "store/status.h"

static int read_one(struct sqlite_session *session, enum sqlite_sql which, int64_t *ret_number)
{
	sqlite3_stmt *statement = statement_of(session, which);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(statement, 0);
	return sqlite_db_finish(statement, code);
}

int sqlite_status_read(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *owner = statement_of(session, SQL_OWNER_READ);
	dw_store_status values = {.pending = (uint64_t)session->meta.pending,
				  .claimed = (uint64_t)session->meta.claimed,
				  .dead = (uint64_t)session->meta.dead,
				  .next_due = DW_NEVER,
				  .owner = "",
				  .owner_report = ""};
	char standby[STANDBY_LINE_SIZE];
	int64_t waiting = 0;
	int code = read_one(session, SQL_TIMER_NEXT_DUE, &values.next_due);

	/* A damaged index must not prevent the rest of the status. */
	code = code && !sqlite_db_is_damage(code) ? code
						  : read_one(session, SQL_INBOX_COUNT, &waiting);
	if (code != SQLITE_OK)
		return code;
	values.inbox = (uint64_t)waiting;
	code = sqlite3_step(owner);
	if (code != SQLITE_ROW)
		return sqlite_db_finish(owner, code);
	if (identity_lives(sqlite3_column_int64(owner, 1), sqlite3_column_int64(owner, 2),
			   (const char *)sqlite3_column_text(owner, 3))) {
		values.owner = (const char *)sqlite3_column_text(owner, 0);
		values.owner_since = sqlite3_column_int64(owner, 4);
		values.owner_seen = sqlite3_column_int64(owner, 5);
		values.owner_report = (const char *)sqlite3_column_text(owner, 6);
	}
	sqlite_standby_read(session->standby, standby);
	values.standby = standby;
	op->store_status = status_new(&session->alloc, &values);
	op->status = op->store_status ? DW_OK : DW_ENOMEM;
	return sqlite_db_finish(owner, code);
}

int sqlite_status_report(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_OWNER_REPORT);
	int code = sqlite3_bind_int64(statement, 1, wall(session));

	code = code ? code
		    : sqlite3_bind_text64(statement, 2, op->body_size ? op->body : "",
					  op->body_size, SQLITE_STATIC, SQLITE_UTF8);
	session->changed = true;
	code = run(statement, code);
	code = code ? code : sqlite_dead_forget(session, op);
	return code ? code : sqlite_end_forget(session);
}
