/* Sends operations that the engine itself makes for one timer, and that firing waits for. */
#ifndef DW_ENGINE_URGENT_H
#define DW_ENGINE_URGENT_H

#include "port/op.h"
#include "timer/timer.h"

struct engine;

/* urgent_send submits the operation. A NULL operation means that there was no memory for it; then
 * the timer tries again later. */
void urgent_send(struct engine *, struct timer *, dw_op *);

/* urgent_give_back makes a claimed timer pending again, in memory and in the store. */
void urgent_give_back(struct engine *, struct timer *);

/* urgent_verdict sends the verdict of a timer in state VERDICT. */
void urgent_verdict(struct engine *, struct timer *);

#endif
