/* Writes to stdout without blocking.
 *
 * O_NONBLOCK belongs to the open file description, which stdout shares with the shell and with
 * other programs. So a pipe or a terminal is opened once more (/proc/self/fd/1), which creates our
 * own description. If this is refused, we use poll() and write pieces of PIPE_BUF bytes, because a
 * writable pipe accepts such a piece without blocking. For a socket we use MSG_DONTWAIT. A regular
 * file accepts all bytes at once. */
#ifndef DW_CLI_SINK_H
#define DW_CLI_SINK_H

#include <stddef.h>
#include <sys/types.h>

struct sink {
	enum sink_kind { SINK_PLAIN, SINK_OWN, SINK_POLLED, SINK_SOCKET } kind;
	int fd; /* poll() on this descriptor also reports that a pipe has no reader */
};

void sink_open(struct sink *);
void sink_close(struct sink *);

/* sink_write writes as much as stdout accepts without blocking. Returns the number of bytes, which
 * may be 0. Returns -1 if it fails; errno has the error. */
ssize_t sink_write(const struct sink *, const char *bytes, size_t size);

#endif
