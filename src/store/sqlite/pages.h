/* Reads timers a page at a time: either all timers, or those that clients have changed. The
 * functions return SQLite codes. */
#ifndef DW_STORE_SQLITE_PAGES_H
#define DW_STORE_SQLITE_PAGES_H

#include "store/sqlite/meta.h"

/* sqlite_page_scan answers a SCAN. The rows come by deadline, or in the order of the table. */
int sqlite_page_scan(struct sqlite_session *, dw_op *);

/* sqlite_page_due answers a DUE by the index of deadlines. */
int sqlite_page_due(struct sqlite_session *, dw_op *);

/* sqlite_page_inbox answers an INBOX. The answer has no rows if no client has changed anything.
 * sqlite_page_ack deletes the entries that the owner has read. */
int sqlite_page_inbox(struct sqlite_session *, dw_op *);
int sqlite_page_ack(struct sqlite_session *, const dw_op *);

#endif
