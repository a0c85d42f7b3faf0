#include "store/sqlite/meta.h"

#include "store/sqlite/bind.h"

int sqlite_meta_read(struct sqlite_session *session)
{
	sqlite3_stmt *statement = statement_of(session, SQL_META_READ);
	int code = sqlite3_step(statement);

	session->closed = session->keeping = -1;
	if (code == SQLITE_ROW)
		session->meta =
		    (struct sqlite_meta){.generation = (uint64_t)sqlite3_column_int64(statement, 0),
					 .batch = (uint64_t)sqlite3_column_int64(statement, 1),
					 .session = (uint64_t)sqlite3_column_int64(statement, 2),
					 .pending = sqlite3_column_int64(statement, 3),
					 .claimed = sqlite3_column_int64(statement, 4),
					 .dead = sqlite3_column_int64(statement, 5),
					 .ended = sqlite3_column_int64(statement, 6)};
	else if (code == SQLITE_DONE)
		code = SQLITE_CORRUPT; /* nobody deletes this row, so its absence is damage */
	return sqlite_db_finish(statement, code);
}

int sqlite_meta_write(struct sqlite_session *session)
{
	sqlite3_stmt *statement = statement_of(session, SQL_META_WRITE);
	struct sqlite_meta *meta = &session->meta;
	int code;

	meta->batch++;
	meta->session = session->env->token;
	code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)meta->generation);
	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)meta->batch);
	code = code ? code : sqlite3_bind_int64(statement, 3, (sqlite3_int64)meta->session);
	code = code ? code : sqlite3_bind_int64(statement, 4, meta->pending);
	code = code ? code : sqlite3_bind_int64(statement, 5, meta->claimed);
	code = code ? code : sqlite3_bind_int64(statement, 6, meta->dead);
	code = code ? code : sqlite3_bind_int64(statement, 7, meta->ended);
	return run(statement, code);
}

int sqlite_meta_recount(struct sqlite_session *session)
{
	sqlite3_stmt *statement = statement_of(session, SQL_META_RECOUNT);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW) {
		session->meta.pending = sqlite3_column_int64(statement, 0);
		session->meta.claimed = sqlite3_column_int64(statement, 1);
		session->meta.dead = sqlite3_column_int64(statement, 2);
		session->meta.ended = sqlite3_column_int64(statement, 3);
	}
	code = sqlite_db_finish(statement, code);
	return code ? code : sqlite_db_run(&session->db, SQL_TOPIC_RECOUNT);
}
