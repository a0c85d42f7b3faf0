/* Scans: pages in order over all shards. */
#ifndef DW_STORE_REDIS_SCAN_H
#define DW_STORE_REDIS_SCAN_H

#include "store/redis/page/stream.h"

void scan_begin(struct redis_store *, dw_op *);
void scan_work(struct redis_store *);

/* scan_end_all ends every scan, with this answer. scan_overdue ends the scans whose operations have
 * reached their deadline. scan_free_all frees all scans. */
void scan_end_all(struct redis_store *, int status);
void scan_overdue(struct redis_store *);
void scan_free_all(struct redis_store *);

#endif
