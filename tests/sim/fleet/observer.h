/* Stands between an engine and its store, and tells the promises what passes. */
#ifndef SIM_FLEET_OBSERVER_H
#define SIM_FLEET_OBSERVER_H

#include "durawheel/store.h"
#include "sim/core/promises.h"

struct process;

/* What the engine knows. */
struct knowledge {
	uint64_t known[NAMES_MAX]; /* the last generation that it has heard of, as the owner */
	uint64_t ended[NAMES_MAX]; /* the last one that it has seen end by its own doing */
	unsigned losses;           /* of the ownership that it was told of */
	dw_usec loss_told_at;      /* steady: it was told of lost data */
	dw_usec leased;            /* until then, its store has said */
};

struct observer {
	dw_store store; /* first */
	dw_store_class type;
	dw_store *real;
	struct process *process;
	struct knowledge knowledge;
};

void observer_init(struct observer *, struct process *, dw_store *real);

#endif
