/* Which timers a SCAN asks for. */
#ifndef DW_TIMER_SELECTION_H
#define DW_TIMER_SELECTION_H

#include <stdbool.h>

#include "durawheel/store.h"

/* selection_has: true if the SCAN, or DEAD_SCAN, asks for this row, wherever it is due. Of a
 * damaged timer only the id is known: where topic or rule is asked for, it is left out. */
bool selection_has(const dw_op *, const dw_row *);

#endif
