/* What was started, and what its handler said. */
#ifndef SIM_CORE_DELIVERIES_H
#define SIM_CORE_DELIVERIES_H

#include "durawheel/store.h"

struct generation;
struct sim;

/* delivery_started, delivery_started_by_other (a second owner starts what it has claimed): the
 * generation that was started; NULL: there is no such one. */
struct generation *delivery_started(struct sim *, const dw_firing *);
struct generation *delivery_started_by_other(struct sim *, const dw_op *claim);

/* delivery_verdict: of its handler. delivery_expired: a hold has ended. */
void delivery_verdict(struct sim *, struct generation *, dw_verdict, dw_usec retry_in);
void delivery_expired(struct sim *, const char *id);

/* deliveries_lost: the process at work has lost the store, and all it had started and claimed. */
void deliveries_lost(struct sim *);

#endif
