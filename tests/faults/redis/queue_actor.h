/* A process that uses a queue topic. What it does, it tells on its standard output, a line each:
 *	r               it has opened the store
 *	p FIRST COUNT   the messages m<FIRST> and so on are pushed, confirmed
 *	c NUMBER 0      the timer t<NUMBER> is put, confirmed
 *	t ID ATTEMPT    it has taken a message
 *	b ID ATTEMPT    it has asked for it to come back
 *	d ID ATTEMPT    its DW_DONE is confirmed
 * It closes the store and ends when its standard input has something to read. */
#ifndef DW_TESTS_REDIS_QUEUE_ACTOR_H
#define DW_TESTS_REDIS_QUEUE_ACTOR_H

#include "durawheel/durawheel.h"

#define QUEUE_TOPIC "q"

enum queue_part {
	QUEUE_OWNER,  /* makes the topic a queue, and messages of due timers */
	QUEUE_PUSHER, /* pushes messages, and puts timers */
	QUEUE_TAKER   /* takes and answers messages */
};
enum { QUEUE_BATCH = 50, QUEUE_PUSHED = 20 };

struct queue_task {
	enum queue_part part;
	const char *url;
	const char *name;
	dw_usec hide; /* the hide time of the topic */
	unsigned seed;
};

/* queue_actor is a body for process_fork(); user is a struct queue_task. */
int queue_actor(void *user);

#endif
