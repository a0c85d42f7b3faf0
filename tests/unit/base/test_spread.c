/* Spreads and histograms of durations, compared with the sorted durations. */
#include "support/cmocka.h"

#include <stdlib.h>

#include "base/histogram.h"
#include "base/rng.h"

static int by_value(const void *a, const void *b)
{
	dw_usec one = *(const dw_usec *)a, other = *(const dw_usec *)b;

	return (one > other) - (one < other);
}

static void quantile_is_at_most_a_quarter_too_high(void **state)
{
	struct rng rng = {.state = 7};
	dw_usec all[1000];

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct spread spread = {.sample_count = 0};

		for (size_t i = 0; i < 1000; i++) {
			all[i] = (dw_usec)rng_below(&rng, UINT64_C(8) << rng_below(&rng, 26)) + 5;
			spread_add(&spread, all[i]);
		}
		qsort(all, 1000, sizeof *all, by_value);
		for (uint32_t percent = 1; percent <= 100; percent++) {
			dw_usec exact = all[percent * 10 - 1];

			assert_true(spread_quantile(&spread, percent) >= exact);
			assert_true(spread_quantile(&spread, percent) <= exact + exact / 4 + 1);
		}
		assert_int_equal(spread_quantile(&spread, 100), all[999]);
	}
}

static void old_durations_fade(void **state)
{
	struct spread spread = {.sample_count = 0};

	(void)state;
	assert_int_equal(spread_quantile(&spread, 99), 0);
	for (int i = 0; i < 2000; i++)
		spread_add(&spread, DW_SECONDS(1));
	for (int i = 0; i < 20000; i++)
		spread_add(&spread, 100);
	assert_true(spread_quantile(&spread, 99) < 130);
	assert_int_equal(spread.max, DW_SECONDS(1));
	assert_true(spread.sample_count < SPREAD_SAMPLES_MAX);
}

static void any_duration_has_a_bucket(void **state)
{
	struct spread spread = {.sample_count = 0};

	(void)state;
	spread_add(&spread, -5);
	spread_add(&spread, 0);
	spread_add(&spread, DW_NEVER);
	assert_int_equal(spread.sample_count, 3);
	assert_true(spread_quantile(&spread, 1) <= 5);
	assert_true(spread_quantile(&spread, 100) > DW_MINUTES(60));
}

static void histogram_counts_to_the_bound(void **state)
{
	struct histogram histogram = {.sum_us = 0};

	(void)state;
	histogram_add(&histogram, -1);
	histogram_add(&histogram, 50);
	histogram_add(&histogram, 51);
	histogram_add(&histogram, DW_SECONDS(60));
	histogram_add(&histogram, DW_SECONDS(60) + 1);
	assert_int_equal(histogram.counts[0], 2);
	assert_int_equal(histogram.counts[1], 1);
	assert_int_equal(histogram.counts[HISTOGRAM_BOUNDS - 1], 1);
	assert_int_equal(histogram.counts[HISTOGRAM_BOUNDS], 1);
	assert_int_equal(histogram.sum_us, 50 + 51 + 2 * DW_SECONDS(60) + 1);
	for (int i = 1; i < HISTOGRAM_BOUNDS; i++)
		assert_true(histogram_bounds[i - 1] < histogram_bounds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quantile_is_at_most_a_quarter_too_high),
	    cmocka_unit_test(old_durations_fade),
	    cmocka_unit_test(any_duration_has_a_bucket),
	    cmocka_unit_test(histogram_counts_to_the_bound),
	};

	return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
