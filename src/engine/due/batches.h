/* Gathers the due timers of a topic into batches: one call of the topic's handler takes them.
 *
 * A gathered timer is claimed and not started. It is in the list of its topic, and in a schedule:
 * in fire until its time-out, or in work if the batch waits for a worker. The first timer that
 * comes out of its schedule starts the batch. When a cancel, a replacement or the loss of the
 * ownership takes a timer out of its schedule, the timer also leaves the list. */
#ifndef DW_ENGINE_BATCHES_H
#define DW_ENGINE_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct engine;
struct timer;

/* batches_add gathers a timer that is due, and whose topic has a handler for batches. batches_ready
 * takes a gathered timer that has come out of its schedule. from_work is true if it came out of the
 * schedule `work`, so a worker is free. Both return how many timers the turn has handled, or 0 if
 * the timer waits for a worker now. */
uint32_t batches_add(struct engine *, struct timer *, dw_usec now, bool from_work);
uint32_t batches_ready(struct engine *, struct timer *, dw_usec now, bool from_work);

/* batches_claimed is called when the claim of a due timer was answered. A batch that is not full
 * waits for such claims of its topic, because these timers belong to it. */
void batches_claimed(struct engine *, struct timer *);

#endif
