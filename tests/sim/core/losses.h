/* What a promise is worth after the store has lost what it had confirmed. A loss itself, and who
 * has to put it right, is the business of the simulator that lets it happen. */
#ifndef SIM_CORE_LOSSES_H
#define SIM_CORE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"

struct generation;
struct name;
struct sim;

/* Of the timers of one id. */
struct name_loss {
	struct generation *owed; /* the keeper has to write it again; NULL: none */
	uint64_t keeper;         /* the life that has to put it right, 0: none has */
	dw_usec befallen_at;     /* steady: its shard was emptied or set back; 0: never */
	bool torn;               /* somebody has taken its value away */
};

/* Of one generation. */
struct generation_loss {
	bool lost;       /* by the store, and nobody has to write it again */
	bool reset;      /* the store was set back, and has it again */
	bool pushed;     /* its owner has written it again */
	bool letter;     /* found among the dead letters */
	uint64_t keeper; /* the life of the owner when it was lost */
};

/* losses_lose: nobody has to bring the generation back, and somebody may. */
void losses_lose(struct sim *, struct generation *);

/* losses_confirmed: a call confirms a generation. When it is lost, and the call is the keeper's own,
 * the keeper knows the generation, too, and owes it. */
void losses_confirmed(struct sim *, struct generation *);

/* losses_changed: a client replaces or deletes what is not put right yet. */
void losses_changed(struct sim *, struct name *, bool deleted);

/* losses_ended: a client ends what is stored, and with it what the store had lost before. */
void losses_ended(const struct name *);

/* losses_may_repeat: the put that made it may be done once more, because nobody was told of it. */
bool losses_may_repeat(const struct generation *);

#endif
