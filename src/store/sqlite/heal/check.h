/* Checks the whole database for damage. */
#ifndef DW_STORE_SQLITE_CHECK_H
#define DW_STORE_SQLITE_CHECK_H

#include "store/sqlite/operations.h"

/* sqlite_check answers a CHECK: the status, and the flaws. It adds a row for each flaw, at most
 * DW_FLAWS_MAX rows, and counts all flaws. It reads everything inside one transaction, so that all
 * that it compares belongs to one moment. */
int sqlite_check(struct sqlite_session *, dw_op *);

#endif
