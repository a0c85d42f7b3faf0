/* The bytes of one connection: a socket, with TLS or without, and what the epoll set watches it
 * for. */
#ifndef DW_REDIS_TRANSPORT_H
#define DW_REDIS_TRANSPORT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "durawheel/durawheel.h"
#include "redis/tls.h"

struct transport {
	int epoll_fd;
	int fd; /* -1: there is no connection */
	uint32_t watched;
	struct tls *tls; /* NULL: without TLS */
	bool refused;    /* `words` name something that a person must change */
	char words[DW_MESSAGE_SIZE];
};

/* transport_begin takes a connected socket, which the epoll set watches for EPOLLOUT. If it returns
 * false, `words` say why. */
bool transport_begin(struct transport *, int fd, const struct redis_url *, const struct alloc *);

/* transport_secure continues the handshake of TLS. Without TLS there is nothing to do. After
 * TLS_FAILED and TLS_REFUSED `words` say why. */
enum tls_verdict transport_secure(struct transport *);

/* transport_watch watches the socket for these events. Returns 0 or an errno. transport_wants adds
 * the events for which TLS waits, and returns all. */
int transport_watch(struct transport *, uint32_t events);
uint32_t transport_wants(const struct transport *, uint32_t events);

/* transport_send and transport_receive are like sendmsg() and recv(), and never raise SIGPIPE.
 * After an error of transport_receive, `words` say why. *ret_more means that more bytes may already
 * be there, which the epoll set does not always report. If not all bytes could be sent, the caller
 * must pass the same bytes again, or more, to the next transport_send. */
ssize_t transport_send(struct transport *, struct iovec *, size_t count);
ssize_t transport_receive(struct transport *, char *bytes, size_t size, bool *ret_more);

/* transport_close closes the connection. In a forked child, whose parent still uses the connection,
 * it only closes the descriptor. */
void transport_close(struct transport *, bool forked);

#endif
