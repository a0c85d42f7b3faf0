/* A process with a handle on the store. It does its part of the plan and fires the timers that it
 * owns. It reports everything on its stdout, each event just before or right after it happens. It
 * ends normally when its stdin has a byte. */
#ifndef DW_TESTS_REDIS_ACTOR_H
#define DW_TESTS_REDIS_ACTOR_H

#include "faults/redis/plan.h"

struct actor_task {
	const char *url;
	bool is_replicated; /* a confirmation without the replicas counts as none */
	const char *name;   /* name of the namespace */
	const struct plan *plan;
	unsigned hand; /* its part of the plan */
	dw_role role;
	dw_usec lease;       /* 0: the usual lease */
	const char *journal; /* NULL: none */
	dw_outage outage;
};

/* The lines on stdout: "e KIND NUMBER AT DUE GENERATION ATTEMPT STATUS DIGEST" is an event of
 * history.h, "o KIND COUNT" a dw_event_kind, "s US" the longest turn so far, "n TEXT" a note for
 * people. */
int actor_main(void *task);

#endif
