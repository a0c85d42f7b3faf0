#include "store/sqlite/dead_letters.h"

#include <string.h>

#include "base/reason.h"
#include "port/op.h"
#include "store/sqlite/heal/newer.h"
#include "store/sqlite/bind.h"
#include "timer/record.h"

/* Columns of a dead letter: one of its timer's columns, and those that follow them. */
enum { COLUMN_TOPIC = 2, COLUMN_NUMBER = 13, COLUMN_REASON = 14, COLUMN_AT = 15 };

int sqlite_dead_add(struct sqlite_session *session, const dw_op *op,
		    const struct life_record *record)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_INSERT);
	int code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)record->head.generation);

	code = code ? code : bind_text(statement, 2, dw_reason_name(op->reason));
	code = code ? code : sqlite3_bind_int64(statement, 3, wall(session));
	session->meta.dead++;
	return run(statement, code);
}

/* oldest finds the oldest letter if it must be dropped, because it is too old or there are too
 * many. Otherwise it sets *ret_number to 0. */
static int oldest(struct sqlite_session *session, dw_usec now, sqlite3_int64 *ret_number)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_OLDEST);
	int code = sqlite3_step(statement);

	*ret_number = 0;
	if (code == SQLITE_ROW &&
	    life_forgets((uint64_t)session->meta.dead, sqlite3_column_int64(statement, 1), now))
		*ret_number = sqlite3_column_int64(statement, 0);
	return sqlite_db_finish(statement, code);
}

static int delete_one(struct sqlite_session *session, sqlite3_int64 number)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_DELETE);

	session->meta.dead--;
	session->changed = true;
	return run(statement, sqlite3_bind_int64(statement, 1, number));
}

int sqlite_dead_forget(struct sqlite_session *session, dw_op *op)
{
	dw_usec now = wall(session);
	int code = SQLITE_OK;

	for (op->count = 0; op->count < LIFE_DEAD_AT_ONCE && code == SQLITE_OK; op->count++) {
		sqlite3_int64 number;

		code = oldest(session, now, &number);
		if (code != SQLITE_OK || number == 0)
			break;
		code = delete_one(session, number);
	}
	return code;
}

int sqlite_dead_find(struct sqlite_session *session, const dw_op *op, struct sqlite_dead *ret_dead)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_FIND);
	int code = bind_text(statement, 1, op->id);

	*ret_dead = (struct sqlite_dead){0};
	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)op->head.generation);
	code = code ? code : sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return sqlite_db_finish(statement, code);
	ret_dead->statement = statement;
	ret_dead->row = sqlite_row_read(statement);
	ret_dead->number = sqlite3_column_int64(statement, COLUMN_NUMBER);
	return SQLITE_OK;
}

int sqlite_dead_revive(struct sqlite_session *session, sqlite3_int64 number,
		       const struct life_record *record, uint32_t seal)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_FROM_DEAD);
	int code = sqlite_row_bind(statement, record, seal);

	code = code ? code : sqlite3_bind_int64(statement, 10, number);
	code = run(statement, code);
	session->meta.pending++;
	return code ? code : delete_one(session, number);
}

int sqlite_dead_letter(struct sqlite_session *session, dw_op *op)
{
	struct life_record record = {.head = op->head};
	sqlite3_stmt *statement = statement_of(session, SQL_LETTER_INSERT);
	struct sqlite_dead dead;
	int code = sqlite_dead_find(session, op, &dead);

	if (code != SQLITE_OK || dead.statement) {
		if (dead.statement)
			/* Its row has been read, so the code does not matter. */
			(void)sqlite3_reset(dead.statement);
		return code;
	}
	record.head.state = DW_PENDING;
	record.head.open = 0;
	code = sqlite_row_bind(statement, &record, record_seal(&record.head, 0, op->body));
	code = code ? code : bind_text(statement, 10, dw_reason_name(op->reason));
	code = code ? code : sqlite3_bind_int64(statement, 11, wall(session));
	code = code ? code : bind_text(statement, 12, op->id);
	code = code ? code : bind_text(statement, 13, op->topic);
	code = code ? code
		    : sqlite3_bind_blob64(statement, 14, op->body, op->body_size, SQLITE_STATIC);
	code = code ? code
		    : sqlite3_bind_text(statement, 15, op_why(op), (int)op->limit, SQLITE_STATIC);
	session->meta.dead++;
	session->changed = true;
	return run(statement, code);
}

static dw_row *copy(struct sqlite_session *session, sqlite3_stmt *statement)
{
	struct sqlite_row read = sqlite_row_read(statement);
	dw_row *row = sqlite_row_copy(&session->alloc, &read);

	if (!row)
		return NULL;
	row->number = (uint64_t)sqlite3_column_int64(statement, COLUMN_NUMBER);
	row->reason = reason_find((const char *)sqlite3_column_text(statement, COLUMN_REASON));
	row->at = sqlite3_column_int64(statement, COLUMN_AT);
	return row;
}

/* last_of answers the operation with the last letter of its id. */
static int last_of(struct sqlite_session *session, dw_op *op)
{
	dw_row **tail = &op->rows;
	struct sqlite_dead dead;
	int code = sqlite_dead_find(session, op, &dead);

	if (code == SQLITE_OK && !dead.statement)
		op->status = DW_ENOENT;
	if (!dead.statement)
		return code;
	(void)op_add_row(&session->alloc, op, &tail, copy(session, dead.statement));
	return sqlite_db_finish(dead.statement, SQLITE_ROW);
}

/* is_wanted returns true if the letter in the statement's row has the topic of the scan. */
static bool is_wanted(const dw_op *op, sqlite3_stmt *statement)
{
	const char *topic =
	    op->topic ? (const char *)sqlite3_column_text(statement, COLUMN_TOPIC) : NULL;

	return !op->topic || (topic && strcmp(op->topic, topic) == 0);
}

int sqlite_dead_scan(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_SCAN);
	uint64_t after = op->after.started ? op->after.generation : 0;
	uint64_t last = op->after.looked + op_looks(op);
	dw_row **tail = &op->rows;
	int code;

	if (op->id)
		return last_of(session, op);
	code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)after);
	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)op_looks(op) + 1);
	if (code != SQLITE_OK)
		return code;
	while (op->row_count < op->limit && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (op->after.looked == last) {
			op->flags |= DW_OP_PART;
			break;
		}
		op->after = (dw_cursor){
		    .generation = (uint64_t)sqlite3_column_int64(statement, COLUMN_NUMBER),
		    .started = 1,
		    .looked = op->after.looked + 1};
		if (is_wanted(op, statement) &&
		    !op_add_row(&session->alloc, op, &tail, copy(session, statement)))
			break;
	}
	return sqlite_db_finish(statement, code);
}

int sqlite_dead_drop(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_DEAD_DROP);
	int code = sqlite_newer_dead(session, op, &op->status);

	if (code != SQLITE_OK || op->status != DW_OK)
		return code;
	code = bind_text(statement, 1, op->id);
	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)op->head.generation);
	code = run(statement, code);
	if (code != SQLITE_OK)
		return code;
	op->count = (uint64_t)sqlite3_changes(session->db.handle);
	session->meta.dead -= (int64_t)op->count;
	session->changed = session->changed || op->count > 0;
	if (op->id && op->count == 0)
		op->status = DW_ENOENT;
	return SQLITE_OK;
}
