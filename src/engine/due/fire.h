/* Fires: handles timers whose moment has come. */
#ifndef DW_ENGINE_FIRE_H
#define DW_ENGINE_FIRE_H

#include <stdint.h>

#include "durawheel/durawheel.h"

#define TURN_FIRINGS_MAX 256u

struct engine;
struct timer;

/* fire_next takes the first timer that is due now out of the schedule, and handles it. False: no
 * timer is due, or no handler may start. */
uint32_t fire_next(struct engine *);

/* fire_next_work gives the first timer that is due to a free worker. False: no worker is free, or
 * no timer is due. */
uint32_t fire_next_work(struct engine *);

/* fire_claimed handles a claimed timer that is due and in no schedule, of a topic that is a queue.
 */
void fire_claimed(struct engine *, struct timer *, dw_usec now);

/* fire_wake returns when a handler may have to start; wall time. */
dw_usec fire_wake(const struct engine *, dw_usec now);

#endif
