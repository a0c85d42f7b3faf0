/* Starts a command for one firing, or for a batch of them. */
#ifndef DW_CLI_SHELL_H
#define DW_CLI_SHELL_H

#include <sys/types.h>

#include "durawheel/durawheel.h"

/* What a command is told: DW_TOPIC, and of a firing DW_ID, DW_DUE and DW_ATTEMPT, of a recurring
 * one DW_OCCURRENCE and DW_MISSED, too; or of a batch DW_COUNT. */
struct shell_input {
	const char *topic;
	const dw_firing *firing; /* NULL: a batch */
	size_t count;
	const void *bytes; /* its stdin */
	size_t size;
	int answers; /* a file that becomes its descriptor 3; 0: none */
	int note;    /* a file above SUPERVISOR_NOTE, which gets its last line on stderr */
};

/* The program itself, which is started once more for each command. */
#define SHELL_SELF "/proc/self/exe"

/* shell_start runs a command, which is its words and a NULL, below a supervisor
 * (cli/run/supervisor.h), whose process id becomes *ret_pid. Its stdout is the descriptor output,
 * its stderr is ours. 0, or an errno. */
int shell_start(char *const *words, int output, const struct shell_input *, pid_t *ret_pid);

#endif
