/* Batches: the due timers of a topic gather until one call of its handler takes them all.
 *
 * A gathered timer is claimed and not started. It is in the list of its topic, and in the fire
 * schedule until its time-out, or in the work schedule if the batch waits for a worker. The first
 * timer that comes out of one of them starts the batch. Whatever else takes the timer out of the
 * schedule (a cancel, a replacement, the loss of the ownership) takes it out of the list, too. */
#ifndef DW_ENGINE_BATCHES_H
#define DW_ENGINE_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct engine;
struct timer;

/* batches_add: the timer is due, and its topic has a handler for batches. batches_ready: a gathered
 * timer has come out of its schedule. from_work: out of that of work, so a worker is free. Both
 * return how many timers the turn has spent on it; 0: the timer waits for a worker now. */
uint32_t batches_add(struct engine *, struct timer *, dw_usec now, bool from_work);
uint32_t batches_ready(struct engine *, struct timer *, dw_usec now, bool from_work);

#endif
