/* The planted bugs of the store. */
#ifndef SIM_SINGLE_TABLE_BUGS_H
#define SIM_SINGLE_TABLE_BUGS_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/table.h"

struct single;

/* table_bugs_apply is table_apply with the seed's bug in it. */
bool table_bugs_apply(struct single *, dw_op *, const struct table_caller *);

#endif
