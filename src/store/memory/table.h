/* The timers of a store in memory. It applies the operations of durawheel/store.h at once, without
 * a thread, a clock or a queue. It is used by the memory store, and as the durable state of a
 * simulated store, where it outlives the handles that are opened on it.
 *
 * Invariant: a timer is in the hash by id and in the order by (due, generation), or in neither. */
#ifndef DW_STORE_MEMORY_TABLE_H
#define DW_STORE_MEMORY_TABLE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/store.h"

struct timer_table;

/* The opening that sends an operation, and the time. */
struct table_caller {
	uint64_t token; /* the dw_store_env.token of this opening */
	dw_role role;
	dw_usec now; /* wall clock */
};

/* table_new makes an empty table. Returns NULL without memory. */
struct timer_table *table_new(const struct alloc *);
void table_free(struct timer_table *);

/* table_own is called when an owner opens the table. It empties the inbox, because the owner reads
 * everything next. `line` names the owner, for STATUS; it is NULL when the owner has gone. Returns
 * DW_OK or DW_ENOMEM. */
int table_own(struct timer_table *, const char *line, dw_usec since);

/* table_apply does the operation, and fills in its answer. It returns false for an INBOX that has
 * nothing to say yet. Such an operation is not answered; apply it again when a client has
 * written. */
bool table_apply(struct timer_table *, dw_op *, const struct table_caller *);

/* table_count returns the number of timers. */
size_t table_count(const struct timer_table *);

/* table_check asserts the invariant. */
void table_check(const struct timer_table *);

#endif
