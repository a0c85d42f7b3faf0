/* A retry that a clock far ahead has put off (derive.h). */
#ifndef DW_ENGINE_PUT_OFF_H
#define DW_ENGINE_PUT_OFF_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct engine;
struct timer;

/* put_off_due returns the deadline of a retry, which was given by the handler, or computed. The
 * lowest bit says which: a microsecond, and room in every store. */
dw_usec put_off_due(dw_usec due, bool is_computed);

/* put_off_is returns true if the timer waits for a back-off that is longer than its policy can be.
 * It is claimed at once, and the claim is given back with another deadline. */
bool put_off_is(const struct engine *, const struct timer *);

#endif
