/* The part of run that reads its file: at the start, and again after SIGHUP. */
#ifndef DW_CLI_RUN_RELOAD_H
#define DW_CLI_RUN_RELOAD_H

#include "cli/options.h"

struct runner;

/* run_reload_first reads --config, if it is given, into the runner and the options; the runner must
 * outlive them. Returns EXIT_DONE, or complains. */
int run_reload_first(struct runner *, struct options *);

/* run_reload reads the file again. Faults are told, and change nothing. */
void run_reload(struct runner *);

#endif
