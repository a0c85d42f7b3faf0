/* Finds what a newer durawheel has written into the database. This version must not own such a
 * database, and must not empty it. */
#ifndef DW_STORE_SQLITE_NEWER_H
#define DW_STORE_SQLITE_NEWER_H

#include "store/sqlite/bind.h"

/* sqlite_newer_store reads every timer. If the schema or a timer is a newer durawheel's,
 * *ret_status is DW_ENEWER; else it is left as it is. It returns an SQLite result code. */
int sqlite_newer_store(struct sqlite_session *, int *ret_status);

/* sqlite_newer_dead does the same with the dead letters that a DROP names. */
int sqlite_newer_dead(struct sqlite_session *, const dw_op *, int *ret_status);

/* sqlite_newer_any does both for a PURGE, and sets its status. */
int sqlite_newer_any(struct sqlite_session *, dw_op *purge);

#endif
