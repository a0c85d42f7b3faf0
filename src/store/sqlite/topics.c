#include "store/sqlite/topics.h"

#include <string.h>

#include "port/op.h"
#include "store/counts.h"
#include "store/identity.h"
#include "store/sqlite/bind.h"
#include "store/sqlite/queue.h"
#include "topic/settings.h"

enum { COLUMN_NUMBER, COLUMN_SETTINGS, COLUMN_MESSAGES, COLUMN_DROPPED, COLUMN_EXPIRED };

/* ---- Changes ------------------------------------------------------------------------------- */

static int write_settings(struct sqlite_session *session, dw_op *op, bool exists,
			  const dw_topic_settings *settings)
{
	sqlite3_stmt *statement =
	    statement_of(session, exists ? SQL_TOPIC_UPDATE : SQL_TOPIC_INSERT);
	char text[SETTINGS_TEXT_SIZE];
	int code = bind_text(statement, 1, op->topic);

	(void)settings_write(settings, text);
	code = code ? code : bind_text(statement, 2, text);
	code =
	    code ? code : sqlite3_bind_int(statement, 3, (settings->paused & DW_PAUSE_INTAKE) != 0);
	code = code ? code : sqlite3_bind_int64(statement, 4, settings->keep_us);
	if (!exists)
		code = code ? code : sqlite3_bind_int(statement, 5, DW_TOPICS_MAX);
	code = run(statement, code);
	if (code == SQLITE_OK && sqlite3_changes(session->db.handle) == 0)
		op->status = DW_ELIMIT;
	return code;
}

int sqlite_topics_set(struct sqlite_session *session, dw_op *op, bool *ret_changed)
{
	struct sqlite_topic topic;
	int code = sqlite_topic_find(session, op->topic, &topic);

	if (code != SQLITE_OK)
		return code;
	if (!(op->flags & DW_OP_PART))
		topic.settings = (dw_topic_settings){0};
	settings_read(&topic.settings, op->body, op->body_size);
	session->closed = session->keeping = -1;
	code = write_settings(session, op, topic.number != 0, &topic.settings);
	*ret_changed = code == SQLITE_OK && op->status == DW_OK;
	return code;
}

int sqlite_topics_drop(struct sqlite_session *session, dw_op *op, bool *ret_changed)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TOPIC_DELETE);
	struct sqlite_topic topic;
	int code = sqlite_topic_find(session, op->topic, &topic);

	*ret_changed = code == SQLITE_OK && topic.number != 0 && topic.messages == 0;
	if (code == SQLITE_OK && !*ret_changed)
		op->status = topic.number ? DW_EBUSY : DW_ENOENT;
	if (!*ret_changed)
		return code;
	session->closed = session->keeping = -1;
	return run(statement, sqlite3_bind_int64(statement, 1, topic.number));
}

/* ---- The list ------------------------------------------------------------------------------ */

static dw_row *row_of(struct sqlite_session *session, sqlite3_stmt *statement, int *ret_code)
{
	struct sqlite_topic topic = {.number = sqlite3_column_int64(statement, COLUMN_NUMBER),
				     .messages = sqlite3_column_int64(statement, COLUMN_MESSAGES),
				     .dropped = sqlite3_column_int64(statement, COLUMN_DROPPED),
				     .expired = sqlite3_column_int64(statement, COLUMN_EXPIRED)};
	const char *name = (const char *)sqlite3_column_text(statement, 5);
	size_t size = (size_t)sqlite3_column_bytes(statement, COLUMN_SETTINGS);
	char text[2 * SETTINGS_TEXT_SIZE] = "";

	/* A text longer than any that we write is damaged. */
	size = size < SETTINGS_TEXT_SIZE ? size : 0;
	if (size)
		memcpy(text, sqlite3_column_text(statement, COLUMN_SETTINGS), size);
	if (topic.messages > 0 || topic.dropped > 0 || topic.expired > 0)
		*ret_code = sqlite_queue_numbers(session, &topic, text + size, sizeof text - size);
	return row_new(&session->alloc, name ? name : "", text, strlen(text));
}

enum { OWNER_TOPICS, OWNER_PID, OWNER_START, OWNER_BOOT };

/* add_counts adds the owner's counts to the rows. It does so only while the owner lives. */
static int add_counts(struct sqlite_session *session, dw_op *op, dw_row **tail)
{
	sqlite3_stmt *statement = statement_of(session, SQL_COUNTS_READ);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW &&
	    identity_lives(sqlite3_column_int64(statement, OWNER_PID),
			   sqlite3_column_int64(statement, OWNER_START),
			   (const char *)sqlite3_column_text(statement, OWNER_BOOT)))
		(void)counts_add_rows(&session->alloc, op, &tail,
				      (const char *)sqlite3_column_text(statement, OWNER_TOPICS),
				      (size_t)sqlite3_column_bytes(statement, OWNER_TOPICS));
	return sqlite_db_finish(statement, code);
}

int sqlite_topics_list(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TOPIC_SCAN);
	dw_row **tail = &op->rows;
	int code;

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		int numbers = SQLITE_OK;

		if (!op_add_row(&session->alloc, op, &tail, row_of(session, statement, &numbers)))
			break;
		if (numbers != SQLITE_OK) {
			code = numbers;
			break;
		}
	}
	code = sqlite_db_finish(statement, code);
	return code || op->status != DW_OK ? code : add_counts(session, op, tail);
}

int sqlite_topics_count(struct sqlite_session *session, const dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_COUNTS_WRITE);

	session->changed = true;
	return run(statement, sqlite3_bind_text64(statement, 1, op->body_size ? op->body : "",
						  op->body_size, SQLITE_STATIC, SQLITE_UTF8));
}

/* ---- What puts and ends ask about a topic -------------------------------------------------- */

/* find_closed sets *ret_closed to true if the topic is paused and takes no puts. If topic is NULL,
 * it does this if there is any such topic. */
static int find_closed(struct sqlite_session *session, const char *topic, bool *ret_closed)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TOPIC_CLOSED);
	int code = bind_text(statement, 1, topic);

	code = code ? code : sqlite3_step(statement);
	*ret_closed = code == SQLITE_ROW;
	return sqlite_db_finish(statement, code);
}

int sqlite_topics_closed(struct sqlite_session *session, const char *topic, bool *ret_closed)
{
	bool some = session->closed > 0;
	int code = session->closed < 0 ? find_closed(session, NULL, &some) : SQLITE_OK;

	*ret_closed = false;
	if (code != SQLITE_OK)
		return code;
	session->closed = some;
	return some ? find_closed(session, topic, ret_closed) : SQLITE_OK;
}

/* read_number reads the first column of the statement's row. The number is 0 if there is no row. */
static int read_number(sqlite3_stmt *statement, int code, sqlite3_int64 *ret_number)
{
	*ret_number = 0;
	code = code ? code : sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(statement, 0);
	return sqlite_db_finish(statement, code);
}

int sqlite_topics_keep(struct sqlite_session *session, const char *topic, dw_usec *ret_keep)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TOPIC_KEEP);
	sqlite3_int64 number = session->keeping;
	int code = SQLITE_OK;

	*ret_keep = 0;
	if (session->keeping < 0)
		code = read_number(statement_of(session, SQL_TOPIC_KEEPS), code, &number);
	if (code != SQLITE_OK)
		return code;
	session->keeping = number != 0;
	if (number == 0)
		return SQLITE_OK;
	code = read_number(statement, bind_text(statement, 1, topic), &number);
	*ret_keep = number;
	return code;
}
