/* Passes on what a command writes to stderr, and keeps its last line. No function blocks, except
 * relay_pass_on(). */
#ifndef DW_CLI_RELAY_H
#define DW_CLI_RELAY_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

struct relay {
	int from;             /* the reading end of a pipe; -1: it is over */
	char bytes[PIPE_BUF]; /* so many are written at once without blocking */
	size_t used;
	size_t sent;
	char line[DW_WHY_MAX]; /* the line that is being read */
	size_t line_size;
	char last[DW_WHY_MAX]; /* the last line that was not blank */
	size_t last_size;
};

/* relay_open makes the pipe. 0, or an errno. */
int relay_open(struct relay *, int *ret_writer);

/* relay_wants: what to wait for before relay_work(). */
struct pollfd relay_wants(const struct relay *);

/* relay_work reads and writes what is there. True: nothing more is there now. */
bool relay_work(struct relay *);

/* relay_last returns the last line. */
const char *relay_last(struct relay *, size_t *ret_size);

/* relay_pass_on leaves a process behind that passes on what orphans of the command may still
 * write. */
void relay_pass_on(struct relay *);

#endif
