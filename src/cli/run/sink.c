#include "cli/run/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void sink_open(struct sink *sink)
{
	const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat stat;
	bool known = fstat(STDOUT_FILENO, &stat) == 0;
	int mode = fcntl(STDOUT_FILENO, F_GETFL);

	*sink = (struct sink){.kind = SINK_PLAIN, .fd = STDOUT_FILENO};
	if (known && S_ISSOCK(stat.st_mode))
		sink->kind = SINK_SOCKET;
	if (!known || !(S_ISFIFO(stat.st_mode) || isatty(STDOUT_FILENO)) || mode < 0 ||
	    (mode & O_ACCMODE) == O_RDONLY)
		return;
	sink->kind = SINK_OWN;
	sink->fd = open("/proc/self/fd/1", flags);
	if (sink->fd < 0)
		*sink = (struct sink){.kind = SINK_POLLED, .fd = STDOUT_FILENO};
}

void sink_close(struct sink *sink)
{
	if (sink->kind == SINK_OWN)
		(void)close(sink->fd); /* closing a pipe or a terminal reports no error */
}

static ssize_t write_once(const struct sink *sink, const char *bytes, size_t size)
{
	struct pollfd writable = {.fd = sink->fd, .events = POLLOUT};

	if (sink->kind == SINK_SOCKET)
		return send(sink->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sink->kind != SINK_POLLED)
		return write(sink->fd, bytes, size);
	if (poll(&writable, 1, 0) < 1)
		return 0;
	return write(sink->fd, bytes, size < PIPE_BUF ? size : PIPE_BUF);
}

ssize_t sink_write(const struct sink *sink, const char *bytes, size_t size)
{
	size_t written = 0;

	while (written < size) {
		ssize_t count = write_once(sink, bytes + written, size - written);

		if (count == 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)))
			break;
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		written += (size_t)count;
	}
	return (ssize_t)written;
}
