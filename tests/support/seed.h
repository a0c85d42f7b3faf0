/* The seed of a random test: printed always, taken from DW_SEED if that is set, so that a failure
 * is run again by `DW_SEED=... the_test`. */
#ifndef DW_TESTS_SUPPORT_SEED_H
#define DW_TESTS_SUPPORT_SEED_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"

static inline struct rng seed_of_test(void)
{
	const char *given = getenv("DW_SEED");
	struct rng rng = {given ? strtoull(given, NULL, 0) : rng_seed()};

	printf("DW_SEED=%" PRIu64 "\n", rng.state);
	return rng;
}

#endif
