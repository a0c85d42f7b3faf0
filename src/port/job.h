/* A delivery whose handler runs on a worker thread. One block owns all that the handler sees,
 * because meanwhile the timer may be replaced and the handle may be closed. */
#ifndef DW_PORT_JOB_H
#define DW_PORT_JOB_H

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "port/post.h"

struct job {
	struct post post; /* first: how it comes back, and a link on the way there */
	dw_fire_fn fire;
	void *user;
	dw_firing firing; /* what it points to is in this block */
	dw_token token;
	char topic[DW_TOPIC_MAX + 1];

	/* What came of it: */
	bool started;
	dw_verdict verdict;
	dw_usec retry_in; /* below 0: not said */
};

/* job_new: a job with copies of the token, the topic's name and the data. NULL: no memory. */
struct job *job_new(const struct alloc *, const dw_token *, const char *topic, const void *data,
		    size_t size);

/* The workers, as the engine sees them. */
struct worker_port {
	/* Takes a job; it comes back through engine_finish() on the engine's thread. Never fails
	 * while fewer than count are out. */
	void (*start)(void *user, struct job *);
	void *user;
	size_t count; /* 0: there are no workers */
};

#endif
