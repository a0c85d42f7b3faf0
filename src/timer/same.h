/* What the rules of a timer's life (transition.h) must know of a timer with a rule. */
#ifndef DW_TIMER_SAME_H
#define DW_TIMER_SAME_H

#include "timer/transition.h"

/* same_note sets recurs and same of a stored timer, for an operation on it. Its body is intact. */
void same_note(struct life_record *, const void *body, const dw_op *);

#endif
