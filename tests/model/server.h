/* server: what the scripts in Redis do to the record. */
#ifndef MODEL_SERVER_H
#define MODEL_SERVER_H

#include "model/model.h"

/* server_put: the generation replaces the record. A put over a claim is open: the claim may start
 * yet. */
void server_put(struct state *, uint8_t generation, uint8_t attempt);

/* server_delete: the record ends. */
void server_delete(struct state *);

/* server_run runs the owner's request; its reply is in the owner's state. */
void server_run(struct state *);

/* server_acquire: the next fence gets the lease. The earlier connections end, so what they have
 * asked for last is known from now on. */
void server_acquire(struct state *);

/* server_end: nothing is promised about this generation any more. */
static inline void server_end(struct state *state, uint8_t generation)
{
	if (generation)
		state->history[generation].ended = 1;
}

#endif
