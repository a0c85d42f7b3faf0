/* Finds the process that holds the write lock of a database. */
#ifndef DW_STORE_SQLITE_LOCKER_H
#define DW_STORE_SQLITE_LOCKER_H

#include <stddef.h>

/* locker_words names that process, as in "... is locked by process 42 (sqlite3)". It writes "" if
 * no process holds the lock, or if it cannot find out. It reads /proc, and opens no file of the
 * database, because closing that file would drop SQLite's own locks. */
void locker_words(const char *path, char *ret_words, size_t size);

#endif
