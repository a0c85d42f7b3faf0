/* Makes the operation of a put. A put with DW_DUE_... or DW_DATA_FIRST keeps a part of the stored
 * timer. It is first sent as a put for an id without a timer. If there is a timer, the store's
 * answer contains it. Then both are merged, and the put is sent again, only for that generation. */
#ifndef DW_ENGINE_MODES_H
#define DW_ENGINE_MODES_H

#include "engine/call/calls.h"

struct record;

/* modes_make makes the operation and the timer in memory. It returns DW_OK or DW_ENOMEM. */
int modes_make(struct engine *, const struct record *, dw_usec due, struct call *);

/* modes_begin sets the mode of the call to the mode that the timer's flags name. The call's
 * operation must be made already. It returns DW_OK or DW_ENOMEM. */
int modes_begin(struct engine *, const dw_timer *, struct call *);

/* modes_again is called when the store has another timer than the call expected. It returns true if
 * the call is sent again, or answered; then head may be gone. */
bool modes_again(struct engine *, struct timer *head, struct call *, const dw_op *);

/* modes_outcome returns the DW_PUT_... outcome of a put that was done, or 0 if the put has no
 * mode. */
unsigned modes_outcome(const struct call *);

#endif
