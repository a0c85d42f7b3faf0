/* Finds out whether a stored timer has a rule, and whether a put is the same timer again. The steps
 * of transition.h need both. */
#ifndef DW_TIMER_SAME_H
#define DW_TIMER_SAME_H

#include "timer/transition.h"

/* same_note sets the fields recurs and same of a stored timer, for an operation on it. The timer's
 * body is intact. */
void same_note(struct life_record *, const void *body, const dw_op *);

#endif
