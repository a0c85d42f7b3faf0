/* A link over a socket of our own; hiredis is only its codec. Its parts: the name is resolved
 * (resolve.h), the socket connects (dial.h), the hello follows (hello.h: AUTH, CLIENT SETNAME,
 * SELECT, and what the server is), commands wait in a bounded queue (output.h), replies are read
 * (input.h), deadlines and probes are kept (heartbeat.h, probe.h), and a lost connection is made
 * again after a pause (reconnect.h). It never raises SIGPIPE.
 *
 * A forked child may only free it, which leaves the parent's connection as it is. */
#ifndef DW_REDIS_CONNECTION_H
#define DW_REDIS_CONNECTION_H

#include "redis/link.h"
#include "redis/url.h"

struct socket_options {
	struct alloc alloc;
	const struct redis_url *url; /* must outlive the link */
	const char *name;            /* for CLIENT SETNAME; NULL: none */
	uint64_t seed;               /* of the jitter */
	dw_usec connect_patience;    /* resolve, connect and hello together; 0: 2 s */
	dw_usec reply_patience;      /* as heartbeat.h has it; 0: 1 s */
	dw_usec probe_every;         /* 0: 0.4 s */
	/* A probe is a script that deletes this key, which never exists. A server that accepts no
	 * changes refuses the script or delays it. NULL: a probe is a PING. At most 127 bytes. */
	const char *probe_key;
	size_t queue_max; /* bytes not yet written; 0: 64 MiB */
	/* The link only listens to this channel. take() returns each message as a reply: an array
	 * of "message", channel and payload. At most 255 bytes. NULL: an ordinary link. */
	const char *channel;
	void (*log)(dw_log_level, const char *line, void *user); /* may be NULL */
	void *log_user;
};

/* socket_link_new: DW_OK, DW_ENOMEM, DW_ESYS. It begins to connect with the first link_work(). */
int socket_link_new(struct link **ret_link, const struct socket_options *);

#endif
