/* promises: what the journal must never break, as assertions on a state or on a step. */
#ifndef MODEL_PROMISES_H
#define MODEL_PROMISES_H

#include "model/state.h"

enum promise {
	PROMISE_KEPT, /* nothing is broken */
	PROMISE_I2,
	PROMISE_I3,
	PROMISE_I4,
	PROMISE_I5,
	PROMISE_J1,
	PROMISE_J1_EMPTIED,
	PROMISE_J2,
	PROMISE_J3,
	PROMISE_J4,
	PROMISE_J4_ONCE,
	PROMISE_J5,
	PROMISE_J6,
	PROMISE_COUNT
};

/* promises_start notes a start by the owner or by the standby, and says what it breaks. */
enum promise promises_start(struct state *, bool by_owner, uint8_t generation, uint8_t attempt);

/* promises_replay: the put of the journal's row is about to become the record in Redis. */
enum promise promises_replay(const struct state *);

/* promises_end: the promise that is broken if nothing happens any more, or PROMISE_KEPT. */
unsigned promises_end(const struct state *);

const char *promise_name(unsigned promise);
const char *promise_words(unsigned promise);

#endif
