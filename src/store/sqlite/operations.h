/* What each operation does inside a transaction of the database. The rules are life_take()'s; this
 * is how they are carried out in SQL. Results are SQLite codes: anything but SQLITE_OK means that
 * the transaction must be rolled back. */
#ifndef DW_STORE_SQLITE_OPERATIONS_H
#define DW_STORE_SQLITE_OPERATIONS_H

#include "store/sqlite/meta.h"

/* sqlite_ops_writes: whether the operation may write. */
bool sqlite_ops_writes(const dw_op *);

/* sqlite_ops_apply fills the answer. */
int sqlite_ops_apply(struct sqlite_session *, dw_op *);

/* sqlite_ops_failed: the answer to an operation whose transaction failed with an SQLite code and
 * was not done. */
int sqlite_ops_failed(const dw_op *, int code);

#endif
