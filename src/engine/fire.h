/* Firing: what happens to a timer whose moment has come. */
#ifndef DW_ENGINE_FIRE_H
#define DW_ENGINE_FIRE_H

#include <stdint.h>

#include "durawheel/durawheel.h"

#define TURN_FIRINGS_MAX 256u

struct engine;

/* fire_next takes the first timer that is due now out of the schedule. Returns on how many timers
 * the turn has spent its time: a batch counts as its size. 0: none is due, or no handler may start.
 */
uint32_t fire_next(struct engine *);

/* fire_next_work gives the first timer that is due to a free worker, and counts as fire_next. 0: no
 * worker is free, or nothing is due. */
uint32_t fire_next_work(struct engine *);

/* fire_wake: when a handler may have to start; wall time. */
dw_usec fire_wake(const struct engine *, dw_usec now);

#endif
