/* Saturating arithmetic on time, compared with arithmetic in 128 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/usec.h"
#include "support/seed.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

__extension__ typedef __int128 wide;

static dw_usec saturate(wide value)
{
	return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (dw_usec)value;
}

static void check_pair(dw_usec a, dw_usec b)
{
	assert_true(usec_add(a, b) == saturate((wide)a + b));
	assert_true(usec_sub(a, b) == saturate((wide)a - b));
	assert_true(usec_mul(a, b) == saturate((wide)a * b));
	assert_true(usec_min(a, b) <= a && usec_min(a, b) <= b);
	assert_true(usec_max(a, b) >= a && usec_max(a, b) >= b);
}

static void arithmetic_at_the_edges_saturates(void **state)
{
	static const dw_usec edges[] = {
	    INT64_MIN, INT64_MIN + 1,    -(INT64_C(1) << 53),    -1000001,      -1,        0, 1, 2,
	    1000000,   INT64_C(1) << 53, (INT64_C(1) << 53) + 1, INT64_MAX - 1, INT64_MAX,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(edges); i++)
		for (size_t k = 0; k < COUNT(edges); k++)
			check_pair(edges[i], edges[k]);
}

static void arithmetic_of_random_numbers_saturates(void **state)
{
	struct rng rng = seed_of_test();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		unsigned shift_a = (unsigned)rng_below(&rng, 64);
		unsigned shift_b = (unsigned)rng_below(&rng, 64);
		dw_usec a = (dw_usec)rng_next(&rng) / (INT64_C(1) << (shift_a & 62u));
		dw_usec b = (dw_usec)rng_next(&rng) / (INT64_C(1) << (shift_b & 62u));

		check_pair(a, b);
	}
}

static void never_plus_anything_is_never(void **state)
{
	(void)state;
	assert_true(usec_add(DW_NEVER, 0) == DW_NEVER);
	assert_true(usec_add(DW_NEVER, DW_DAYS(1)) == DW_NEVER);
	assert_true(usec_add(DW_DAYS(20000), DW_NEVER) == DW_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arithmetic_at_the_edges_saturates),
	    cmocka_unit_test(arithmetic_of_random_numbers_saturates),
	    cmocka_unit_test(never_plus_anything_is_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
