/* Finds out what transition.h must know about a timer with a rule. */
#ifndef DW_TIMER_SAME_H
#define DW_TIMER_SAME_H

#include "timer/transition.h"

/* same_note sets the fields recurs and same of a stored timer, for an operation on it. The timer's
 * body is intact. */
void same_note(struct life_record *, const void *body, const dw_op *);

#endif
