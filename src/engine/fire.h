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

/* fire_next_work gives the first timer that is due to a free worker; false: no worker is free, or
 * nothing is due. */
bool fire_next_work(struct engine *);

/* fire_wake: when a handler may have to start; wall time. */
dw_usec fire_wake(const struct engine *, dw_usec now);

#endif
