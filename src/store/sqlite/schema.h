/* The tables of the file, and every statement that runs on them. */
#ifndef DW_STORE_SQLITE_SCHEMA_H
#define DW_STORE_SQLITE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* The two kinds of files: a store, or the journal of a store in Redis. Both have the same
 * tables. */
enum sqlite_kind {
	SQLITE_KIND_TIMERS = 0x44775431, /* the characters "DwT1" */
	SQLITE_KIND_JOURNAL = 0x44774a31 /* the characters "DwJ1" */
};

/* SQL that counts the messages of each queue again. */
#define SCHEMA_RECOUNT                                                                             \
	"UPDATE topic SET messages = (SELECT count(*) FROM message WHERE message.topic ="          \
	" topic.number)"

enum sqlite_sql {
	SQL_BEGIN_WRITE,
	SQL_BEGIN_READ,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_META_READ,
	SQL_META_WRITE,
	SQL_META_RECOUNT,
	SQL_TIMER_BY_ID,
	SQL_TIMER_BY_GENERATION,
	SQL_TIMER_INSERT,
	SQL_TIMER_UPDATE,
	SQL_TIMER_MOVE,
	SQL_TIMER_RENEW,
	SQL_TIMER_TELL,
	SQL_TIMER_DELETE,
	SQL_TIMER_CLEAR,
	SQL_TIMER_SCAN,
	SQL_TIMER_LOAD,
	SQL_TIMER_NEXT_DUE,
	SQL_TIMER_DUE,
	SQL_TIMER_NEWER,
	SQL_INBOX_READ,
	SQL_INBOX_WRITE,
	SQL_INBOX_IS_OPEN,
	SQL_INBOX_ACK,
	SQL_INBOX_COUNT,
	SQL_INBOX_CLEAR,
	SQL_DEAD_INSERT,
	SQL_DEAD_OLDEST,
	SQL_DEAD_DELETE,
	SQL_DEAD_FIND,
	SQL_DEAD_SCAN,
	SQL_DEAD_DROP,
	SQL_DEAD_CLEAR,
	SQL_DEAD_NEWER,
	SQL_ENDED_WRITE,
	SQL_ENDED_FIND,
	SQL_ENDED_OLDEST,
	SQL_ENDED_DELETE,
	SQL_ENDED_UNTIL,
	SQL_ENDED_CLEAR,
	SQL_TIMER_FROM_DEAD,
	SQL_OWNER_READ,
	SQL_OWNER_WRITE,
	SQL_OWNER_REPORT,
	SQL_TOPIC_FIND,
	SQL_TOPIC_SCAN,
	SQL_TOPIC_INSERT,
	SQL_TOPIC_UPDATE,
	SQL_TOPIC_TALLY,
	SQL_TOPIC_RECOUNT,
	SQL_TOPIC_DELETE,
	SQL_TOPIC_CLOSED,
	SQL_TOPIC_KEEPS,
	SQL_TOPIC_KEEP,
	SQL_TOPIC_EMPTY,
	SQL_COUNTS_READ,
	SQL_COUNTS_WRITE,
	SQL_MESSAGE_INSERT,
	SQL_MESSAGE_READY,
	SQL_MESSAGE_FIND,
	SQL_MESSAGE_FIRST,
	SQL_MESSAGE_COMES,
	SQL_MESSAGE_COUNT,
	SQL_MESSAGE_PLACE,
	SQL_MESSAGE_DELETE,
	SQL_MESSAGE_CLEAR,
	SQL_MESSAGE_AHEAD,
	SQL_MESSAGE_FORWARD,
	SQL_LETTER_INSERT,
	SQL_DATA_VERSION,
	SQL_SCHEMA_VERSION,
	SQL_COUNT
};

/* These functions return SQLite result codes. If they set *ret_why, it says why the file is not
 * used, and its schema is left as it is. SQLITE_MISMATCH means that a newer durawheel has made the
 * schema.
 *
 * sqlite_schema_read reads the version of the schema. The version is 0 for an empty file.
 * sqlite_schema_make makes the schema, unless another process has just made it. */
int sqlite_schema_read(sqlite3 *, enum sqlite_kind, sqlite3_int64 *ret_version,
		       const char **ret_why);
int sqlite_schema_make(sqlite3 *, enum sqlite_kind, const char **ret_why);

/* sqlite_schema_is_whole sets *ret_whole to true if the file has each of our tables and indexes,
 * with the same SQL text. A flipped bit in the text of a table would make every timer look
 * damaged. */
int sqlite_schema_is_whole(sqlite3 *, bool *ret_whole);

/* sqlite_schema_prepare prepares all statements. ret_statements must have space for SQL_COUNT
 * statements. */
int sqlite_schema_prepare(sqlite3 *, sqlite3_stmt **ret_statements);

/* sqlite_schema_is_newer returns true if a newer durawheel makes schemas of this version. */
bool sqlite_schema_is_newer(int64_t version);

#endif
