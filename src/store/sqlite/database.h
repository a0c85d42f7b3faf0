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
	dw_usec began;    /* steady; when the current wait began */
	atomic_bool over; /* true: stop waiting, because the store is stopping */
};

struct sqlite_db {
	enum sqlite_kind kind;
	sqlite3 *handle; /* NULL: closed */
	sqlite3_stmt *statements[SQL_COUNT];
};

/* sqlite_db_make creates the file with mode 0600, unless it exists. On failure ret_message
 * (DW_MESSAGE_SIZE) says why. DW_OK, DW_ESTORE, DW_EFULL. */
int sqlite_db_make(const char *path, char *ret_message);

/* sqlite_db_find looks whether the file exists and is not empty. DW_OK: it does. DW_ENOENT,
 * DW_ESTORE. */
int sqlite_db_find(const char *path, enum sqlite_kind, char *ret_message);

/* sqlite_db_open connects to the file at path, and makes the schema in an empty file. It refuses a
 * file that is not a database of timers. The patience must live as long as the connection. DW_OK,
 * DW_ESTORE, DW_EFULL; DW_ENEWER: a newer durawheel has made the schema. */
int sqlite_db_open(struct sqlite_db *ret_db, const char *path, enum sqlite_kind,
		   struct sqlite_patience *, char *ret_message);

/* sqlite_db_close closes the connection. tidy: if it is the last one, it also copies the
 * write-ahead log into the file. */
void sqlite_db_close(struct sqlite_db *, bool tidy);

/* sqlite_db_verify reads all of the file. DW_OK; DW_ECORRUPT: SQLite finds damage; DW_ESTORE: the
 * disk fails to read it. */
int sqlite_db_verify(struct sqlite_db *, char *ret_message);

/* sqlite_db_run runs a statement to its end, and ignores its row, if any. It returns an SQLite
 * result code. */
int sqlite_db_run(struct sqlite_db *, enum sqlite_sql);

/* sqlite_db_finish resets a statement. It returns the code, but SQLITE_OK instead of DONE and
 * ROW. */
int sqlite_db_finish(sqlite3_stmt *, int code);

/* sqlite_db_cause returns SQLITE_FULL for every code that means a full disk. SQLite itself knows
 * only a write that fails with ENOSPC. It reports a quota, a limit on the size of files, and a file
 * that cannot be mapped as other errors. It returns SQLITE_IOERR_CORRUPTFS for a read that the disk
 * has failed, which SQLite reports as damage. Set errno to 0 before the call that may fail, and
 * call this right after it. */
int sqlite_db_cause(int code);

/* sqlite_db_is_damage returns true if the code means that the file is damaged, as sqlite_db_cause()
 * tells. */
bool sqlite_db_is_damage(int code);

/* sqlite_db_checkpoint copies the write-ahead log into the file, as far as readers allow. *ret_all:
 * all of it was copied. It returns an SQLite result code. */
int sqlite_db_checkpoint(sqlite3 *, int mode, bool *ret_all);

/* sqlite_db_set applies the settings that every connection to a database of timers has. */
int sqlite_db_set(sqlite3 *, struct sqlite_patience *);

/* sqlite_db_wait lets the connection wait with this patience while another one writes. */
int sqlite_db_wait(sqlite3 *, struct sqlite_patience *);

#endif
