/* Faults of the server's data: a shard is emptied, the data comes back as it was a while ago, a
 * session ends, a timer is half deleted, a newer version writes. The expected losses look at the
 * data before and after. */
#ifndef SIM_FLEET_DATA_FAULTS_H
#define SIM_FLEET_DATA_FAULTS_H

#include <stdint.h>

#include "sim/fleet/server.h"

struct fleet;

struct data_faults {
	uint32_t empty;       /* of 10,000 events: the data is gone */
	uint32_t set_back;    /* the data is as it was a while ago */
	uint32_t session;     /* a session ends */
	uint32_t newer;       /* a newer version stores a timer */
	uint32_t half_delete; /* the entry or the value of a timer is deleted */
};

/* data_faults_choose chooses the faults that lose data. Without --losses or --peer-losses there are
 * none, and in half of the seeds neither. */
void data_faults_choose(struct fleet *);
void data_faults_act(struct fleet *);

/* data_faults_given: a peer is about to give the shard, and it may be emptied before. */
void data_faults_given(struct fleet *, unsigned shard);

#endif
