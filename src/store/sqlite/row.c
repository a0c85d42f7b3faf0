#include "store/sqlite/row.h"

#include <string.h>

#include "port/op.h"
#include "timer/record.h"

/* The columns of a statement that reads a timer, in their order. */
enum { GENERATION, ID, TOPIC, DUE, STATE, ATTEMPT, RETRIES, CRASHES, OPEN, CLAIM, SEAL, BODY, WHY };

static bool is_text(sqlite3_stmt *statement, int column, const char *text, size_t size)
{
	const unsigned char *found = sqlite3_column_text(statement, column);

	return found && (size_t)sqlite3_column_bytes(statement, column) == size &&
	       memcmp(found, text, size) == 0;
}

/* fits returns true if each number is in the range of its field. A number out of range would be cut
 * to another number. */
static bool fits(sqlite3_stmt *statement)
{
	for (int column = ATTEMPT; column <= CRASHES; column++) {
		sqlite3_int64 number = sqlite3_column_int64(statement, column);

		if (number < 0 || number > UINT32_MAX)
			return false;
	}
	return (sqlite3_column_int64(statement, STATE) & ~1LL) == 0 &&
	       (sqlite3_column_int64(statement, OPEN) & ~1LL) == 0;
}

/* look checks a row. Returns DW_OK, DW_ECORRUPT or DW_ENEWER. */
static int look(sqlite3_stmt *statement, const struct sqlite_row *row)
{
	struct record record;
	int status = DW_ECORRUPT;

	if (fits(statement))
		status = record_decode(row->body, row->body_size, &record);
	if (status == DW_ECORRUPT ||
	    (!record_is_nameless(&record) &&
	     (!is_text(statement, ID, record.id, record.id_size) ||
	      !is_text(statement, TOPIC, record.topic, record.topic_size))) ||
	    record_seal(&row->record.head, row->record.claim, row->body) !=
		sqlite3_column_int64(statement, SEAL))
		return DW_ECORRUPT;
	return status;
}

struct sqlite_row sqlite_row_read(sqlite3_stmt *statement)
{
	struct sqlite_row row = {0};
	dw_head *head = &row.record.head;
	int status;

	row.id = (const char *)sqlite3_column_text(statement, ID);
	row.id_size = (size_t)sqlite3_column_bytes(statement, ID);
	row.body = sqlite3_column_blob(statement, BODY);
	row.body_size = (size_t)sqlite3_column_bytes(statement, BODY);
	row.why.text = (const char *)sqlite3_column_text(statement, WHY);
	row.why.size = (size_t)sqlite3_column_bytes(statement, WHY);
	row.record.claim = (uint64_t)sqlite3_column_int64(statement, CLAIM);
	head->generation = (uint64_t)sqlite3_column_int64(statement, GENERATION);
	head->due = sqlite3_column_int64(statement, DUE);
	head->attempt = (uint32_t)sqlite3_column_int64(statement, ATTEMPT);
	head->retries = (uint32_t)sqlite3_column_int64(statement, RETRIES);
	head->crashes = (uint32_t)sqlite3_column_int64(statement, CRASHES);
	head->state = (uint8_t)sqlite3_column_int64(statement, STATE);
	head->open = (uint8_t)sqlite3_column_int64(statement, OPEN);
	status = look(statement, &row);
	row.record.damaged = status == DW_ECORRUPT;
	row.record.newer = status == DW_ENEWER;
	return row;
}

dw_row *sqlite_row_copy(const struct alloc *alloc, const struct sqlite_row *row)
{
	const char *id = row->id ? row->id : "";
	dw_row *copy = row_new_told(alloc, id, row->body, row->body_size, &row->why);

	if (!copy)
		return NULL;
	copy->head = row->record.head;
	copy->status = row->record.damaged ? DW_ECORRUPT : row->record.newer ? DW_ENEWER : DW_OK;
	return copy;
}

int sqlite_row_bind(sqlite3_stmt *statement, const struct life_record *record, uint32_t seal)
{
	const dw_head *head = &record->head;
	const sqlite3_int64 numbers[] = {head->due,
					 head->state,
					 head->attempt,
					 head->retries,
					 head->crashes,
					 head->open,
					 (sqlite3_int64)record->claim,
					 seal,
					 (sqlite3_int64)head->generation};
	int code = SQLITE_OK;

	for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers) && code == SQLITE_OK; i++)
		code = sqlite3_bind_int64(statement, i + 1, numbers[i]);
	return code;
}
