/* What was asked for, and what was answered. */
#ifndef SIM_CORE_CALLS_H
#define SIM_CORE_CALLS_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct name;
struct sim;

#define CALLS_MAX 8192u
#define UNANSWERED 1 /* a status that no call has */
#define VOID 2       /* the process died before the answer */

enum asked_kind {
	ASKED_PUT,
	ASKED_CANCEL,
	ASKED_MOVE,
	ASKED_REQUEUE,
	ASKED_PURGE,
	ASKED_SETTLE,
	ASKED_LIST
};

/* One call of the API, the program's or a client's. */
struct asked {
	enum asked_kind kind;
	struct name *name; /* of the id; NULL: the engine makes one, or there is none */
	uint32_t topic;
	dw_usec due;
	dw_usec late_after;
	int status;
	bool callback;       /* somebody is told */
	uint64_t life;       /* of the process that called; 0: a client */
	uint64_t generation; /* settle */
	dw_verdict verdict;  /* settle */
};

struct calls {
	struct asked asked[CALLS_MAX];
	uint32_t count;
	uint64_t unanswered;
	bool purging; /* one at a time, so that name.purge_floor is of that one */
};

/* calls_new notes a call; NULL: no room, do not call. calls_accepted: what the call returned. */
struct asked *calls_new(struct sim *, enum asked_kind, struct name *);
void calls_accepted(struct sim *, struct asked *, int status);
void calls_answered(struct sim *, struct asked *, int status, const dw_result *);

/* calls_process_ended: the calls of the process at work are never answered. */
void calls_process_ended(struct sim *);

/* calls_unanswered: how many of the process at work. */
unsigned calls_unanswered(const struct sim *);

/* A put's data is its number. calls_of_data: the put that data is of; NULL: it is none.
 * calls_of_body: the same of a body as it is stored. */
uint64_t calls_number(const struct sim *, const struct asked *);
const struct asked *calls_of_data(const struct sim *, const void *data, size_t size);
const struct asked *calls_of_body(const struct sim *, const void *body, size_t size);

#endif
