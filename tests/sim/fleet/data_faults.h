/* What befalls the server's data: it is emptied, it comes back as it was a while ago, a session in
 * it ends, keys in it are torn. The expected losses look at it before and after. */
#ifndef SIM_FLEET_DATA_FAULTS_H
#define SIM_FLEET_DATA_FAULTS_H

#include <stdint.h>

#include "sim/fleet/server.h"

struct fleet;

struct data_faults {
	uint32_t empty;    /* of 10,000 events: the data is gone */
	uint32_t set_back; /* it is as it was a while ago */
	uint32_t session;  /* a session ends */
	uint32_t tear;     /* an entry or a value is gone */
};

/* data_faults_choose: in every other seed. */
void data_faults_choose(struct fleet *);
void data_faults_act(struct fleet *);

#endif
