/* Whether the indexes hold what the table of timers holds. SQLite's quick check does not compare
 * them; a flipped bit in an index hides sound timers, or shows them in another's place. The table
 * decides: its rows have checksums, and an index can be made from them. */
#ifndef DW_STORE_SQLITE_INDEX_H
#define DW_STORE_SQLITE_INDEX_H

#include "store/sqlite/operations.h"

/* sqlite_index_verify reads the table and its indexes once. Where they differ it rebuilds the
 * indexes, and counters that do not match are counted afresh. DW_OK, DW_ESTORE, DW_EFULL;
 * ret_message (DW_MESSAGE_SIZE) says why. */
int sqlite_index_verify(struct sqlite_session *, char *ret_message);

/* sqlite_index_rebuild makes the indexes from the tables, in a transaction of its own. A damaged
 * timer that has another one's id gets a new one. An SQLite result code. */
int sqlite_index_rebuild(struct sqlite_session *);

#endif
