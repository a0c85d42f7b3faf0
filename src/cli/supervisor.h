/* The process between `durawheel run` and a command of its --exec.
 *
 * The kernel makes a supervisor the parent of every process that the command leaves without one
 * (PR_SET_CHILD_SUBREAPER). So it finds and ends all of them, also those that have called setsid().
 * The kernel also tells it when `run` is gone (PR_SET_PDEATHSIG): a killed `run` leaves no command
 * behind.
 */
#ifndef DW_CLI_SUPERVISOR_H
#define DW_CLI_SUPERVISOR_H

#include "durawheel/durawheel.h"

/* How long the processes of a command may take between SIGTERM and SIGKILL. */
#define SUPERVISOR_GRACE DW_SECONDS(5)

/* The name of the process, its argv[0]. It does not contain the name of the program: `pkill
 * durawheel` stops `run`, which waits for its commands, and must not end them. */
#define SUPERVISOR_NAME "exec-supervisor"

/* supervise runs command by /bin/sh -c in a process group of its own, and returns its exit code,
 * 128 and more for a signal. SIGTERM, or the end of the process whose number is parent, makes it
 * end the command with all its descendants: by SIGTERM, and after SUPERVISOR_GRACE by SIGKILL. */
int supervise(const char *parent, const char *command);

#endif
