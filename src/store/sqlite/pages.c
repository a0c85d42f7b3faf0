#include "store/sqlite/pages.h"

#include "base/usec.h"
#include "port/spans.h"
#include "port/op.h"
#include "store/sqlite/bind.h"
#include "store/sqlite/row.h"
#include "timer/selection.h"

enum { COLUMN_INBOX_GENERATION = 13, COLUMN_INBOX_ID = 14 };
enum { COLUMN_PLACE_DUE = 13, COLUMN_PLACE_GENERATION = 14 };

static dw_row *copy_timer(struct sqlite_session *session, sqlite3_stmt *statement)
{
	struct sqlite_row row = sqlite_row_read(statement);

	return sqlite_row_copy(&session->alloc, &row);
}

static bool is_behind(const dw_cursor *at, const dw_cursor *before)
{
	return !before->started || at->due > before->due ||
	       (at->due == before->due && at->generation > before->generation);
}

/* bind_range binds where the scan begins and ends, and how many rows it looks at. It looks at one
 * row more than it returns, to see whether there are more. */
static int bind_range(sqlite3_stmt *statement, const dw_op *op)
{
	const dw_cursor *after = &op->after;
	int code = sqlite3_bind_int64(statement, 1, after->started ? after->due : INT64_MIN);

	code =
	    code ? code
		 : sqlite3_bind_int64(
		       statement, 2, after->started ? (sqlite3_int64)after->generation : INT64_MIN);
	code = code ? code
		    : sqlite3_bind_int64(statement, 3,
					 op->head.due ? usec_sub(op->head.due, 1) : INT64_MAX);
	return code ? code : sqlite3_bind_int64(statement, 4, (sqlite3_int64)op_looks(op) + 1);
}

/* place_of returns where the row stands in the index of deadlines. `last` is the place before
 * it. */
static dw_cursor place_of(sqlite3_stmt *statement, const dw_cursor *last)
{
	return (dw_cursor){.due = sqlite3_column_int64(statement, COLUMN_PLACE_DUE),
			   .generation =
			       (uint64_t)sqlite3_column_int64(statement, COLUMN_PLACE_GENERATION),
			   .started = 1,
			   .looked = last->looked + 1};
}

/* scan_by_due reads a page of the index of deadlines. In a damaged index the order may lead back,
 * and the scan would never end. So each row must be behind the row before it. */
static int scan_by_due(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_SCAN);
	uint64_t last = op->after.looked + op_looks(op);
	dw_row **tail = &op->rows;
	int code = bind_range(statement, op);

	while (code == SQLITE_OK && op->row_count < op->limit &&
	       (code = sqlite3_step(statement)) == SQLITE_ROW) {
		dw_cursor at = place_of(statement, &op->after);
		dw_row *row;

		code = is_behind(&at, &op->after) ? SQLITE_OK : SQLITE_CORRUPT_INDEX;
		if (code != SQLITE_OK)
			break;
		if (at.looked > last) {
			op->flags |= DW_OP_PART;
			break;
		}
		op->after = at;
		row = copy_timer(session, statement);
		if (row && !selection_has(op, row))
			rows_free(&session->alloc, row);
		else if (!op_add_row(&session->alloc, op, &tail, row))
			break;
	}
	return sqlite_db_finish(statement, code);
}

static int scan_by_generation(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_LOAD);
	int64_t after = op->after.started ? (int64_t)op->after.generation : INT64_MIN;
	dw_row **tail = &op->rows;
	int code = sqlite3_bind_int64(statement, 1, after);

	code = code ? code : sqlite3_bind_int64(statement, 2, limit_of(op));
	while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		code = SQLITE_OK;
		op->after = (dw_cursor){.generation = (uint64_t)sqlite3_column_int64(statement, 0),
					.started = 1};
		if (!op_add_row(&session->alloc, op, &tail, copy_timer(session, statement)))
			break;
	}
	return sqlite_db_finish(statement, code);
}

int sqlite_page_scan(struct sqlite_session *session, dw_op *op)
{
	return op->flags & DW_OP_BY_GENERATION ? scan_by_generation(session, op)
					       : scan_by_due(session, op);
}

/* count_spans steps through the deadlines. It looks at one timer more than it counts, to find out
 * up to which time the counts are complete. A damaged index may return the deadlines in another
 * order. */
static int count_spans(sqlite3_stmt *statement, struct spans *spans, dw_usec *ret_whole_to)
{
	dw_usec last = spans_first(spans);
	int code = SQLITE_OK;

	for (size_t i = 0; (code = sqlite3_step(statement)) == SQLITE_ROW; i++) {
		dw_usec deadline = sqlite3_column_int64(statement, 0);

		if (deadline < last || deadline >= spans_end(spans))
			return SQLITE_CORRUPT_INDEX;
		last = deadline;
		if (i < DW_DUE_LOOKS_MAX)
			spans_add(spans, deadline);
		else
			*ret_whole_to = deadline;
	}
	return code;
}

int sqlite_page_due(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_DUE);
	struct spans spans;
	dw_usec whole_to;
	int code;

	spans_of(op, &spans);
	whole_to = spans_end(&spans);
	code = sqlite3_bind_int64(statement, 1, spans_first(&spans));
	code = code ? code : sqlite3_bind_int64(statement, 2, spans_end(&spans));
	code = code ? code : sqlite3_bind_int64(statement, 3, DW_DUE_LOOKS_MAX + 1);
	code = sqlite_db_finish(statement, code ? code : count_spans(statement, &spans, &whole_to));
	if (code == SQLITE_OK)
		spans_answer(&session->alloc, op, &spans, whole_to);
	return code;
}

/* inbox_row makes the row of an inbox entry: the timer as it is stored now, or a row that says that
 * the timer is gone. */
static dw_row *inbox_row(struct sqlite_session *session, sqlite3_stmt *statement)
{
	dw_row *row;

	if (sqlite3_column_type(statement, 0) != SQLITE_NULL) {
		struct sqlite_row timer = sqlite_row_read(statement);

		return sqlite_row_copy(&session->alloc, &timer);
	}
	row = row_new(&session->alloc,
		      (const char *)sqlite3_column_text(statement, COLUMN_INBOX_ID), NULL, 0);
	if (!row)
		return NULL;
	row->gone = 1;
	row->head.generation = (uint64_t)sqlite3_column_int64(statement, COLUMN_INBOX_GENERATION);
	return row;
}

int sqlite_page_inbox(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_READ);
	uint64_t after = op->after.started ? op->after.generation : 0;
	dw_row **tail = &op->rows;
	int code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)after);

	code = code ? code : sqlite3_bind_int64(statement, 2, limit_of(op));
	if (code != SQLITE_OK)
		return code;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		if (!op_add_row(&session->alloc, op, &tail, inbox_row(session, statement)))
			break;
	return sqlite_db_finish(statement, code);
}

int sqlite_page_ack(struct sqlite_session *session, const dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_ACK);
	int code = bind_text(statement, 1, op->id);

	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)op->head.generation);
	code = run(statement, code);
	if (sqlite3_changes(session->db.handle) > 0)
		session->changed = true;
	return code;
}
