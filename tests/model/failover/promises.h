/* promises: what must never be broken, as assertions on a state or on a step. */
#ifndef MODEL_FAILOVER_PROMISES_H
#define MODEL_FAILOVER_PROMISES_H

#include "model/failover/model.h"

enum promise {
	PROMISE_KEPT, /* nothing is broken */
	PROMISE_ONE,
	PROMISE_I3,
	PROMISE_I4,
	PROMISE_I5,
	PROMISE_FALSE,
	PROMISE_OWNED,
	PROMISE_COUNT
};

/* owns: the party may start timers. */
bool promises_owns(const struct model *, const struct state *, unsigned party);

/* promises_one: only one process may start timers. */
enum promise promises_one(const struct model *, const struct state *);

/* promises_start notes a start, and says what it breaks. */
enum promise promises_start(struct state *, uint8_t generation);

/* promises_changed: the server has run a change that ends the generation. */
void promises_changed(struct state *, uint8_t generation, uint8_t server);

/* promises_effect: somebody acts at the server, by the last decision for it. What the server does
 * not know is lost by the replication: nothing is promised of it. */
enum promise promises_effect(struct state *, uint8_t server);

/* promises_copy: the server has the data of the source. */
void promises_copy(struct state *, uint8_t server, uint8_t source);

/* promises_reset: the server has the data of its file. */
void promises_reset(struct state *, uint8_t server);

/* promises_rest: somebody owns the shard, and no timer waits. */
bool promises_rest(const struct model *, const struct state *);

unsigned promises_end(const struct state *);
const char *promise_name(unsigned promise);
const char *promise_words(unsigned promise);

#endif
