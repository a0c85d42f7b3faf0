/* A Redis server with a replica, and a handle that waits for it (replicas=1). The handle reaches
 * the server through a relay, and so does the replica, so that a test can let the replica fall
 * behind and then put it in the server's place. */
#ifndef DW_TESTS_REPLICATED_H
#define DW_TESTS_REPLICATED_H

#include "durawheel/durawheel.h"
#include "support/redis_server.h"
#include "support/relay.h"

#if DW_WITH_REDIS

enum { REPLICATED_SERVERS = 3 };

struct replicated {
	struct redis_server servers[REPLICATED_SERVERS];
	unsigned master;          /* the number of the server in use */
	struct relay to_master;   /* between the handle and the master */
	struct relay replication; /* between the replica and the master */
	dw *d;
	unsigned late, back;           /* the numbers of these events */
	char message[DW_MESSAGE_SIZE]; /* the message of the last of these events */
	unsigned held;                 /* the number of held deliveries */
	dw_token token;                /* the token of the last delivery */
};

/* The answer to a call. */
struct replicated_answer {
	unsigned count;
	int status;
	dw_level level;
};

/* replicated_open starts a server and its replica, and opens the handle of the namespace "r" by
 * replicated_handle. An owner holds all deliveries. replicated_close ends everything. */
void replicated_open(struct replicated *, dw_role);
void replicated_handle(struct replicated *, dw_role);
void replicated_close(struct replicated *);

/* replicated_url writes the URL of the handle, with these options after the `?`. */
void replicated_url(const struct replicated *, const char *options, char *ret_url, size_t size);

void replicated_turn(struct replicated *);
void replicated_done(dw *, const dw_result *, void *answer);

/* replicated_await turns until the call is answered. */
void replicated_await(struct replicated *, const struct replicated_answer *);

/* replicated_put puts a timer, and does not wait for the answer. */
void replicated_put(struct replicated *, const char *id, dw_usec delay, struct replicated_answer *);

/* replicated_follow makes the server with this number a replica of the master, and waits until the
 * replica has all data. replicated_lag cuts the replicas off. */
void replicated_follow(struct replicated *, unsigned number);
void replicated_lag(struct replicated *);

/* replicated_fail_over kills the master, and makes the server with this number the master. */
void replicated_fail_over(struct replicated *, unsigned number);

/* replicated_command sends a command to the server with this number. Returns the reply as a number,
 * or 0. */
long long replicated_command(struct replicated *, unsigned number, const char *command);

#endif
#endif
