/* Keeps operations that ask every shard. Each waits until all operations before it are sent. */
#ifndef DW_STORE_REDIS_LATER_H
#define DW_STORE_REDIS_LATER_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/queue/topics.h"

struct redis_store;

struct later {
	struct op_queue ops; /* the operations that wait, in the order of submission */
	/* The barrier that is not answered yet; NULL: there is none. Until it is answered, later
	 * operations wait in `behind`. */
	dw_op *barrier;
	struct op_queue behind;
	struct topic_ops topics; /* operations on topics, which wait in a queue of their own */
	struct redis_consumers consumers;
};

/* later_may_begin returns true if the first waiting operation can be sent now. */
bool later_may_begin(struct redis_store *);

/* later_needs_all returns true if the operation fails while a shard is cut off, because its answer
 * would be incomplete. */
bool later_needs_all(const dw_op *);

/* later_is_barrier returns true for an operation that later ones must not overtake.
 * later_end_barrier is called when the barrier is answered, and releases the operations behind
 * it. */
bool later_is_barrier(const dw_op *);
void later_end_barrier(struct later *, const dw_op *);

/* later_recall answers DW_ESTORE to all operations that have not begun. */
void later_recall(struct redis_store *);

/* later_overdue answers DW_ESTORE to the operations that have waited until their deadline. */
void later_overdue(struct redis_store *);

#endif
