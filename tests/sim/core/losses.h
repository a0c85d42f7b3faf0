/* The promises that remain after the store has lost confirmed data. The simulator that makes the
 * store lose data decides which process has to rebuild it. */
#ifndef SIM_CORE_LOSSES_H
#define SIM_CORE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"

struct generation;
struct name;
struct sim;

/* The losses of the timers of one id. */
struct name_loss {
	struct generation *owed; /* the keeper has to rebuild it; NULL: nothing */
	uint64_t keeper;   /* the life of the process that has to rebuild it; 0: none has to */
	dw_usec at;        /* steady: its shard was last emptied or set back; 0: never */
	bool half_deleted; /* another program deleted its value */
};

/* The losses of one generation. */
struct generation_loss {
	bool lost;        /* the store lost it, and it need not be rebuilt */
	bool set_back;    /* a set-back of the store brought it back */
	bool rebuilt;     /* its owner rebuilt it */
	bool dead_letter; /* found among the dead letters */
	uint64_t keeper;  /* the life of the owner when it was lost */
};

/* losses_lose: the generation need not be rebuilt, but it may be. */
void losses_lose(struct sim *, struct generation *);

/* losses_confirmed: a call confirms a lost generation. If the keeper made the call, it now knows
 * the generation, and therefore owes it. */
void losses_confirmed(struct sim *, struct generation *);

/* losses_changed: a client replaces or deletes a timer that is not rebuilt yet. */
void losses_changed(struct sim *, struct name *, bool deleted);

/* losses_ended: a client cancels the timer. This also ends its lost generations. */
void losses_ended(const struct name *);

/* losses_may_repeat: may the put that made it be done twice? It may if its caller got no answer. */
bool losses_may_repeat(const struct generation *);

#endif
