/* A unix socket, or a port of 127.0.0.1, in front of a server. A thread passes the bytes on. It can
 * cut all connections after a number of bytes of requests or replies. Then it accepts nobody until
 * relay_open(). */
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
	const char *server; /* the path of the server's socket; NULL: the server has a port */
	unsigned server_port;
	unsigned port; /* the relay's own port, if the server has a port */
	int listener;
	int pairs[RELAY_PAIRS][RELAY_WAYS]; /* by sender; -1: no connection */
	atomic_long left[RELAY_WAYS];       /* the bytes until the cut; negative: no cut */
	atomic_int cut;                     /* nobody is accepted */
	atomic_int piece;                   /* the largest number of bytes to pass at once, or 0 */
	_Atomic(const char *) poison;       /* a request with this text closes its connection */
	atomic_int poisoned;                /* how often `poison` has closed one */
	atomic_bool ends;
	pthread_t thread;
};

/* relay_start makes a relay. path is the path of its own socket. server must outlive the relay. */
void relay_start(struct relay *, const char *path, const char *server);
void relay_start_tcp(struct relay *, unsigned server_port);
void relay_end(struct relay *);

/* relay_cut_after passes `bytes` more bytes in this direction, and then cuts. 0 cuts at the next
 * byte. After the cut relay.cut is 1. */
void relay_cut_after(struct relay *, enum relay_way, long bytes);
void relay_cut(struct relay *); /* cuts now */
void relay_open(struct relay *);

#endif
