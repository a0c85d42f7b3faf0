/* Firing: what happens to a timer whose moment has come. */
#ifndef DW_ENGINE_FIRE_H
#define DW_ENGINE_FIRE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

#define TURN_FIRINGS_MAX 256u

struct engine;

/* fire_next takes the first timer that is due now out of the schedule; false: none, or no
 * handler may start. */
bool fire_next(struct engine *);

/* fire_next_work gives a free worker what is due first; false: there is neither, or nothing due. */
bool fire_next_work(struct engine *);

/* fire_wake: when a handler may have to start; wall time. */
dw_usec fire_wake(const struct engine *, dw_usec now);

#endif
