/* Looking through the whole database for damage. */
#ifndef DW_STORE_SQLITE_CHECK_H
#define DW_STORE_SQLITE_CHECK_H

#include "store/sqlite/operations.h"

/* sqlite_check adds a row for each flaw it finds, DW_FLAWS_MAX at most, and counts all of them. It
 * reads everything, inside one transaction: what it compares belongs together. */
int sqlite_check(struct sqlite_session *, dw_op *);

#endif
