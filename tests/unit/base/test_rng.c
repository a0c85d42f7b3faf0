/* Random numbers: the known sequence, bounds, and no visible bias. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/seed.h"

static void rng_of_known_seed_gives_known_numbers(void **state)
{
	/* From an implementation of splitmix64 in another language. */
	static const uint64_t expected[5] = {
	    UINT64_C(0x599ed017fb08fc85), UINT64_C(0x2c73f08458540fa5),
	    UINT64_C(0x883ebce5a3f27c77), UINT64_C(0x3fbef740e9177b3f),
	    UINT64_C(0xe3b8346708cb5ecd),
	};
	struct rng rng = {1234567};

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_true(rng_next(&rng) == expected[i]);
}

static void rng_below_stays_below(void **state)
{
	static const uint64_t limits[] = {1, 2, 3, 1000, UINT64_C(1) << 63, UINT64_MAX};
	struct rng rng = seed_of_test();

	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		for (int k = 0; k < 10000; k++)
			assert_true(rng_below(&rng, limits[i]) < limits[i]);
}

static void rng_below_is_even(void **state)
{
	struct rng rng = seed_of_test();
	int count[10] = {0};

	(void)state;
	for (int i = 0; i < 100000; i++)
		count[rng_below(&rng, 10)]++;
	/* 10,000 each; seven standard deviations of 95 are 665. */
	for (int i = 0; i < 10; i++)
		assert_in_range(count[i], 9335, 10665);
}

static void rng_seed_differs(void **state)
{
	(void)state;
	assert_true(rng_seed() != rng_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rng_of_known_seed_gives_known_numbers),
	    cmocka_unit_test(rng_below_stays_below),
	    cmocka_unit_test(rng_below_is_even),
	    cmocka_unit_test(rng_seed_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
