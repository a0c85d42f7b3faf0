/* A link over a socket of our own; hiredis only decodes replies. The parts of a link: resolve.h
 * looks the name up. dial.h connects the socket. transport.h carries its bytes, with TLS (tls.h) or
 * without. hello.h sends AUTH, CLIENT SETNAME and SELECT and asks what the server is. output.h
 * keeps commands in a bounded queue. input.h reads replies. heartbeat.h and probe.h keep deadlines
 * and probe the server. careful.h finds the command on which the server hangs up. reconnect.h says
 * when the link connects again after a loss. A link never raises SIGPIPE.
 *
 * A forked child may only free the link; this leaves the parent's connection as it is. */
#ifndef DW_REDIS_CONNECTION_H
#define DW_REDIS_CONNECTION_H

#include "redis/link.h"
#include "redis/url.h"

struct socket_options {
	struct alloc alloc;
	const struct redis_url *url; /* the url must outlive the link */
	const char *name;            /* the name for CLIENT SETNAME; NULL if there is none */
	uint64_t seed;               /* seed for the random part of the pauses */
	dw_usec connect_patience;    /* for resolve, connect, TLS and hello together; 0: 2 s */
	dw_usec reply_patience;      /* the patience of heartbeat.h; 0: 1 s */
	dw_usec probe_every;         /* time between two probes; 0: 0.4 s */
	/* A probe is a script that deletes this key, which never exists. A server that accepts no
	 * changes refuses the script or delays it. NULL: a probe is a PING. At most 127 bytes. */
	const char *probe_key;
	size_t queue_max; /* the most bytes that may wait to be written; 0: 64 MiB */
	/* NULL: a link for commands. Otherwise the link only subscribes to these channels, which
	 * are divided by '\n'. take() then returns each message as a reply: an array of "message",
	 * channel and payload. At most CHANNELS_MAX. */
	const char *channels;
	/* The server, a Sentinel or a node of a cluster, is only asked which servers there are, not
	 * what it stores. */
	bool to_sentinel;
	/* Called for each warning; may be NULL. */
	void (*log)(dw_log_level, const char *line, void *user);
	void *log_user;
};

/* socket_link_new makes a link. The link begins to connect with the first link_work(). Returns
 * DW_OK, DW_ENOMEM or DW_ESYS. */
int socket_link_new(struct link **ret_link, const struct socket_options *);

#endif
