/* Several processes, each with an engine and the real Redis store, and one server, which is a
 * keyspace in this process. One process is at work at a time. */
#ifndef SIM_FLEET_FLEET_H
#define SIM_FLEET_FLEET_H

#include "sim/core/sim.h"
#include "sim/fleet/apart.h"
#include "sim/fleet/data_faults.h"
#include "sim/fleet/expected_losses.h"
#include "sim/fleet/foreign.h"
#include "sim/fleet/network.h"
#include "sim/fleet/outage.h"
#include "sim/fleet/peers.h"
#include "sim/fleet/process.h"
#include "sim/fleet/refused.h"
#include "sim/fleet/server.h"

#define PROCESSES 3u /* the last one owns only as a peer */
#define PROCESSES_MAX 5u

struct effect;

struct fleet {
	struct sim *sim;
	struct process processes[PROCESSES_MAX];
	unsigned count;          /* of its processes: 3 to 5 peers, else PROCESSES */
	struct process *at_work; /* NULL: none */
	struct server server;
	struct network network;
	struct outage outage;
	struct foreign foreign;
	struct refused refused;
	struct data_faults data_faults;
	struct remembered before[NAMES_MAX];
	uint64_t lives;
	bool is_judged_outside; /* by its answers and starts, or by what applied hears */
	void (*applied)(void *user, const struct effect *); /* NULL: nothing hears the scripts */
	void *applied_user;
	bool only_shards; /* nothing is disturbed but single shards */
	bool same_host;   /* a process can see that another one is dead */
};

static inline bool fleet_has_lease(const struct process *process, unsigned shard)
{
	return server_has_lease(&process->fleet->server, shard, process->nonce);
}

void fleet_run(struct sim *);

#endif
