/* A server in a thread, on a unix socket or on a port, that plays a script. It does things that a
 * real Redis server never does on demand. A script is a list of steps that ends with FAKE_END; then
 * the server ends. */
#ifndef DW_TESTS_FAKE_SERVER_H
#define DW_TESTS_FAKE_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/temp.h"

enum fake_kind {
	FAKE_END,
	FAKE_ACCEPT, /* wait for a connection */
	FAKE_EXPECT, /* read until `text` has arrived, and all bytes that are there at that time */
	FAKE_SEND,   /* send `text`, in chunks of `number` bytes if `number` is not 0 */
	FAKE_REPEAT, /* send `text` repeatedly until the peer hangs up */
	FAKE_STALL,  /* wait for fake_server_go(), or until the peer hangs up */
	FAKE_CLOSE,
	FAKE_RESET /* close with unread bytes: ECONNRESET, on TCP by SO_LINGER */
};

struct fake_step {
	enum fake_kind kind;
	const char *text;
	size_t number;
};

/* The answer of a good server to a link's greeting, which ends with a PING. */
#define FAKE_WELCOME                                                                               \
	"+OK\r\n$23\r\nredis_version:255.255.2\r\n$29\r\nmaxmemory_policy:noeviction\r\n\r\n"      \
	"$13\r\nrole:master\r\n\r\n"                                                               \
	"-ERR This instance has cluster support disabled\r\n+PONG\r\n"
#define FAKE_GREET                                                                                 \
	{FAKE_ACCEPT, NULL, 0}, {FAKE_EXPECT, "PING\r\n", 0},                                      \
	{                                                                                          \
		FAKE_SEND, FAKE_WELCOME, 0                                                         \
	}

struct fake_server {
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	unsigned port; /* the port on 127.0.0.1; 0: a unix socket */
	int listener;
	int go[2]; /* a pipe for fake_server_go() */
	const struct fake_step *steps;
	pthread_t thread;
	atomic_int accepted;
	char seen[4096]; /* all received bytes; read it after fake_server_end() */
	size_t seen_size;
};

void fake_server_start(struct fake_server *, bool tcp, const struct fake_step *steps);
void fake_server_go(struct fake_server *);

/* fake_server_end waits until the script is over. The peer must do everything that the script waits
 * for. */
void fake_server_end(struct fake_server *);

#endif
