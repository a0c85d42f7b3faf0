/* A redis-server for one test, with its own folder, a unix socket and, on request, a free port of
 * 127.0.0.1. It persists nothing unless options say so, and dies with the test. $DW_REDIS_SERVER
 * names another program, for example valkey-server. */
#ifndef DW_TESTS_REDIS_SERVER_H
#define DW_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "support/temp.h"

struct redis_server {
	char folder[TEMP_SIZE]; /* the working folder, with the log file "log" */
	char path[TEMP_SIZE];   /* the path of the unix socket */
	unsigned port;          /* 0: no port */
	bool tls;               /* the port is the only one, and has TLS */
	pid_t pid;              /* 0: not running */
	const char *config;     /* the text of the configuration file; NULL: there is none */
	const char *const *options;
};

/* redis_server_start makes the folder and starts the server in it. The server answers when the
 * function returns. options are further words of its command line, for example "--appendonly",
 * "yes", and end with NULL; they must outlive the server. options may be NULL. If the server does
 * not start, the function prints its log and aborts. */
void redis_server_start(struct redis_server *, bool tcp, const char *const *options);

/* redis_server_start_tls does the same, with TLS on the port. The options name the files. */
void redis_server_start_tls(struct redis_server *, const char *const *options);

/* redis_server_start_file does the same, with a configuration file and a port. */
void redis_server_start_file(struct redis_server *, const char *config, const char *const *options);

/* redis_server_restart starts the server again after a stop or a kill. Folder, socket, port and
 * options stay the same. */
void redis_server_restart(struct redis_server *);

void redis_server_stop(struct redis_server *); /* sends SIGTERM and waits for the end */
void redis_server_kill(struct redis_server *); /* sends SIGKILL and waits for the end */
void redis_server_pause(
    struct redis_server *); /* sends SIGSTOP; the server has stopped on return */
void redis_server_resume(struct redis_server *); /* sends SIGCONT */

/* redis_server_end kills the server if it runs, and removes the folder. */
void redis_server_end(struct redis_server *);

#endif
