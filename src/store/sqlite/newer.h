/* What a newer durawheel has written into the database: an older one must not own it, nor empty
 * it. */
#ifndef DW_STORE_SQLITE_NEWER_H
#define DW_STORE_SQLITE_NEWER_H

#include "store/sqlite/bind.h"

/* sqlite_newer_store: *ret_status is DW_ENEWER if the schema, or a timer, is a newer durawheel's;
 * else it is left as it is. An SQLite result code. Reads every timer. */
int sqlite_newer_store(struct sqlite_session *, int *ret_status);

/* sqlite_newer_dead: the same of dead letters: those that a DROP is about. */
int sqlite_newer_dead(struct sqlite_session *, const dw_op *, int *ret_status);

/* sqlite_newer_any: both, for a PURGE; its status says so. */
int sqlite_newer_any(struct sqlite_session *, dw_op *purge);

#endif
