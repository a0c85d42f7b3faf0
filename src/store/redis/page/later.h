/* Operations that ask every shard: each waits until all operations before it are sent. */
#ifndef DW_STORE_REDIS_LATER_H
#define DW_STORE_REDIS_LATER_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/queue/topics.h"

struct redis_store;

struct later {
	struct op_queue ops; /* these operations, in the order of submission */
	dw_op *barrier; /* NULL: none; until it is answered, later operations wait behind it: */
	struct op_queue behind;
	struct topic_ops topics; /* those on topics wait by themselves */
	struct redis_consumers consumers;
};

/* later_may_begin returns true if the first of these operations can be sent now. */
bool later_may_begin(struct redis_store *);

/* later_needs_all returns true if the operation fails while a shard is cut off, because its answer
 * would be incomplete. */
bool later_needs_all(const dw_op *);

/* later_is_barrier returns true for an operation that later ones must not overtake.
 * later_end_barrier lets them go on. */
bool later_is_barrier(const dw_op *);
void later_end_barrier(struct later *, const dw_op *);

/* later_recall answers all operations that have not begun with DW_ESTORE. */
void later_recall(struct redis_store *);

/* later_overdue answers the operations that have waited until their deadline with DW_ESTORE. */
void later_overdue(struct redis_store *);

#endif
