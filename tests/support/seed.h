/* The seed of a random test. It is always printed, and taken from DW_SEED if that is set. So
 * `DW_SEED=... the_test` repeats a failure. */
#ifndef DW_TESTS_SUPPORT_SEED_H
#define DW_TESTS_SUPPORT_SEED_H

#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "support/environment.h"

static inline struct rng seed_of_test(void)
{
	struct rng rng = {environment_number("DW_SEED", rng_seed())};

	printf("DW_SEED=%" PRIu64 "\n", rng.state);
	return rng;
}

#endif
