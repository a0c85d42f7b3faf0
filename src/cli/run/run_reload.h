/* The part of run that reads the file of --config: at the start, and again after SIGHUP. */
#ifndef DW_CLI_RUN_RELOAD_H
#define DW_CLI_RUN_RELOAD_H

#include "cli/options.h"

struct runner;

/* run_reload_first reads the file, if --config is given, into the runner and the options. The
 * runner must outlive the options. Returns EXIT_DONE, or complains. */
int run_reload_first(struct runner *, struct options *);

/* run_reload reads the file again. If the file is invalid, it reports the faults and changes
 * nothing. */
void run_reload(struct runner *);

#endif
