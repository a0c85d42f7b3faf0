/* Random numbers for jitter, ids and tests: splitmix64 (Steele, Lea and Flood 2014). They are not
 * safe for secrets. The caller keeps the state. Draw one number per statement. */
#ifndef DW_BASE_RNG_H
#define DW_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *);

/* rng_below returns a number in [0, limit). limit is at least 1. */
uint64_t rng_below(struct rng *, uint64_t limit);

/* rng_seed draws a seed from the kernel. */
uint64_t rng_seed(void);

#endif
