#include "sim/core/sim.h"

uint64_t draw(struct sim *sim, uint64_t limit)
{
	return rng_below(&sim->rng, limit);
}

bool chance(struct sim *sim, uint32_t n)
{
	return n > 0 && rng_below(&sim->rng, 10000) < n;
}

uint32_t some(struct sim *sim, uint32_t most)
{
	return chance(sim, 4000) ? 0 : 1 + (uint32_t)draw(sim, most);
}

uint32_t any_pause(struct sim *sim)
{
	static const uint32_t pauses[] = {300, 3000, 30000, 300000};

	return pauses[draw(sim, 4)];
}

void faults_disturb(struct sim *sim, dw_usec until)
{
	sim->faults.disturbed_until = usec_max(sim->faults.disturbed_until, until);
}
