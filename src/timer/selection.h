/* Says which timers a SCAN asks for. */
#ifndef DW_TIMER_SELECTION_H
#define DW_TIMER_SELECTION_H

#include <stdbool.h>

#include "durawheel/store.h"

/* selection_has returns true if the SCAN or DEAD_SCAN asks for this row. It does not look at the
 * deadline. Only the id of a damaged timer is known, so a damaged timer is left out if a topic or a
 * rule is asked for. */
bool selection_has(const dw_op *, const dw_row *);

#endif
