/* The part of run that delivers timers to lines on stdout and to commands. */
#ifndef DW_CLI_RUN_FIRE_H
#define DW_CLI_RUN_FIRE_H

#include <stdbool.h>

#include "cli/run/jobs.h"
#include "durawheel/durawheel.h"

struct runner;

/* run_fire_handle registers a handler for each served topic. Returns EXIT_DONE, or complains about
 * each topic that cannot be served. */
int run_fire_handle(struct runner *);

/* run_fire_next starts waiting deliveries, as many as may run now. Then it removes the handlers of
 * topics whose backlog is too long. Call it in each turn of the loop. */
void run_fire_next(struct runner *);

/* run_fire_knows returns true if run expects this topic to have no handler. Either its backlog is
 * too long, or it gathers batches and gets its handler by this call. */
bool run_fire_knows(struct runner *, const char *topic);

/* run_fire_drain writes waiting lines, as many as stdout accepts. */
void run_fire_drain(struct runner *);

/* run_fire_settle settles a delivery whose line has left the outbox. `user` is the runner. */
void run_fire_settle(const dw_token *, dw_verdict, void *user);

/* run_fire_over handles the end of a command. `user` is the runner. */
void run_fire_over(struct exec_job *, void *user);

#endif
