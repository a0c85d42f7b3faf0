/* Handles what can happen to the file of an open store so that it cannot be used any more. */
#ifndef DW_STORE_SQLITE_FATE_H
#define DW_STORE_SQLITE_FATE_H

#include "store/sqlite/transaction.h"

/* sqlite_fate_tell logs why the file cannot be used. It logs the same reason only once. */
__attribute__((format(printf, 2, 3))) void sqlite_fate_tell(struct sqlite_batch *,
							    const char *format, ...);

/* sqlite_fate_lose refuses all operations while the file's name is gone, another file has the name,
 * or this process may not look. The file stays open, so that no other file gets its inode number.
 * Returns an SQLite result code. */
int sqlite_fate_lose(struct sqlite_batch *, enum sqlite_file);

#endif
