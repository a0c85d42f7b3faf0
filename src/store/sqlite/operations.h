/* Applies operations inside a transaction of the database. life_take() has the rules; this part
 * writes their result by SQL. The functions return SQLite codes. If the code is not SQLITE_OK, the
 * transaction must be rolled back. */
#ifndef DW_STORE_SQLITE_OPERATIONS_H
#define DW_STORE_SQLITE_OPERATIONS_H

#include "store/sqlite/meta.h"

/* sqlite_ops_writes returns true if the operation may write. */
bool sqlite_ops_writes(const dw_op *);

/* sqlite_ops_apply does the operation inside the current transaction, and fills in its answer. */
int sqlite_ops_apply(struct sqlite_session *, dw_op *);

/* sqlite_ops_failed returns the status of an operation that was not done because its transaction
 * failed with this SQLite code. */
int sqlite_ops_failed(const dw_op *, int code);

#endif
