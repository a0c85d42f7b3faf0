/* What every store must do: one suite, run on each. durawheel/store.h is the contract. */
#ifndef DW_TESTS_CONTRACT_H
#define DW_TESTS_CONTRACT_H

#include "support/ask.h"
#include "support/cmocka.h"

enum { CONTRACT_START = 1000000000 }; /* the clock at the beginning of a case */

/* A kind of store. A place is what its openings have in common: a folder, or nothing. */
struct contract_kind {
	const char *name;
	bool shared; /* several openings of one place see the same timers */
	bool served; /* generations follow the clock of a server, not the opening's */
	void *(*make_place)(void);
	void (*free_place)(void *place);
	int (*open)(void *place, const dw_store_env *env, dw_store **ret_store);
	/* fill takes the store's memory away, or gives it back. NULL: it cannot. */
	void (*fill)(void *place, bool full);
	/* set_ahead says how far the server's clock is ahead. Only of a store that is served. */
	void (*set_ahead)(dw_usec ahead);
};

/* A store under test: its place, a clock, and an owner that is open. */
struct contract {
	const struct contract_kind *kind;
	void *place;
	dw_usec now;
	dw_usec ahead;  /* of the server's clock */
	uint64_t token; /* of the last opening */
	struct ask owner;
	struct ask client;
};

/* contract_open opens the place for ask. */
void contract_open(struct contract *, struct ask *, dw_role);

/* contract_crash: the owner goes without giving anything back, and another one comes. */
void contract_crash(struct contract *);

/* contract_claim: a put of id, due at 500, that the owner has claimed; its generation. */
uint64_t contract_claim(struct contract *, const char *id);
/* contract_retry: a RETRY of "a". */
dw_op *contract_retry(uint64_t generation, uint32_t attempt, dw_usec due, unsigned flags);
/* contract_put_kept makes a PUT of a timer that says how long its end is kept; 0: it says nothing.
 * every: it has a rule. */
dw_op *contract_put_kept(const char *id, dw_usec keep, bool every);
/* contract_status: without its strings. */
dw_store_status contract_status(struct ask *);

struct contract_case {
	struct CMUnitTest test;
	bool shared; /* needs a store that can be opened more than once */
};

#define CONTRACT_CASE(name, needs)                                                                 \
	{                                                                                          \
		{#name, name, NULL, NULL, NULL}, needs                                             \
	}

#define CONTRACT_CASES_END                                                                         \
	{                                                                                          \
		{NULL, NULL, NULL, NULL, NULL}, false                                              \
	}

extern const struct contract_case contract_timers[];
extern const struct contract_case contract_pages[];
extern const struct contract_case contract_cancels[];
extern const struct contract_case contract_dead[];
extern const struct contract_case contract_whys[];
extern const struct contract_case contract_batches[];
extern const struct contract_case contract_whole[];
extern const struct contract_case contract_topics[];
extern const struct contract_case contract_queues[];
extern const struct contract_case contract_queue_bounds[];
extern const struct contract_case contract_clock[];
extern const struct contract_case contract_rules[];
extern const struct contract_case contract_ends[];

/* contract_random: random operations, compared with a naive model. A cmocka test. */
void contract_random(void **state);

/* contract_run runs all; the number of failed tests. */
int contract_run(const struct contract_kind *);

#endif
