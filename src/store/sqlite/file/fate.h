/* What happened to the file of a store that is open, so that it cannot be used. */
#ifndef DW_STORE_SQLITE_FATE_H
#define DW_STORE_SQLITE_FATE_H

#include "store/sqlite/transaction.h"

/* sqlite_fate_tell logs why the file cannot be used: once, and again if the reason is another
 * one. */
__attribute__((format(printf, 2, 3))) void sqlite_fate_tell(struct sqlite_batch *,
							    const char *format, ...);

/* sqlite_fate_lose refuses all operations while the file's name is gone, another file has it, or
 * this process may not look. The file stays open, so that no other file gets its inode number.
 * Returns SQLite's result code. */
int sqlite_fate_lose(struct sqlite_batch *, enum sqlite_file);

#endif
