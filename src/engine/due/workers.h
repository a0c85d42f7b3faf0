/* Runs deliveries on worker threads. There are never more jobs under way than workers, so that all
 * jobs that were not started can be taken back. */
#ifndef DW_ENGINE_WORKERS_H
#define DW_ENGINE_WORKERS_H

#include <stdbool.h>

#include "port/job.h"
#include "timer/timer.h"

struct engine;
struct delivery;

/* workers_have_room returns true if a worker is free. */
bool workers_have_room(const struct engine *);

/* workers_start hands the timer over to a free worker. workers_send hands over a job whose
 * deliveries have begun. */
void workers_start(struct engine *, struct timer *, dw_usec now);
void workers_send(struct engine *, struct job *);

/* workers_round reports handlers that run for longer than their topics allow. workers_wake returns
 * when the next handler will have run for too long. */
void workers_round(struct engine *);
dw_usec workers_wake(const struct engine *, dw_usec now);

/* workers_abandon gives up the jobs that workers still run. When they end, nobody waits for
 * them. */
void workers_abandon(struct delivery *);

/* workers_finish takes a job back and frees it. */
void workers_finish(struct engine *, struct job *);

/* job_judge takes the verdict that the job's handler has returned, and frees the job. */
void job_judge(struct engine *, struct job *);

#endif
