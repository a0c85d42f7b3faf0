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
enum { REPLICA_BEATS = 300 };       /* the largest number of recurring timers */

struct replica_task {
	const char *url;
	const char *name;
	unsigned life;     /* the ids of its timers contain this number */
	unsigned a_second; /* timers to put a second; two of seven are of the queue topic */
	unsigned beats;    /* recurring timers to put; if not 0, it makes the queue topic */
};

/* replica is a body for process_fork(); user is a struct replica_task. */
int replica(void *user);

#endif
