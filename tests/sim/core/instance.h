/* One running engine: its loop, and its life from opening to crash or close. */
#ifndef SIM_CORE_INSTANCE_H
#define SIM_CORE_INSTANCE_H

#include <stdbool.h>

#include "base/usec.h"
#include "engine/engine.h"
#include "sim/core/memory.h"

#define TOPIC_COUNT 4u

struct instance {
	struct sim *sim;
	unsigned number;        /* of its process */
	struct account account; /* of the engine's blocks */
	struct engine *engine;  /* NULL: the process does not run */
	uint64_t life;          /* grows with every start; 0: no process is at work */
	bool dead; /* the process crashed inside a callback: what it still does has no effect */
	bool closing;
	dw_usec close_until;
	dw_usec armed; /* wall time of the next turn */
	bool woken;
	dw_usec wake_at; /* steady time of that turn */
	dw_usec stalled_until;
	dw_usec open_at;     /* steady: the next start */
	uint64_t idle_turns; /* in a row, without time passing */
	uint32_t turn_starts;
	bool handled[TOPIC_COUNT];
	bool batched[TOPIC_COUNT]; /* by a handler for batches */
	bool handled_any;
	dw_usec handled_at[TOPIC_COUNT]; /* steady: its handler was changed */
};

/* instance_env: the options of every engine; the caller sets role and event handler. */
struct engine_env instance_env(struct instance *);

/* instance_begin resets the state for a new life. */
void instance_begin(struct instance *, uint64_t life);

/* instance_close begins to close the engine. instance_may_end: everything is settled, or time is
 * up. */
void instance_close(struct instance *);
bool instance_may_end(const struct instance *);

/* instance_gone frees the engine and chooses when the process starts again. */
void instance_gone(struct instance *, dw_usec away_max);

void instance_wake(struct instance *);
void instance_stall(struct instance *, dw_usec time);

/* instance_step_clock sets the wall clock and wakes the instance at work, whose timerfd notices
 * it. */
void instance_step_clock(struct sim *);

/* instance_next: steady time of the next turn; early: the caller has a reason for one by then. */
dw_usec instance_next(const struct instance *, dw_usec early);

/* instance_turn runs one turn. instance_count_idle then reports an engine that turns without
 * effect. */
void instance_turn(struct instance *);
void instance_count_idle(struct instance *);

static inline bool instance_handles(const struct instance *instance, uint32_t topic)
{
	return instance->handled_any || instance->handled[topic];
}

#endif
