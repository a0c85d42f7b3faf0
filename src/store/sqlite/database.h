/* One connection to a database of timers: the file, its settings, its statements. It knows no
 * operation and no rule of a timer's life. */
#ifndef DW_STORE_SQLITE_DATABASE_H
#define DW_STORE_SQLITE_DATABASE_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"
#include "store/sqlite/schema.h"

/* How long a connection waits while another process writes. */
struct sqlite_patience {
	dw_usec most;
	dw_usec began;    /* of the wait under way, on the steady clock */
	atomic_bool over; /* give up now: the store is stopping */
};

struct sqlite_db {
	enum sqlite_kind kind;
	sqlite3 *handle; /* NULL: closed */
	sqlite3_stmt *statements[SQL_COUNT];
};

/* sqlite_db_make makes the file with mode 0600, unless it exists. On failure ret_message
 * (DW_MESSAGE_SIZE) says why. DW_OK, DW_ESTORE, DW_EFULL. */
int sqlite_db_make(const char *path, char *ret_message);

/* sqlite_db_find: DW_OK: the file exists and is not empty. DW_ENOENT, DW_ESTORE. */
int sqlite_db_find(const char *path, char *ret_message);

/* sqlite_db_open connects to the file at path, makes the schema in an empty one and refuses what is
 * no database of timers. The patience lives as long as the connection. DW_OK, DW_ESTORE,
 * DW_EFULL; DW_ENEWER: a newer durawheel has made the schema. */
int sqlite_db_open(struct sqlite_db *ret_db, const char *path, enum sqlite_kind,
		   struct sqlite_patience *, char *ret_message);

/* sqlite_db_close: tidy also takes the write-ahead log into the file, if this is the last
 * connection. */
void sqlite_db_close(struct sqlite_db *, bool tidy);

/* sqlite_db_verify: DW_OK; DW_ESTORE: SQLite finds the file damaged. Reads all of it. */
int sqlite_db_verify(struct sqlite_db *, char *ret_message);

/* sqlite_db_run: one statement to its end, its row if any ignored. An SQLite result code. */
int sqlite_db_run(struct sqlite_db *, enum sqlite_sql);

/* sqlite_db_finish resets a statement; SQLITE_OK in place of DONE and ROW. */
int sqlite_db_finish(sqlite3_stmt *, int code);

/* sqlite_db_cause: SQLITE_FULL in the place of a code that means it. SQLite knows only the ENOSPC
 * of a write as a full disk; a quota, a limit on the size of files and a file that cannot be mapped
 * are errors of some other kind to it. To be asked at once after the call that failed, with errno 0
 * before it. */
int sqlite_db_cause(int code);

/* sqlite_db_checkpoint copies the write-ahead log into the file, as far as readers allow. *ret_all:
 * all of it was copied. An SQLite result code. */
int sqlite_db_checkpoint(sqlite3 *, int mode, bool *ret_all);

/* sqlite_db_set: the settings every connection to a database of timers has. */
int sqlite_db_set(sqlite3 *, struct sqlite_patience *);

#endif
