/* A unix socket, or a port of 127.0.0.1, in front of a server, served by a thread. It can cut all
 * connections after so many bytes of requests or replies, and then lets nobody through until it is
 * opened again. */
#ifndef DW_TESTS_RELAY_H
#define DW_TESTS_RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support/temp.h"

enum relay_way { RELAY_REQUESTS, RELAY_REPLIES, RELAY_WAYS };

#define RELAY_PAIRS 16

struct relay {
	char path[TEMP_SIZE];
	const char *server; /* the path of the server's socket; NULL: it has a port */
	unsigned server_port;
	unsigned port; /* the relay's own, if the server has one */
	int listener;
	int pairs[RELAY_PAIRS][RELAY_WAYS]; /* who sends; -1: no connection */
	atomic_long left[RELAY_WAYS];       /* bytes until the cut; negative: no cut */
	atomic_int cut;                     /* nobody is let through */
	atomic_int piece;             /* so many bytes are passed on at a time; 0: as they come */
	_Atomic(const char *) poison; /* requests with this text close their connection */
	atomic_int poisoned;          /* so often it has */
	atomic_bool ends;
	pthread_t thread;
};

/* relay_start: path is that of its own socket. server must outlive the relay. */
void relay_start(struct relay *, const char *path, const char *server);
void relay_start_tcp(struct relay *, unsigned server_port);
void relay_end(struct relay *);

/* relay_cut_after: the byte after so many more of this way is not passed on; 0: the next one. Then
 * relay.cut is 1. */
void relay_cut_after(struct relay *, enum relay_way, long bytes);
void relay_cut(struct relay *); /* at once */
void relay_open(struct relay *);

#endif
