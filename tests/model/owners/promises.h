/* promises: what must never be broken, as assertions on a state or on a step. */
#ifndef MODEL_OWNERS_PROMISES_H
#define MODEL_OWNERS_PROMISES_H

#include "model/owners/state.h"

enum promise {
	PROMISE_KEPT, /* nothing is broken */
	PROMISE_I2,
	PROMISE_I3,
	PROMISE_I4,
	PROMISE_I5,
	PROMISE_I5_ATTEMPT,
	PROMISE_ONE,
	PROMISE_LIVING,
	PROMISE_COUNT
};

/* promises_start notes a start, and says what it breaks. */
enum promise promises_start(struct state *, unsigned party);

/* promises_owns: the party may start timers from now on. */
enum promise promises_owns(const struct state *, unsigned party);

/* promises_drop: the party is about to forget the shard. */
enum promise promises_drop(const struct state *, unsigned party);

/* promises_void: nobody knows any more what the server has lost. So nothing is promised of it. */
void promises_void(struct state *);

/* promises_set_back: the server is back with other data than `before`. */
void promises_set_back(struct state *, const struct data *before);

/* promises_end: the promise that is broken if nothing happens any more, or PROMISE_KEPT. */
unsigned promises_end(const struct state *);

const char *promise_name(unsigned promise);
const char *promise_words(unsigned promise);

#endif
