/* The process between `durawheel run` and a command of its --exec.
 *
 * If a process of the command loses its parent, the kernel makes the supervisor its parent
 * (PR_SET_CHILD_SUBREAPER). So the supervisor finds and ends all processes of the command, even
 * those that have called setsid(). The kernel also signals the supervisor when `run` dies
 * (PR_SET_PDEATHSIG). So even a killed `run` leaves no command behind. */
#ifndef DW_CLI_SUPERVISOR_H
#define DW_CLI_SUPERVISOR_H

#include "durawheel/durawheel.h"

/* The time between SIGTERM and SIGKILL to the processes of a command. */
#define SUPERVISOR_GRACE DW_SECONDS(5)

/* The name that ps shows for the supervisor. It does not contain the name of the program. `pkill
 * durawheel` must stop `run`, which waits for its commands. It must not end the supervisors. */
#define SUPERVISOR_NAME "exec-supervisor"

/* The descriptor of a file for the last line that the command writes to stderr. */
#define SUPERVISOR_NOTE 4

/* supervise runs a command in its own process group. The words end with NULL. Returns the exit code
 * of the command. 127 means that it could not start, and 128 and more mean a signal. On SIGTERM, or
 * when the process `parent` ends, it sends SIGTERM to the command and all its descendants, and
 * SIGKILL after SUPERVISOR_GRACE. */
int supervise(const char *parent, char *const *words);

#endif
