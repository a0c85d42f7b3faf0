/* Copies a rule with all that it points to. */
#ifndef DW_CALENDAR_RULE_COPY_H
#define DW_CALENDAR_RULE_COPY_H

#include "durawheel/durawheel.h"

/* rule_copy_size returns how many bytes a copy needs. rule_copy makes the copy in a block of that
 * size, which is aligned like malloc's blocks. The rule must have been checked. */
size_t rule_copy_size(const dw_rule *);
dw_rule *rule_copy(const dw_rule *, void *ret_block);

#endif
