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

/* rng_id writes 128 random bits as text into ret_id (RNG_ID_SIZE bytes), and returns it. The ids of
 * many processes never collide. If rng is NULL, the kernel draws the bits. */
#define RNG_ID_SIZE 33
const char *rng_id(struct rng *, char *ret_id);

/* rng_seed draws a seed from the kernel. */
uint64_t rng_seed(void);

#endif
