#include "store/sqlite/heal/rescue_topics.h"

#include <stdbool.h>
#include <stddef.h>

#include "store/sqlite/database.h"

/* A table whose rows are copied without a check. A topic can be set again, the body of a message is
 * checked when the message is taken, and an end is only shown to people. */
struct plain {
	const char *all, *insert;
	int columns;
};

static const struct plain topics = {.all = "SELECT * FROM topic NOT INDEXED",
				    .insert = "INSERT INTO topic VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
				    .columns = 8};
static const struct plain messages = {
    .all = "SELECT * FROM message NOT INDEXED",
    .insert = "INSERT INTO message VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    .columns = 10};
static const struct plain ends = {.all = "SELECT * FROM ended NOT INDEXED",
				  .insert = "INSERT INTO ended VALUES(?, ?, ?, ?)",
				  .columns = 4};

/* copy_row copies a row. If a flipped bit has changed a type or a key, the new table may refuse the
 * row. Then copy_row only counts the row. */
static int copy_row(sqlite3_stmt *all, sqlite3_stmt *insert, int columns, int64_t *unreadable)
{
	int code = SQLITE_OK;

	for (int i = 0; code == SQLITE_OK && i < columns; i++)
		code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(all, i));
	code = code ? code : sqlite3_step(insert);
	(void)sqlite3_reset(insert); /* returns the code again */
	if ((code & 0xff) == SQLITE_CONSTRAINT) {
		++*unreadable;
		return SQLITE_OK;
	}
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int copy(sqlite3 *from, sqlite3 *to, const struct plain *table, int64_t *unreadable)
{
	sqlite3_stmt *all = NULL, *insert = NULL;
	int code = sqlite3_prepare_v2(from, table->all, -1, &all, NULL);

	code = code ? code : sqlite3_prepare_v2(to, table->insert, -1, &insert, NULL);
	while (code == SQLITE_OK && (code = sqlite3_step(all)) == SQLITE_ROW)
		code = copy_row(all, insert, table->columns, unreadable);
	(void)sqlite3_finalize(all);    /* returns an earlier error again */
	(void)sqlite3_finalize(insert); /* returns an earlier error again */
	*unreadable += sqlite_db_is_damage(code);
	return code == SQLITE_DONE || sqlite_db_is_damage(code) ? SQLITE_OK : code;
}

/* The messages are counted again, because some may be lost. */
int sqlite_rescue_topics(sqlite3 *from, sqlite3 *to, int64_t *unreadable)
{
	int code = copy(from, to, &topics, unreadable);

	code = code ? code : copy(from, to, &messages, unreadable);
	code = code ? code : copy(from, to, &ends, unreadable);
	return code ? code : sqlite3_exec(to, SCHEMA_RECOUNT, NULL, NULL, NULL);
}
