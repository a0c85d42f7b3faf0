/* Handles timers whose deadline has come. */
#ifndef DW_ENGINE_FIRE_H
#define DW_ENGINE_FIRE_H

#include <stdint.h>

#include "durawheel/durawheel.h"

#define TURN_FIRINGS_MAX 256u

struct engine;
struct timer;

/* fire_next takes the first timer that is due now out of the schedule, and handles it. It returns
 * how many timers it has handled, or 0 if no timer is due or no handler may start. */
uint32_t fire_next(struct engine *);

/* fire_next_work hands the first due timer over to a free worker. It returns how many timers it has
 * handled, or 0 if no worker is free or no timer is due. */
uint32_t fire_next_work(struct engine *);

/* fire_claimed handles a timer of a queue topic that is claimed, due, and in no schedule. */
void fire_claimed(struct engine *, struct timer *, dw_usec now);

/* fire_wake returns when a handler may have to start; wall time. */
dw_usec fire_wake(const struct engine *);

#endif
