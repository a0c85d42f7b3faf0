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
