/* What is in the file: its tables, and every statement that is run on them. */
#ifndef DW_STORE_SQLITE_SCHEMA_H
#define DW_STORE_SQLITE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* What a file is of: a store, or the journal of one in Redis. Both have the same tables. */
enum sqlite_kind {
	SQLITE_KIND_TIMERS = 0x44775431, /* "DwT1" */
	SQLITE_KIND_JOURNAL = 0x44774a31 /* "DwJ1" */
};

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
	SQL_TIMER_DELETE,
	SQL_TIMER_CLEAR,
	SQL_TIMER_SCAN,
	SQL_TIMER_LOAD,
	SQL_TIMER_NEXT_DUE,
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
	SQL_TIMER_FROM_DEAD,
	SQL_OWNER_READ,
	SQL_OWNER_WRITE,
	SQL_OWNER_REPORT,
	SQL_DATA_VERSION,
	SQL_SCHEMA_VERSION,
	SQL_COUNT
};

/* All return SQLite result codes. *ret_why says, if it is set, why the file is not used; then its
 * schema is left as it is. SQLITE_MISMATCH: a newer durawheel has made the schema.
 *
 * sqlite_schema_read: *ret_version is 0 for an empty file. sqlite_schema_make makes the schema
 * unless another process has just done it. */
int sqlite_schema_read(sqlite3 *, enum sqlite_kind, sqlite3_int64 *ret_version,
		       const char **ret_why);
int sqlite_schema_make(sqlite3 *, enum sqlite_kind, const char **ret_why);

/* sqlite_schema_is_whole: each table and index of ours is in the file as we make it. Otherwise one
 * flipped bit in the text of a table would make every timer look damaged. */
int sqlite_schema_is_whole(sqlite3 *, bool *ret_whole);

/* sqlite_schema_prepare: ret_statements has room for SQL_COUNT. */
int sqlite_schema_prepare(sqlite3 *, sqlite3_stmt **ret_statements);

/* sqlite_schema_is_newer: the version is one of a newer durawheel. */
bool sqlite_schema_is_newer(int64_t version);

#endif
