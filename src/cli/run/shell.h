/* Starts a command for one firing, or for a batch of firings. */
#ifndef DW_CLI_SHELL_H
#define DW_CLI_SHELL_H

#include <sys/types.h>

#include "durawheel/durawheel.h"

/* The input of a command. Environment variables tell the command the topic, id, deadline and
 * attempt of a firing: DW_TOPIC, DW_ID, DW_DUE and DW_ATTEMPT. For a recurring timer DW_OCCURRENCE
 * and DW_MISSED are added. A batch gets DW_TOPIC and DW_COUNT. */
struct shell_input {
	const char *topic;
	const dw_firing *firing; /* NULL for a batch */
	size_t count;
	const void *bytes; /* the bytes for the command's stdin */
	size_t size;
	int answers; /* a file that becomes the command's descriptor 3; 0 if there is none */
	/* A file for the last line that the command writes to stderr. The descriptor is above
	 * SUPERVISOR_NOTE. */
	int note;
};

/* The path of this program, which is started again as a supervisor. */
#define SHELL_SELF "/proc/self/exe"

/* shell_start runs a command below a supervisor (cli/run/supervisor.h). The words end with NULL.
 * The descriptor `output` becomes the command's stdout, and our stderr becomes the command's
 * stderr. *ret_pid is the process id of the supervisor. Returns 0 or an errno. */
int shell_start(char *const *words, int output, const struct shell_input *, pid_t *ret_pid);

#endif
