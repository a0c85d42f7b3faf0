#include "store/sqlite/ends.h"

#include <string.h>

#include "port/op.h"
#include "store/identity.h"
#include "store/sqlite/bind.h"
#include "store/sqlite/topics.h"
#include "timer/record.h"

int sqlite_end_note(struct sqlite_session *session, const dw_op *op, const struct sqlite_row *row,
		    const struct life_step *step, struct sqlite_end *ret_end)
{
	dw_end end = life_end(op, &row->record, step);
	struct record record;
	dw_usec of_topic;
	int code;

	ret_end->ended.end = DW_END_UNKNOWN;
	/* On a full disk an end would use up the space that is kept for settles and cancels. */
	if (end == DW_END_UNKNOWN || session->full ||
	    record_decode(row->body, row->body_size, &record) != DW_OK)
		return SQLITE_OK;
	memcpy(ret_end->topic, record.topic, record.topic_size);
	ret_end->topic[record.topic_size] = '\0';
	code = sqlite_topics_keep(session, ret_end->topic, &of_topic);
	if (code != SQLITE_OK)
		return code;
	ended_of(op, end, &row->record.head, wall(session), &ret_end->ended);
	if (!ended_keep(&ret_end->ended, record_keep(row->body), of_topic))
		ret_end->ended.end = DW_END_UNKNOWN;
	ret_end->ended.topic = ret_end->topic;
	return SQLITE_OK;
}

/* write stores the end. If the id already has a row, the new row replaces it and has the same
 * number. So the number of the last inserted row shows whether a row was replaced. */
static int write(struct sqlite_session *session, const char *id, const dw_ended *ended)
{
	unsigned char bytes[ENDED_SIZE_MAX];
	sqlite3_stmt *statement = statement_of(session, SQL_ENDED_WRITE);
	int code = bind_text(statement, 1, id);

	ended_write(ended, bytes);
	code = code ? code : sqlite3_bind_int64(statement, 2, ended->until);
	code = code ? code
		    : sqlite3_bind_blob64(statement, 3, bytes, ended_size(ended), SQLITE_STATIC);
	sqlite3_set_last_insert_rowid(session->db.handle, 0);
	code = run(statement, code);
	session->meta.ended += sqlite3_last_insert_rowid(session->db.handle) != 0;
	return code;
}

/* survive deletes all stored ends if they are damaged. So the operation that ends the timer still
 * succeeds. */
static int survive(struct sqlite_session *session, int code)
{
	if (!sqlite_db_is_damage(code))
		return code;
	sqlite_hooks_log(session->hooks, DW_LOG_ERROR,
			 "the ends of timers are damaged, and forgotten: check the disk");
	session->meta.ended = 0;
	return sqlite_db_run(&session->db, SQL_ENDED_CLEAR);
}

int sqlite_end_add(struct sqlite_session *session, const char *id, struct sqlite_end *end)
{
	char line[ENDED_BY_MAX + 64] = "", by[ENDED_BY_MAX + 1];
	int code;

	if (end->ended.end == DW_END_UNKNOWN)
		return SQLITE_OK;
	identity_line(line, sizeof line);
	ended_by(line, by);
	end->ended.by = by;
	code = write(session, id, &end->ended);
	return code ? survive(session, code) : sqlite_end_forget(session);
}

/* oldest finds the end that expires first. It sets *ret_number to 0 if that end need not be
 * dropped. */
static int oldest(struct sqlite_session *session, dw_usec now, sqlite3_int64 *ret_number)
{
	sqlite3_stmt *statement = statement_of(session, SQL_ENDED_OLDEST);
	int code = sqlite3_step(statement);

	*ret_number = 0;
	if (code == SQLITE_ROW &&
	    (session->meta.ended > DW_ENDED_MAX || sqlite3_column_int64(statement, 1) <= now))
		*ret_number = sqlite3_column_int64(statement, 0);
	return sqlite_db_finish(statement, code);
}

static int drop(struct sqlite_session *session, sqlite3_int64 number)
{
	sqlite3_stmt *statement = statement_of(session, SQL_ENDED_DELETE);

	session->meta.ended--;
	session->changed = true;
	return run(statement, sqlite3_bind_int64(statement, 1, number));
}

int sqlite_end_forget(struct sqlite_session *session)
{
	dw_usec now = wall(session);
	sqlite3_int64 number = 1;
	int code = SQLITE_OK;

	for (unsigned i = 0; i < ENDED_AT_ONCE && code == SQLITE_OK && number != 0; i++) {
		code = oldest(session, now, &number);
		if (code == SQLITE_OK && number != 0)
			code = drop(session, number);
	}
	session->ends_left = code == SQLITE_OK && number != 0;
	return survive(session, code);
}

/* find looks up the end of an id. It sets *ret_statement to NULL if there is no end. Otherwise the
 * statement has the row until it is reset. */
static int find(struct sqlite_session *session, const char *id, sqlite3_stmt **ret_statement)
{
	sqlite3_stmt *statement = statement_of(session, SQL_ENDED_FIND);
	int code = bind_text(statement, 1, id);

	*ret_statement = NULL;
	code = code ? code : sqlite3_bind_int64(statement, 2, wall(session));
	code = code ? code : sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return sqlite_db_finish(statement, code);
	*ret_statement = statement;
	return SQLITE_OK;
}

static int keep_until(struct sqlite_session *session, sqlite3_int64 number, dw_usec until)
{
	sqlite3_stmt *statement = statement_of(session, SQL_ENDED_UNTIL);
	int code = sqlite3_bind_int64(statement, 1, number);

	session->changed = true;
	return run(statement, code ? code : sqlite3_bind_int64(statement, 2, until));
}

int sqlite_end_exists(struct sqlite_session *session, const char *id, bool *ret_exists)
{
	sqlite3_stmt *statement;
	sqlite3_int64 number;
	dw_usec was, until;
	int code = find(session, id, &statement);

	*ret_exists = code == SQLITE_OK && statement != NULL;
	if (!*ret_exists)
		return code;
	number = sqlite3_column_int64(statement, 1);
	was = sqlite3_column_int64(statement, 2);
	until = ended_until(sqlite3_column_blob(statement, 0),
			    (size_t)sqlite3_column_bytes(statement, 0), was, wall(session));
	code = sqlite_db_finish(statement, SQLITE_ROW);
	return code || until == was ? code : keep_until(session, number, until);
}

int sqlite_end_show(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement;
	dw_row **tail = &op->rows;
	int code = find(session, op->id, &statement);

	if (code != SQLITE_OK)
		return code;
	if (!statement) {
		op->status = DW_ENOENT;
		return SQLITE_OK;
	}
	(void)op_add_row(&session->alloc, op, &tail,
			 row_new(&session->alloc, op->id, sqlite3_column_blob(statement, 0),
				 (size_t)sqlite3_column_bytes(statement, 0)));
	return sqlite_db_finish(statement, SQLITE_ROW);
}
