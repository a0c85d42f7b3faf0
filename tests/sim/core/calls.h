/* The calls of the program, and their answers. */
#ifndef SIM_CORE_CALLS_H
#define SIM_CORE_CALLS_H

#include <stdbool.h>

#include "durawheel/durawheel.h"
#include "sim/core/recurrence.h"

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
	struct name *name; /* NULL: the engine makes the id, or the call has none */
	uint32_t topic;
	dw_usec due;
	dw_usec late_after;
	struct recurrence rule;
	bool keeps; /* its end is kept */
	int status;
	dw_usec at;          /* steady: it was asked */
	bool callback;       /* the caller gets an answer */
	uint64_t life;       /* of the process that called; 0: a client */
	uint64_t generation; /* settle */
	dw_verdict verdict;  /* settle */
};

struct calls {
	struct asked asked[CALLS_MAX];
	uint32_t count;
	uint64_t unanswered;
	bool purging;      /* only one at a time, because a name has one purge_floor */
	dw_usec purged_at; /* steady: the last one was answered */
};

/* calls_new notes a call before it is made; NULL: no room, do not make it. calls_accepted notes
 * what it returned, calls_answered what its callback was told. */
struct asked *calls_new(struct sim *, enum asked_kind, struct name *);
void calls_accepted(struct sim *, struct asked *, int status);
void calls_answered(struct sim *, struct asked *, int status, const dw_result *);

/* calls_process_ended: the open calls of the process at work will never be answered. */
void calls_process_ended(struct sim *);

/* calls_unanswered: how many open calls the process at work has. */
unsigned calls_unanswered(const struct sim *);

/* Each put stores its number as data. calls_of_data finds the put by that data, calls_of_body by a
 * stored body; NULL: no put has stored this. */
uint64_t calls_number(const struct sim *, const struct asked *);
const struct asked *calls_of_data(const struct sim *, const void *data, size_t size);
const struct asked *calls_of_body(const struct sim *, const void *body, size_t size);

#endif
