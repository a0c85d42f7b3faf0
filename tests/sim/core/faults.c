#include "sim/core/sim.h"

void faults_disturb(struct sim *sim, dw_usec until)
{
	sim->faults.disturbed_until = usec_max(sim->faults.disturbed_until, until);
}
