#include "redis/transport.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

bool transport_begin(struct transport *transport, int fd, const struct redis_url *url,
		     const struct alloc *alloc)
{
	int status = DW_OK;

	transport->fd = fd;
	transport->watched = EPOLLOUT;
	transport->tls = NULL;
	transport->refused = false;
	if (url->tls)
		status = tls_new(&transport->tls, url, alloc, fd, transport->words);
	transport->refused = status == DW_EINVAL;
	return status == DW_OK;
}

enum tls_verdict transport_secure(struct transport *transport)
{
	enum tls_verdict verdict = TLS_DONE;

	if (transport->tls)
		verdict = tls_shake(transport->tls, transport->words);
	transport->refused = verdict == TLS_REFUSED;
	return verdict;
}

int transport_watch(struct transport *transport, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = transport->fd};

	if (transport->fd < 0 || events == transport->watched)
		return 0;
	if (epoll_ctl(transport->epoll_fd, EPOLL_CTL_MOD, transport->fd, &event) != 0)
		return errno;
	transport->watched = events;
	return 0;
}

uint32_t transport_wants(const struct transport *transport, uint32_t events)
{
	return events | (transport->tls && tls_wants_out(transport->tls) ? EPOLLOUT : 0);
}

ssize_t transport_send(struct transport *transport, struct iovec *vectors, size_t count)
{
	struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};

	if (transport->tls)
		return tls_send(transport->tls, vectors, count);
	return sendmsg(transport->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_why(struct transport *transport)
{
	int error = errno;

	if (transport->tls && error == EPROTO)
		transport->refused = tls_why(transport->tls, transport->words) == TLS_REFUSED;
	else
		(void)snprintf(transport->words, sizeof transport->words, "%s", strerror(error));
	errno = error;
}

ssize_t transport_receive(struct transport *transport, char *bytes, size_t size, bool *ret_more)
{
	ssize_t got = transport->tls ? tls_receive(transport->tls, bytes, size)
				     : recv(transport->fd, bytes, size, MSG_DONTWAIT);

	/* With TLS one read returns one record. So only a read that finds no record means that
	 * there is nothing more to read. */
	*ret_more =
	    got == (ssize_t)size || (got > 0 && transport->tls) || (got < 0 && errno == EINTR);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		say_why(transport);
	return got;
}

/* transport_close shuts the socket down before it closes it. A forked child may also have the
 * socket open, and then the server would not notice a mere close. */
void transport_close(struct transport *transport, bool forked)
{
	tls_end(transport->tls, forked);
	transport->tls = NULL;
	if (transport->fd >= 0 && !forked) {
		(void)epoll_ctl(transport->epoll_fd, EPOLL_CTL_DEL, transport->fd, NULL);
		/* Fails with ENOTCONN if the connection is down already. */
		(void)shutdown(transport->fd, SHUT_RDWR);
	}
	if (transport->fd >= 0)
		(void)close(transport->fd); /* unsent bytes are given up */
	transport->fd = -1;
}
