/* Stands between an engine and its store and reports all operations to the promises. */
#ifndef SIM_FLEET_OBSERVER_H
#define SIM_FLEET_OBSERVER_H

#include "durawheel/store.h"
#include "sim/core/promises.h"
#include "sim/core/terms.h"
#include "sim/fleet/server.h"
#include "sim/fleet/shard_bugs.h"

struct process;

/* The knowledge of the engine. */
struct knowledge {
	uint64_t known[NAMES_MAX]; /* the last generation that it learnt of as the owner */
	uint64_t ended[NAMES_MAX]; /* the last generation that it ended itself */
	struct terms terms;
	unsigned since[SHARDS_MAX_SIM]; /* operations of earlier terms tell nothing of the shard */
	bool owned[SHARDS_MAX_SIM];     /* of a peer: the shards that its engine owns */
	dw_usec store_worked_at;        /* steady: its store last had a turn or a submission */
	dw_usec told_of_loss_at;        /* steady: its store told of lost data, at the latest */
	dw_usec leased;                 /* steady: end of the lease that its store promised */
};

struct observer {
	dw_store store; /* first */
	dw_store_class type;
	dw_store *real;
	struct process *process;
	struct knowledge knowledge;
	bool refused[SHARDS_MAX_SIM]; /* shards of which the engine was told so */
	dw_usec gives_until;          /* its engine may be giving a shard */
	bool kept[SHARDS_MAX_SIM];    /* shards that were given, and the engine was not told */
	struct shard_bugs bugs;
};

void observer_init(struct observer *, struct process *, dw_store *real);

#endif
