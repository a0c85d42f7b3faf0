/* Faults of the server and of the connections that spare the data. */
#ifndef SIM_FLEET_OUTAGE_H
#define SIM_FLEET_OUTAGE_H

#include <stdint.h>

#include "base/usec.h"

struct fleet;

struct outage {
	uint32_t cut;    /* of 10,000 events: a connection is cut */
	uint32_t refuse; /* the server answers errors for a while */
	uint32_t flush;  /* it forgets the scripts */
	uint32_t halt;   /* it stands still */
	uint32_t restart;
	uint32_t foreign;    /* a shard has a key of another program for a while */
	uint32_t shards;     /* it refuses what is asked of some shards */
	uint32_t long_stall; /* of 100 stalls of a process */
	dw_usec refusing_until;
	unsigned refusal;
};

void outage_choose(struct fleet *);
void outage_act(struct fleet *);

/* outage_restart: requests on their way and the scripts are lost; the data is on the disk. Now and
 * then the server is away for longer than a lease. */
void outage_restart(struct fleet *);

#endif
