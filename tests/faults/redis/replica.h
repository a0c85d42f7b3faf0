/* A replica of a service: a peer that puts timers, fires those of its shards, and takes messages of
 * a queue topic. What it does, it tells on its standard output, a line each:
 *	r                       it has opened the store
 *	p ID                    a put is confirmed
 *	s ID DUE ATTEMPT NOW    a timer starts
 *	t ID DUE ATTEMPT NOW    it has taken a message
 *	n TEXT                  a note for people
 * SIGTERM ends it as a service is ended. After SIGUSR1 it puts nothing more. After SIGUSR2 its loop
 * stands still for REPLICA_STALL. */
#ifndef DW_TESTS_REDIS_REPLICA_H
#define DW_TESTS_REDIS_REPLICA_H

#include "durawheel/durawheel.h"

#define REPLICA_STALL DW_SECONDS(6)
#define REPLICA_EVERY DW_SECONDS(1) /* the period of the recurring timers */
enum { REPLICA_BEATS = 300 };       /* recurring timers, at most */

struct replica_task {
	const char *url;
	const char *name;
	unsigned life;     /* the ids of its timers begin with it */
	unsigned a_second; /* timers that it puts; two of seven are of the queue topic */
	unsigned beats;    /* recurring timers that it puts; then it also makes the queue topic */
};

/* replica is a body for process_fork(); user is a struct replica_task. */
int replica(void *user);

#endif
