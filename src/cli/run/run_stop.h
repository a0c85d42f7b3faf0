/* The part of run that stops: it waits for the running commands, and ends them after a while. */
#ifndef DW_CLI_RUN_STOP_H
#define DW_CLI_RUN_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"

struct runner;

/* run_stop_read reads --stop-patience, whose default is 10 s. Returns EXIT_DONE, or complains. */
int run_stop_read(const struct options *, dw_usec *ret_patience);

/* run_stop begins to stop, with this exit code. Timers that no handler has got return to the
 * store. */
void run_stop(struct runner *, int code);
void run_stop_for_stdout(struct runner *, int error);

/* run_stop_for_signal begins to stop at the first signal, and ends the commands at the next one. */
void run_stop_for_signal(struct runner *, uint32_t signal);

/* run_stop_watch ends the commands when --stop-patience is over. */
void run_stop_watch(struct runner *);

/* run_stop_is_over returns true if run was told to stop and waits for no more commands. */
bool run_stop_is_over(const struct runner *);

#endif
