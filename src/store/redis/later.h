/* What waits until all before it is sent. */
#ifndef DW_STORE_REDIS_LATER_H
#define DW_STORE_REDIS_LATER_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;

struct later {
	struct op_queue ops; /* they ask every shard, when all before them is sent */
	dw_op *barrier;      /* until it is answered, what comes after it waits: */
	struct op_queue behind;
};

/* later_may_begin: the first of them can be sent now. */
bool later_may_begin(struct redis_store *);

/* later_needs_all: it fails while a shard is cut off, because its answer would not be whole. */
bool later_needs_all(const dw_op *);

/* later_is_barrier: what was submitted after it must not overtake it. */
bool later_is_barrier(const dw_op *);
void later_end_barrier(struct redis_store *, const dw_op *);

/* later_recall gives up what has not begun. */
void later_recall(struct redis_store *);

/* later_overdue answers the operations whose deadline is over with DW_ESTORE. */
void later_overdue(struct redis_store *);

#endif
