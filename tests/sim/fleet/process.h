/* A process of the fleet: an engine with the real store, whose link is a connection. */
#ifndef SIM_FLEET_PROCESS_H
#define SIM_FLEET_PROCESS_H

#include "sim/core/instance.h"
#include "sim/fleet/apart.h"
#include "sim/fleet/connection.h"
#include "sim/fleet/expected_losses.h"
#include "sim/fleet/observer.h"
#include "sim/fleet/peers.h"

struct fleet;

struct process {
	struct fleet *fleet;
	struct instance instance;
	char nonce[20];
	struct connection *commands; /* NULL: it is not open */
	struct connection *subscriber;
	struct observer observer;
	struct exposure exposure;
	struct heard heard;
	struct listed listed;
	bool leaves;          /* a peer that gives its shards away, and closes later */
	uint32_t clock_seen;  /* clocks.set_count at its last turn */
	dw_usec met_newer_at; /* when it was shown a timer of a newer version; 0: it was not */
};

void process_init(struct process *, struct fleet *, unsigned number);

/* process_store_env: what its store is opened with, as a client. process_connect makes the Redis
 * store of a new life. */
dw_store_env process_store_env(struct process *);
/* process_name: the store that is opened with this has the process's next nonce. */
void process_name(struct process *, const dw_store_env *);
dw_store *process_connect(struct process *, const dw_store_env *);

/* process_enter makes it the process at work, process_leave ends that. */
void process_enter(struct process *);
void process_leave(struct process *);

dw_usec process_next(const struct process *);
void process_open(struct process *);
void process_turn(struct process *);
void process_kill(struct process *);

/* process_end begins to close it. */
void process_end(struct process *);
void process_free(struct process *);

#endif
