/* Copies what a command writes to stderr, and keeps the last line. No function blocks, except
 * relay_pass_on(). */
#ifndef DW_CLI_RELAY_H
#define DW_CLI_RELAY_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

struct relay {
	int from; /* the reading end of a pipe, or -1 if it is closed */
	/* A pipe accepts up to PIPE_BUF bytes without blocking if poll() says that it is
	 * writable. */
	char bytes[PIPE_BUF];
	size_t used;
	size_t sent;
	char line[DW_WHY_MAX]; /* the line that is being read */
	size_t line_size;
	char last[DW_WHY_MAX]; /* the last line that was not blank */
	size_t last_size;
};

/* relay_open creates the pipe. The caller closes *ret_writer. Returns 0 or an errno. */
int relay_open(struct relay *, int *ret_writer);

/* relay_wants returns the event that must happen before the next relay_work(). */
struct pollfd relay_wants(const struct relay *);

/* relay_work reads and writes as much as possible. Returns true if the pipe is empty or closed. */
bool relay_work(struct relay *);

/* relay_last returns the last line, which does not end with a NUL. */
const char *relay_last(struct relay *, size_t *ret_size);

/* relay_pass_on forks a process that keeps copying what orphans of the command write. */
void relay_pass_on(struct relay *);

#endif
