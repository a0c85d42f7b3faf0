/* All that happens is drawn from the seed. */
#ifndef SIM_CORE_RANDOM_H
#define SIM_CORE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim;

/* draw: [0, limit). */
uint64_t draw(struct sim *, uint64_t limit);

/* chance is true n times of 10,000. When n is 0 it draws nothing. */
bool chance(struct sim *, uint32_t n);

/* some: how often a fault happens in this seed: never in four seeds of ten, else up to most. */
uint32_t some(struct sim *, uint32_t most);

#endif
