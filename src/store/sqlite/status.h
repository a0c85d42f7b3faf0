/* The store's status, and the report of its owner. The functions return SQLite codes. */
#ifndef DW_STORE_SQLITE_STATUS_H
#define DW_STORE_SQLITE_STATUS_H

#include "store/sqlite/meta.h"

/* sqlite_status_read answers a STATUS: how many timers there are, and who owns the file. */
int sqlite_status_read(struct sqlite_session *, dw_op *);

/* sqlite_status_report stores the owner's REPORT, and drops dead letters that are too old. */
int sqlite_status_report(struct sqlite_session *, dw_op *);

#endif
