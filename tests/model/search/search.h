/* search: every state that can be reached, breadth first, so that a trace is a shortest one. */
#ifndef MODEL_SEARCH_SEARCH_H
#define MODEL_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/search/steps.h"

#define PROMISES_MAX 16u

struct search {
	const struct subject *subject;
	const struct model *model;
	/* quiet: the same, without faults, calls and lost leases. NULL: no end is looked for. */
	const struct model *quiet;
	uint32_t limit; /* of states; the search stops there */
	unsigned until; /* it also stops when this promise is broken */
	bool trace;     /* print the first trace that breaks each promise */
};

struct found {
	uint32_t states;
	uint64_t transitions;
	bool complete;
	uint32_t violations;
	uint32_t broken[PROMISES_MAX]; /* the violations by promise */
};

struct found search_run(const struct search *);

#endif
