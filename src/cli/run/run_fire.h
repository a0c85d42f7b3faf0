/* The part of run that delivers: lines on stdout, and commands. */
#ifndef DW_CLI_RUN_FIRE_H
#define DW_CLI_RUN_FIRE_H

#include <stdbool.h>

#include "cli/run/jobs.h"
#include "durawheel/durawheel.h"

struct runner;

/* run_fire_handle registers the handlers of all topics that are served. Returns EXIT_DONE, or
 * complains of each that cannot be served. */
int run_fire_handle(struct runner *);

/* run_fire_next starts what waits for a command, as many as may run now, and then lets the topics
 * wait in the store that have too much waiting. Call it in each turn of the loop. */
void run_fire_next(struct runner *);

/* run_fire_knows: a topic has no handler, and that is meant so: too much of it waits, or it gets
 * one now, for its batches. */
bool run_fire_knows(struct runner *, const char *topic);

/* run_fire_drain writes the lines that wait, as much as stdout takes. */
void run_fire_drain(struct runner *);

/* run_fire_settle settles a delivery whose line has left the outbox; user is the runner. */
void run_fire_settle(const dw_token *, dw_verdict, void *user);

/* run_fire_over: a command has ended; user is the runner. */
void run_fire_over(struct exec_job *, void *user);

#endif
