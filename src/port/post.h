/* Calls of other threads, as the engine sees them. Each turn takes some of them. */
#ifndef DW_PORT_POST_H
#define DW_PORT_POST_H

#include <stdbool.h>

/* An item in the queue of calls of other threads. It is the first member of the struct that it
 * belongs to. */
struct post {
	struct post *next;
	bool is_job; /* true: a struct job that comes back; false: a call */
};

struct post_port {
	/* Does a bounded number of queued calls, and returns true if more are left. */
	bool (*drain)(void *user);
	void *user;
};

#endif
