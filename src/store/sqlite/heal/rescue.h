/* Rescues a damaged file. It rebuilds the file from the rows that can be read. */
#ifndef DW_STORE_SQLITE_RESCUE_H
#define DW_STORE_SQLITE_RESCUE_H

#include "store/sqlite/meta.h"

/* sqlite_rescue needs a caller that owns the database and has no transaction open. Every row that
 * can be read stays as it is. A row that cannot be read is replaced by a damaged timer or letter;
 * then the damaged file is kept beside the new one. On entry ret_message (DW_MESSAGE_SIZE bytes)
 * describes the damage. Returns DW_OK, DW_ESTORE or DW_EFULL; after a failure ret_message says why
 * nothing was written. */
int sqlite_rescue(struct sqlite_session *, char *ret_message);

#endif
