/* What the store carried out, checked against what was asked for. */
#ifndef SIM_CORE_OPERATIONS_H
#define SIM_CORE_OPERATIONS_H

#include "durawheel/store.h"

struct name;
struct sim;

/* operation_applied: the store carried the operation out; wanted is its head before. */
void operation_applied(struct sim *, const dw_op *, const dw_head *wanted, dw_role);

/* operation_purged: the store has deleted all of that name. */
void operation_purged(struct sim *, struct name *);

#endif
