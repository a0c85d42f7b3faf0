#include "redis/dial.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/usec.h"

void dial_init(struct dial *dial, const struct alloc *alloc, const struct redis_url *url,
	       int epoll_fd)
{
	*dial = (struct dial){.alloc = *alloc, .url = url, .epoll_fd = epoll_fd, .fd = -1};
}

/* ---- One address after the other ----------------------------------------------------------- */

/* set_up sets options of a TCP socket; the connection also works if one of them fails. */
static void set_up(int fd)
{
	int on = 1;
	int idle = 10;
	int every = 5;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
}

/* drop_socket removes the socket from the epoll set before it closes the socket. If a forked child
 * has the socket open, too, closing alone would leave it in the set. */
static void drop_socket(struct dial *dial)
{
	if (dial->fd < 0)
		return;
	(void)epoll_ctl(dial->epoll_fd, EPOLL_CTL_DEL, dial->fd, NULL);
	(void)close(dial->fd); /* nothing was written */
	dial->fd = -1;
}

/* open_socket makes the socket and adds it to the epoll set. Returns false and sets errno if that
 * fails. */
static bool open_socket(struct dial *dial, const struct resolve_address *to)
{
	struct epoll_event event = {.events = EPOLLOUT};
	int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

	dial->fd = socket(to->address.ss_family, type, 0);
	if (dial->fd < 0)
		return false;
	event.data.fd = dial->fd;
	if (epoll_ctl(dial->epoll_fd, EPOLL_CTL_ADD, dial->fd, &event) != 0)
		return false;
	if (to->address.ss_family != AF_UNIX)
		set_up(dial->fd);
	return true;
}

static void note_error(struct dial *dial, int error)
{
	dial->error = error;
	dial->is_refused = dial->is_refused && (error == ECONNREFUSED || error == ENOENT);
}

static enum dial_verdict try_next(struct dial *dial, dw_usec now, char *ret_words)
{
	while (dial->next < dial->addresses.count) {
		const struct resolve_address *to = &dial->addresses.found[dial->next];
		dw_usec left = usec_sub(dial->deadline, now);

		dial->turn_deadline = usec_add(now, left / (dial->addresses.count - dial->next));
		dial->next++;
		if (open_socket(dial, to)) {
			if (connect(dial->fd, (const struct sockaddr *)&to->address, to->size) == 0)
				return DIAL_DONE;
			if (errno == EINPROGRESS || errno == EINTR)
				return DIAL_GOES_ON;
		}
		note_error(dial, errno);
		drop_socket(dial);
	}
	(void)snprintf(ret_words, DW_MESSAGE_SIZE, "no connection: %s", strerror(dial->error));
	return DIAL_FAILED;
}

static enum dial_verdict look_at_socket(struct dial *dial, dw_usec now, char *ret_words)
{
	struct pollfd ready = {.fd = dial->fd, .events = POLLOUT};
	socklen_t size = sizeof dial->error;
	bool through = poll(&ready, 1, 0) > 0;

	dial->error = ETIMEDOUT;
	if (through && getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &dial->error, &size) != 0)
		dial->error = errno;
	if (through && dial->error == 0)
		return DIAL_DONE;
	if (!through && now < dial->turn_deadline)
		return DIAL_GOES_ON;
	note_error(dial, dial->error);
	drop_socket(dial);
	return try_next(dial, now, ret_words);
}

/* ---- The name ------------------------------------------------------------------------------ */

static void watch_resolver(struct dial *dial, bool watched)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = resolve_descriptor(dial->resolver);

	if (watched == dial->looking)
		return;
	event.data.fd = fd;
	/* If this fails, the result is read when the deadline has passed. */
	(void)epoll_ctl(dial->epoll_fd, watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event);
	dial->looking = watched;
}

static enum dial_verdict look_at_name(struct dial *dial, dw_usec now, char *ret_words)
{
	if (!resolve_take(dial->resolver, &dial->addresses)) {
		if (now < dial->deadline)
			return DIAL_GOES_ON;
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the name server does not answer");
		dial->is_refused = false;
		return DIAL_FAILED;
	}
	watch_resolver(dial, false);
	resolve_end(dial->resolver);
	dial->resolver = NULL;
	if (dial->addresses.error == 0 && dial->addresses.count > 0)
		return try_next(dial, now, ret_words);
	dial->is_refused = false;
	(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the host is not found: %s",
		       gai_strerror(dial->addresses.error));
	return DIAL_FAILED;
}

/* begin_resolve starts to look the name up. If the thread of an earlier attempt still runs,
 * begin_resolve waits for that thread, so that there is never more than one. */
static enum dial_verdict begin_resolve(struct dial *dial, dw_usec now, char *ret_words)
{
	if (!dial->resolver)
		dial->resolver = resolve_begin(&dial->alloc, dial->url->host, dial->url->port);
	if (!dial->resolver) {
		dial->is_refused = false;
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "no memory or no thread to look up the host");
		return DIAL_FAILED;
	}
	watch_resolver(dial, true);
	return look_at_name(dial, now, ret_words);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void take_path(struct dial *dial)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct resolve_address *only = &dial->addresses.found[0];

	memcpy(address.sun_path, dial->url->path,
	       strnlen(dial->url->path, sizeof address.sun_path - 1));
	memcpy(&only->address, &address, sizeof address);
	only->size = sizeof address;
	dial->addresses.count = 1;
}

enum dial_verdict dial_begin(struct dial *dial, dw_usec now, dw_usec deadline, char *ret_words)
{
	const struct redis_url *url = dial->url;

	dial->next = 0;
	dial->deadline = deadline;
	dial->error = 0;
	dial->is_refused = true;
	if (url->path)
		take_path(dial);
	else if (!resolve_number(url->host, url->port, &dial->addresses))
		return begin_resolve(dial, now, ret_words);
	return try_next(dial, now, ret_words);
}

enum dial_verdict dial_work(struct dial *dial, dw_usec now, char *ret_words)
{
	if (dial->fd >= 0)
		return look_at_socket(dial, now, ret_words);
	return look_at_name(dial, now, ret_words);
}

dw_usec dial_due(const struct dial *dial)
{
	return dial->fd >= 0 ? dial->turn_deadline : dial->deadline;
}

int dial_take(struct dial *dial)
{
	int fd = dial->fd;

	dial->fd = -1;
	return fd;
}

void dial_stop(struct dial *dial)
{
	drop_socket(dial);
	if (dial->resolver)
		watch_resolver(dial, false);
}

void dial_free(struct dial *dial, bool forked)
{
	if (forked) {
		if (dial->fd >= 0)
			(void)close(dial->fd); /* the parent's socket stays open */
		return; /* the thread and the mutex of the look-up belong to the parent */
	}
	dial_stop(dial);
	resolve_end(dial->resolver);
}
