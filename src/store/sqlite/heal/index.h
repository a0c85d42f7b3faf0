/* Compares the indexes with the table of timers. SQLite's quick check does not do this, and a
 * flipped bit in an index hides sound timers, or shows them in a wrong place. The table decides,
 * because its rows have checksums and an index can be made from them. */
#ifndef DW_STORE_SQLITE_INDEX_H
#define DW_STORE_SQLITE_INDEX_H

#include "store/sqlite/operations.h"

/* sqlite_index_verify reads the table and its indexes once. If they differ, it rebuilds the
 * indexes. It also corrects counters that do not match. Returns DW_OK, DW_ESTORE or DW_EFULL; on
 * failure ret_message (DW_MESSAGE_SIZE bytes) says why. */
int sqlite_index_verify(struct sqlite_session *, char *ret_message);

/* sqlite_index_rebuild makes the indexes from the tables, in a transaction of its own. A damaged
 * timer with the id of another timer gets a new id. Returns an SQLite result code. */
int sqlite_index_rebuild(struct sqlite_session *);

#endif
