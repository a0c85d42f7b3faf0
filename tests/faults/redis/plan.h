/* The plan of a test: every operation on its timers, and the process that does it. The plan is made
 * before the processes start, so each process has all of it. When the test replaces a killed
 * process, it has marked the operations that were sent already. */
#ifndef DW_TESTS_REDIS_PLAN_H
#define DW_TESTS_REDIS_PLAN_H

#include "faults/faults.h"

enum plan_act { PLAN_NONE, PLAN_CANCEL, PLAN_MOVE };

/* The actors of a plan. */
enum { PLAN_OWNER, PLAN_CLIENT, PLAN_THIRD, PLAN_HANDS };

struct plan_item {
	dw_usec put_at;
	dw_usec due;
	unsigned put_by;
	enum plan_act act;
	unsigned act_by;
	dw_usec act_at;
	dw_usec moved_due;
	bool put_sent;
	bool act_sent;
};

struct plan {
	struct plan_item *items;
	size_t count;
	uint64_t seed; /* the seed of the data */
	dw_usec end;   /* the end of all operations and deadlines */
};

struct plan_size {
	size_t count;
	dw_usec period; /* the time in which the timers are put */
	dw_usec span;   /* the longest time from put to deadline */
	bool alone;     /* the owner does all operations */
	dw_usec delay;  /* how much later than the processes the first put starts */
};

/* plan_mixed plans puts by the owner and a client. Three timers of ten are cancelled and one is
 * moved, by the owner or the client. */
void plan_mixed(struct plan *, struct faults *, const struct plan_size *);

struct plan_race {
	size_t count;
	dw_usec each;   /* the time from one deadline to the next */
	dw_usec around; /* the longest time of a cancel before or after its deadline */
	dw_usec ahead;  /* one of five cancels is earlier than that, by up to this time */
};

/* plan_cancels plans a put of every timer by the owner, and a cancel of it by one of two other
 * actors. */
void plan_cancels(struct plan *, struct faults *, const struct plan_race *);

void plan_free(struct plan *);

/* plan_digest returns the digest of a timer's data. */
uint64_t plan_digest(const struct plan *, size_t number);

#endif
