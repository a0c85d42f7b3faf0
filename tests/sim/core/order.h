/* I8: timers start in the order of (deadline, generation), among those that are ready.
 *
 * A timer is READY from the moment when the engine takes the answer that it is claimed. It is no
 * longer ready when it starts, or when somebody asks for something: a put, a cancel, an operation
 * of the engine; nor while such a call waits. When X starts, no other timer may be ready, due and
 * have a handler, and
 *	be due before X, or
 *	be due with X and have an earlier generation.
 * The order in which the store has answered the claims does not count.
 *
 * A timer whose topic has a handler for batches keeps the order only within its topic.
 *
 * A failed allocation and a clock that is set delay timers for reasons of their own. Then nobody
 * counts as ready any more. */
#ifndef SIM_CORE_ORDER_H
#define SIM_CORE_ORDER_H

#include <stdbool.h>

#include "durawheel/store.h"

struct generation;
struct name;
struct sim;

/* Of one name. */
struct readiness {
	uint64_t stamp; /* equal to stamp_now(): it is ready; the order was not upset since */
	const struct generation *generation; /* the claimed one */
	uint64_t life;                       /* in which process */
	uint64_t learnt;                     /* the last generation that an engine has read */
};

struct order {
	uint64_t forgotten; /* how often order_forget() was called */
};

/* order_submitted: the engine submits the operation. order_collected: it takes the answer; current:
 * that answer belongs to the present ownership term. */
void order_submitted(struct sim *, const dw_op *);
void order_collected(struct sim *, const dw_op *, bool current);

/* order_touched: somebody asks for something about that timer, so it is not ready. */
void order_touched(struct name *);

/* order_forget: no timer counts as ready any more. */
void order_forget(struct sim *);

/* order_started checks that the start keeps the order. */
void order_started(struct sim *, const struct generation *);

#endif
