/* One connection to a database of timers: the file, its settings, its statements. It knows neither
 * operations nor the rules of a timer's life. */
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
	dw_usec began;    /* when the current wait began (steady clock) */
	atomic_bool over; /* if true, stop waiting, because the store is stopping */
};

struct sqlite_db {
	enum sqlite_kind kind;
	sqlite3 *handle; /* NULL if the connection is closed */
	sqlite3_stmt *statements[SQL_COUNT];
};

/* sqlite_db_make creates the file with mode 0600, unless it exists. Returns DW_OK, DW_ESTORE or
 * DW_EFULL; on failure ret_message (DW_MESSAGE_SIZE bytes) says why. */
int sqlite_db_make(const char *path, char *ret_message);

/* sqlite_db_find returns DW_OK if the file exists and is not empty, DW_ENOENT if it does not exist,
 * or DW_ESTORE. */
int sqlite_db_find(const char *path, enum sqlite_kind, char *ret_message);

/* sqlite_db_open connects to the file at path, and makes the schema in an empty file. It refuses a
 * file that is not a database of timers. The patience must live as long as the connection. Returns
 * DW_OK, DW_ESTORE, DW_EFULL, or DW_ENEWER if a newer durawheel has made the schema. */
int sqlite_db_open(struct sqlite_db *ret_db, const char *path, enum sqlite_kind,
		   struct sqlite_patience *, char *ret_message);

/* sqlite_db_close closes the connection. With `tidy`, the last connection also copies the
 * write-ahead log into the file. */
void sqlite_db_close(struct sqlite_db *, bool tidy);

/* sqlite_db_verify reads the whole file. Returns DW_OK, DW_ECORRUPT if SQLite finds damage, or
 * DW_ESTORE if the disk fails to read the file. */
int sqlite_db_verify(struct sqlite_db *, char *ret_message);

/* sqlite_db_run runs a statement to its end, and ignores its row, if any. It returns an SQLite
 * result code. */
int sqlite_db_run(struct sqlite_db *, enum sqlite_sql);

/* sqlite_db_finish resets a statement. It returns the code, or SQLITE_OK if the code is DONE or
 * ROW. */
int sqlite_db_finish(sqlite3_stmt *, int code);

/* sqlite_db_cause finds out what an SQLite result code really means. It returns SQLITE_FULL for
 * every code that means a full disk. SQLite itself knows only a write that fails with ENOSPC. It
 * reports a quota, a limit on the size of files, and a file that cannot be mapped as other errors.
 * It returns SQLITE_IOERR_CORRUPTFS for a read that the disk has failed, which SQLite reports as
 * damage. Set errno to 0 before the call that may fail, and call this function right after it. */
int sqlite_db_cause(int code);

/* sqlite_db_is_damage returns true if the code, after a correction by sqlite_db_cause(), means that
 * the file is damaged. */
bool sqlite_db_is_damage(int code);

/* sqlite_db_checkpoint copies the write-ahead log into the file, as far as readers allow. It sets
 * *ret_all to true if all of the log was copied. It returns an SQLite result code. */
int sqlite_db_checkpoint(sqlite3 *, int mode, bool *ret_all);

/* sqlite_db_set applies the settings that every connection to a database of timers has. */
int sqlite_db_set(sqlite3 *, struct sqlite_patience *);

/* sqlite_db_wait lets the connection wait with this patience while another connection writes. */
int sqlite_db_wait(sqlite3 *, struct sqlite_patience *);

#endif
