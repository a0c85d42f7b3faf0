/* Keeps the ends of a table's timers. */
#ifndef DW_STORE_MEMORY_TABLE_ENDS_H
#define DW_STORE_MEMORY_TABLE_ENDS_H

#include "store/memory/table_scan.h"

/* table_end_make makes the end that the step brings; *ret_end stays NULL if none is kept. timer:
 * NULL if there is none. DW_OK, DW_ENOMEM. table_end_add adds it; NULL: nothing. */
int table_end_make(struct timer_table *, const dw_op *, const struct stored_timer *,
		   const struct life_step *, struct stored_end **ret_end);
void table_end_add(struct timer_table *, struct stored_end *);

/* table_end_show fills in the answer of an ENDED. */
void table_end_show(struct timer_table *, dw_op *);

#endif
