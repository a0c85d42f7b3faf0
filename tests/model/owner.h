/* owner: what several moves of the process with the journal have in common. */
#ifndef MODEL_OWNER_H
#define MODEL_OWNER_H

#include "model/model.h"

static inline bool owner_reaches_redis(const struct state *state)
{
	return state->owner.up && !state->owner.cut;
}

/* owner_is_lost: it runs, and Redis is away. */
static inline bool owner_is_lost(const struct state *state)
{
	return state->owner.up && state->owner.cut;
}

static inline bool owner_has_lease(const struct state *state)
{
	return state->owner.role != ROLE_CLIENT && state->owner.fence == state->server.lease;
}

static inline bool owner_is_in_doubt(const struct owner *owner)
{
	return owner->stage >= STAGE_DOUBT;
}

/* owner_learn: memory takes over the timer of Redis, or of the row that is not replayed yet (J11a),
 * unless its handler is running. */
void owner_learn(const struct model *, struct state *);

/* owner_forget: memory has no timer. */
void owner_forget(struct owner *);

/* owner_lose: it is a client from now on. */
void owner_lose(struct owner *);

/* owner_die: a kill. What is on its disk stays. */
void owner_die(struct owner *);

void owner_drop_row(struct owner *);

/* owner_write_row: in place of the one before. */
void owner_write_row(struct state *, enum row_kind, uint8_t generation, uint8_t base,
		     uint8_t attempt);

#endif
