/* Finds what a newer durawheel has written into the database. This version must not own such a
 * database, and must not empty it. */
#ifndef DW_STORE_SQLITE_NEWER_H
#define DW_STORE_SQLITE_NEWER_H

#include "store/sqlite/bind.h"

/* sqlite_newer_store reads every timer. If a newer durawheel has written the schema or a timer, it
 * sets *ret_status to DW_ENEWER. Otherwise it leaves *ret_status alone. Returns an SQLite result
 * code. */
int sqlite_newer_store(struct sqlite_session *, int *ret_status);

/* sqlite_newer_dead looks in the same way at the dead letters that a DROP names. */
int sqlite_newer_dead(struct sqlite_session *, const dw_op *, int *ret_status);

/* sqlite_newer_any looks at both timers and dead letters for a PURGE, and sets the PURGE's
 * status. */
int sqlite_newer_any(struct sqlite_session *, dw_op *purge);

#endif
