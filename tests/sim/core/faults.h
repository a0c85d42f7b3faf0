/* How much goes wrong in a seed, and until when something did last. */
#ifndef SIM_CORE_FAULTS_H
#define SIM_CORE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"

struct sim;

struct faults {
	bool over;               /* the quiet end has begun: no more faults */
	dw_usec disturbed_until; /* steady: the end of the last one */
};

/* faults_disturb notes a fault that lasts until then. */
void faults_disturb(struct sim *, dw_usec until);

#endif
