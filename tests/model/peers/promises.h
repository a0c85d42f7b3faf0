/* promises: what must never be broken, as assertions on a state or on a step. */
#ifndef MODEL_PEERS_PROMISES_H
#define MODEL_PEERS_PROMISES_H

#include "model/peers/model.h"

enum promise {
	PROMISE_KEPT, /* nothing is broken */
	PROMISE_ONE,
	PROMISE_OWNED,
	PROMISE_BALANCE,
	PROMISE_CALM,
	PROMISE_COUNT
};

/* promises_has: the member may start timers of the shard from now on. */
enum promise promises_has(const struct state *, unsigned member, unsigned shard);

/* promises_reads: the member has learned its share from the list. */
enum promise promises_reads(const struct state *, unsigned member);

/* promises_end: the promise that is broken if nothing happens any more, or PROMISE_KEPT. */
unsigned promises_end(const struct state *);

const char *promise_name(unsigned promise);
const char *promise_words(unsigned promise);

#endif
