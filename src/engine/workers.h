/* Deliveries on worker threads. At most as many are out as there are workers, so that all that was
 * not started can be taken back. */
#ifndef DW_ENGINE_WORKERS_H
#define DW_ENGINE_WORKERS_H

#include <stdbool.h>

#include "port/job.h"
#include "timer/timer.h"

struct engine;

/* workers_have_room: a worker is free. */
bool workers_have_room(const struct engine *);

/* workers_start gives the timer to a free worker. */
void workers_start(struct engine *, struct timer *, dw_usec now);

/* workers_finish takes a job back and frees it. */
void workers_finish(struct engine *, struct job *);

#endif
