/* search: every state that can be reached, breadth first, so that a trace is a shortest one. */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include "model/model.h"
#include "model/promises.h"

struct search {
	struct model model;
	uint32_t limit;     /* of states; the search stops there */
	enum promise until; /* it also stops when this one is broken */
	bool trace;         /* print the first trace that breaks each promise */
};

struct found {
	uint32_t states;
	uint64_t transitions;
	bool complete;
	uint32_t violations;
	uint32_t broken[PROMISE_COUNT]; /* the violations by promise */
};

struct found search_run(const struct search *);

#endif
