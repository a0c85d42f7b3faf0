/* Starts a shell command for one firing. */
#ifndef DW_CLI_SHELL_H
#define DW_CLI_SHELL_H

#include <sys/types.h>

#include "durawheel/durawheel.h"

/* shell_start runs command by /bin/sh -c below a supervisor (cli/supervisor.h), whose process id
 * becomes *ret_pid. The command gets the firing's data on stdin, and DW_ID, DW_TOPIC, DW_DUE and
 * DW_ATTEMPT in its environment. Its stdout is the descriptor output, its stderr is ours. 0, or an
 * errno. */
int shell_start(const char *command, int output, const dw_firing *, pid_t *ret_pid);

#endif
