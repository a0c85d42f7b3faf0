/* The part of run that stops: it waits for the running commands, and ends them. */
#ifndef DW_CLI_RUN_STOP_H
#define DW_CLI_RUN_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"

struct runner;

/* run_stop_read: --stop-patience, or 10 s. Returns EXIT_DONE, or complains. */
int run_stop_read(const struct options *, dw_usec *ret_patience);

/* run_stop ends the run. Timers that were not delivered go back to the store. */
void run_stop(struct runner *, int code);
void run_stop_for_stdout(struct runner *, int error);

/* run_stop_for_signal: the first signal stops, and the next one ends the commands. */
void run_stop_for_signal(struct runner *, uint32_t signal);

/* run_stop_watch ends the commands when the patience is over. */
void run_stop_watch(struct runner *);

/* run_stop_is_over: were we told to stop, and do we wait for no more commands? */
bool run_stop_is_over(const struct runner *);

#endif
