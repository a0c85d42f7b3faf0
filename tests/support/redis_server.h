/* A redis-server for one test: in a folder of its own, on a unix socket and, on request, on a free
 * port of 127.0.0.1. It persists nothing unless options say so, and dies with the test.
 * $DW_REDIS_SERVER names another program, for example valkey-server. */
#ifndef DW_TESTS_REDIS_SERVER_H
#define DW_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "support/temp.h"

struct redis_server {
	char folder[TEMP_SIZE]; /* where it works; its log is the file "log" there */
	char path[TEMP_SIZE];   /* of its unix socket */
	unsigned port;          /* 0: none */
	pid_t pid;              /* 0: it does not run */
	const char *const *options;
};

/* redis_server_start makes the folder and starts the server in it; it answers when this returns.
 * options: further words of its command line, for example "--appendonly", "yes"; ended by NULL, or
 * NULL; they must outlive the server. Aborts, with the log, if the server does not start. */
void redis_server_start(struct redis_server *, bool tcp, const char *const *options);

/* redis_server_restart: after a stop or a kill; same folder, socket, port and options. */
void redis_server_restart(struct redis_server *);

void redis_server_stop(struct redis_server *);   /* SIGTERM, and waits for its end */
void redis_server_kill(struct redis_server *);   /* kill -9, and waits for its end */
void redis_server_pause(struct redis_server *);  /* SIGSTOP; it stands still on return */
void redis_server_resume(struct redis_server *); /* SIGCONT */

/* redis_server_end kills it if it runs, and removes the folder with all that is in it. */
void redis_server_end(struct redis_server *);

#endif
