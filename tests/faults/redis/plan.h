/* The plan of a run: every operation on its timers, and the process that does it. It is made before
 * the processes, so each process knows all of it. The test forks the replacement of a killed
 * process, and has by then marked the operations already sent. */
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
	uint64_t seed; /* seed of the data */
	dw_usec end;   /* the end of all operations and deadlines */
};

struct plan_size {
	size_t count;
	dw_usec period; /* the time in which the timers are put */
	dw_usec span;   /* the longest time from put to deadline */
	bool alone;     /* the owner does all operations */
	dw_usec delay;  /* the first timers are put so much later than the processes start */
};

/* plan_mixed: the owner and a client put the timers. Three of ten are cancelled and one is moved,
 * by either. */
void plan_mixed(struct plan *, struct faults *, const struct plan_size *);

struct plan_race {
	size_t count;
	dw_usec each;   /* from one deadline to the next */
	dw_usec around; /* a cancel comes at most so long before or after its deadline */
	dw_usec ahead;  /* one of five comes earlier than that, by up to this time */
};

/* plan_cancels: the owner puts every timer, and one of two other actors cancels it. */
void plan_cancels(struct plan *, struct faults *, const struct plan_race *);

void plan_free(struct plan *);

/* plan_digest: the digest of a timer's data. */
uint64_t plan_digest(const struct plan *, size_t number);

#endif
