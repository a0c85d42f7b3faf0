/* What every store must do: one suite, run on each. durawheel/store.h is the contract. */
#ifndef DW_TESTS_CONTRACT_H
#define DW_TESTS_CONTRACT_H

#include "support/ask.h"

/* A kind of store. A place is what its openings have in common: a folder, or nothing. */
struct contract_kind {
	const char *name;
	bool shared; /* several openings of one place see the same timers */
	void *(*make_place)(void);
	void (*free_place)(void *place);
	int (*open)(void *place, const dw_store_env *env, dw_store **ret_store);
};

/* A store under test: its place, a clock, and an owner that is open. */
struct contract {
	const struct contract_kind *kind;
	void *place;
	dw_usec now;
	uint64_t token; /* of the last opening */
	struct ask owner;
	struct ask client;
};

/* contract_open opens the place for ask. */
void contract_open(struct contract *, struct ask *, dw_role);

/* contract_crash: the owner goes without giving anything back, and another one comes. */
void contract_crash(struct contract *);

/* contract_random: random operations, compared with a naive model. A cmocka test. */
void contract_random(void **state);

/* contract_run runs all; the number of failed tests. */
int contract_run(const struct contract_kind *);

#endif
