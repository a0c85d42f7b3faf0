/* Writes to stdout without blocking.
 *
 * O_NONBLOCK belongs to the open file description, which stdout shares with the shell and with
 * other programs that write there. Therefore a pipe or a terminal is opened once more
 * (/proc/self/fd/1): this makes a description of our own. If the open is refused, poll() and pieces
 * of PIPE_BUF bytes are used, because a writable pipe takes such a piece without blocking. A socket
 * has MSG_DONTWAIT. A regular file takes all bytes at once. */
#ifndef DW_CLI_SINK_H
#define DW_CLI_SINK_H

#include <stddef.h>
#include <sys/types.h>

struct sink {
	enum sink_kind { SINK_PLAIN, SINK_OWN, SINK_POLLED, SINK_SOCKET } kind;
	int fd; /* for poll(), which also reports a broken pipe */
};

void sink_open(struct sink *);
void sink_close(struct sink *);

/* sink_write writes as much as stdout takes without blocking. Returns the number of bytes, which
 * may be 0, or -1 with errno set. */
ssize_t sink_write(const struct sink *, const char *bytes, size_t size);

#endif
