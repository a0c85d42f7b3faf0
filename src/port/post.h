/* Calls of other threads, as the engine sees them. Each turn takes some of them. */
#ifndef DW_PORT_POST_H
#define DW_PORT_POST_H

#include <stdbool.h>

/* What lies in their queue: the first member of what it is part of. */
struct post {
	struct post *next;
	bool is_job; /* a struct job that comes back; else a call */
};

struct post_port {
	/* Does a bounded part of it; true: more is left. NULL: there are no other threads. */
	bool (*drain)(void *user);
	void *user;
};

#endif
