/* Which process holds the write lock of a database. */
#ifndef DW_STORE_SQLITE_LOCKER_H
#define DW_STORE_SQLITE_LOCKER_H

#include <stddef.h>

/* locker_words names it: "... is locked by process 42 (sqlite3)"; "": nobody, or nobody knows. It
 * reads /proc, and opens no file of the database: to close that would drop SQLite's own locks. */
void locker_words(const char *path, char *ret_words, size_t size);

#endif
