/* Reads timers a page at a time: all of them, or those that clients have changed. Results are
 * SQLite codes. */
#ifndef DW_STORE_SQLITE_PAGES_H
#define DW_STORE_SQLITE_PAGES_H

#include "store/sqlite/meta.h"

/* sqlite_page_scan answers a SCAN: by deadline, or in the order of the table. */
int sqlite_page_scan(struct sqlite_session *, dw_op *);

/* sqlite_page_inbox answers an INBOX; without rows if no client has changed anything.
 * sqlite_page_ack deletes what the owner has read. */
int sqlite_page_inbox(struct sqlite_session *, dw_op *);
int sqlite_page_ack(struct sqlite_session *, const dw_op *);

#endif
