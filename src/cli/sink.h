/* stdout without blocking.
 *
 * O_NONBLOCK belongs to the open file description, which stdout shares with the shell and whoever
 * else writes there. So a pipe or a terminal is opened once more (/proc/self/fd/1), which gives a
 * description of our own. Where that is refused, poll() and pieces of PIPE_BUF bytes, which a
 * writable pipe takes without blocking. A socket has MSG_DONTWAIT. A regular file takes all at
 * once.
 */
#ifndef DW_CLI_SINK_H
#define DW_CLI_SINK_H

#include <stddef.h>
#include <sys/types.h>

struct sink {
	enum sink_kind { SINK_PLAIN, SINK_OWN, SINK_POLLED, SINK_SOCKET } kind;
	int fd; /* for poll(); a broken pipe shows there too */
};

void sink_open(struct sink *);
void sink_close(struct sink *);

/* sink_write writes what goes in at once and returns how much that was, 0 if nothing does, or -1
 * and errno. */
ssize_t sink_write(const struct sink *, const char *bytes, size_t size);

#endif
