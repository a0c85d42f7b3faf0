/* What run knows of --exec: the options that say how a command runs, and how one has failed. */
#ifndef DW_CLI_RUN_EXEC_H
#define DW_CLI_RUN_EXEC_H

#include "cli/jobs.h"
#include "cli/options.h"

/* run_exec_read reads --exec and the options that belong to it. EXIT_DONE, or complains. */
int run_exec_read(const struct options *, struct jobs *);

/* run_exec_tell says on stderr how a command has failed, if it has. */
void run_exec_tell(const struct exec_job *);

#endif
