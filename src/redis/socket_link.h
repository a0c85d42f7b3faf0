/* A link over a socket. Only two files see this struct: socket_link.c makes the link, and
 * connection.c does everything else. */
#ifndef DW_REDIS_SOCKET_LINK_H
#define DW_REDIS_SOCKET_LINK_H

#include <sys/types.h>

#include "redis/careful.h"
#include "redis/connection.h"
#include "redis/dial.h"
#include "redis/heartbeat.h"
#include "redis/hello.h"
#include "redis/input.h"
#include "redis/life.h"
#include "redis/output.h"
#include "redis/probe.h"
#include "redis/reconnect.h"
#include "redis/transport.h"

enum state { RESTING, DIALLING, SECURING, HELLO, UP };

struct socket_link {
	struct link link; /* must be the first field */
	struct socket_options options;
	char name[64];
	char probe_key[128];
	pid_t maker;
	struct transport transport;
	enum state state;
	struct dial dial;
	struct hello hello;
	struct probe probe;
	struct output output;
	struct heartbeat heart;
	struct input input;
	struct reconnect reconnect;
	struct careful careful;
	size_t unsent; /* commands that were not sent on the connection that was lost last */
	struct life life;
	struct reply *ready; /* the reply that take() returns next */
	dw_usec now;         /* the time of the last call of work() (steady clock) */
	dw_usec deadline;    /* end of the pause, or of dialling, TLS and hello (steady clock) */
	char channels[];     /* the copy of options.channels */
};

extern const struct link_class socket_link_class;

#endif
