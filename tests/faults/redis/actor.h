/* A process with a handle on the store. It does its part of the plan and fires the timers that it
 * owns. It reports everything on its stdout, each event just before or right after it happens. It
 * ends normally when its stdin has a byte. */
#ifndef DW_TESTS_REDIS_ACTOR_H
#define DW_TESTS_REDIS_ACTOR_H

#include "faults/redis/plan.h"

struct actor_task {
	const char *url;
	bool is_replicated; /* a confirmation without the replicas counts as an unknown outcome */
	const char *name;   /* the name of the namespace */
	const struct plan *plan;
	unsigned hand; /* its number in the plan */
	dw_role role;
	dw_usec lease;       /* 0: the usual lease */
	const char *journal; /* NULL: it has no journal */
	dw_outage outage;
};

/* The lines on stdout are: "e KIND NUMBER AT DUE GENERATION ATTEMPT STATUS DIGEST" for an event of
 * history.h, "o KIND COUNT" for a dw_event_kind, "s US" for the longest turn so far, and "n TEXT"
 * for a note that people read. */
int actor_main(void *task);

#endif
