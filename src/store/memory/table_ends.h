/* Keeps the ends of a table's timers. */
#ifndef DW_STORE_MEMORY_TABLE_ENDS_H
#define DW_STORE_MEMORY_TABLE_ENDS_H

#include "store/memory/table_scan.h"

/* table_end_make makes the end that the step leaves behind. *ret_end stays NULL if no end is kept.
 * timer is NULL if there is no timer. Returns DW_OK or DW_ENOMEM. table_end_add adds the end; if
 * the end is NULL, it does nothing. */
int table_end_make(struct timer_table *, const dw_op *, const struct stored_timer *,
		   const struct life_step *, struct stored_end **ret_end);
void table_end_add(struct timer_table *, struct stored_end *);

/* table_end_show fills in the answer to an ENDED. */
void table_end_show(struct timer_table *, dw_op *);

#endif
