/* Durations and moments as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "durawheel/durawheel.h"
#include "support/seed.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct sample {
	const char *text;
	dw_usec value;
};

static void duration_well_formed_is_exact(void **state)
{
	static const struct sample samples[] = {
	    {"0s", 0},
	    {"250us", 250},
	    {"90s", DW_SECONDS(90)},
	    {"30m", DW_MINUTES(30)},
	    {"1h30m", DW_MINUTES(90)},
	    {"2d12h", DW_HOURS(60)},
	    {"1d2h3m4s5ms6us", DW_DAYS(1) + DW_HOURS(2) + DW_MINUTES(3) + DW_SECONDS(4) + 5006},
	    {"1m1ms", DW_MINUTES(1) + 1000},
	    {"007s", DW_SECONDS(7)},
	    {"9223372036854775807us", INT64_MAX},
	    {"106751991d", DW_DAYS(106751991)},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		dw_usec value = -1;

		assert_int_equal(dw_parse_duration(samples[i].text, &value), DW_OK);
		assert_true(value == samples[i].value);
	}
}

static void duration_malformed_is_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    " ",
	    "5",
	    "s",
	    "-1",
	    "-5s",
	    "+5s",
	    "1e99",
	    "nan",
	    "inf",
	    "0x10",
	    " 5s",
	    "5s ",
	    "5 s",
	    "5s5",
	    "5s5s",
	    "5s1m",
	    "1ms1s",
	    "1.5h",
	    "5S",
	    "5y",
	    "5sm",
	    "5msus",
	    "5us5ms",
	    "5w",
	    "1h,3m",
	    "5\xc2s",
	    "1h 1m",
	    "5s\n",
	    "0x1s",
	    "1h-3m",
	    "\xef\xbc\x95s",
	    "99999999999999999999999999",
	    "99999999999999999999999999s5",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		dw_usec value = 42;

		assert_int_equal(dw_parse_duration(bad[i], &value), DW_EINVAL);
		assert_true(value == 42);
	}
	assert_int_equal(dw_parse_duration(NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_parse_duration("5s", NULL), DW_EINVAL);
}

static void duration_too_long_is_not_malformed(void **state)
{
	static const char *const bad[] = {
	    "9223372036854775808us",
	    "106751992d",
	    "99999999999999999999999999s",
	    "106751991d4h1m",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		dw_usec value = 42;

		assert_int_equal(dw_parse_duration(bad[i], &value), DW_ELIMIT);
		assert_true(value == 42);
	}
}

static void time_well_formed_is_exact(void **state)
{
	static const struct sample samples[] = {
	    {"1970-01-01T00:00:00Z", 0},
	    {"1970-01-01t00:00:00z", 0},
	    {"1970-01-01 00:00:00Z", 0},
	    {"1970-01-01T00:00:00-00:00", 0},
	    {"1969-12-31T23:59:59.999999Z", -1},
	    {"2026-06-01T09:30:00Z", INT64_C(1780306200000000)},
	    {"2026-06-01T09:30:00.25+01:00", INT64_C(1780302600250000)},
	    {"2026-06-01T09:30:00+23:59", INT64_C(1780306200000000) - DW_MINUTES(1439)},
	    {"2026-06-01T09:30:00-23:59", INT64_C(1780306200000000) + DW_MINUTES(1439)},
	    {"2000-02-29T00:00:00Z", INT64_C(951782400000000)},
	    {"2024-02-29T23:59:59Z", INT64_C(1709251199000000)},
	    {"0001-01-01T00:00:00Z", INT64_C(-62135596800000000)},
	    {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999)},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		dw_usec value = -7;

		assert_int_equal(dw_parse_time(samples[i].text, &value), DW_OK);
		assert_true(value == samples[i].value);
	}
}

static void time_finer_than_a_microsecond_is_never_early(void **state)
{
	static const struct sample samples[] = {
	    {"1970-01-01T00:00:00.1Z", 100000},       {"1970-01-01T00:00:00.123456Z", 123456},
	    {"1970-01-01T00:00:00.1234560Z", 123456}, {"1970-01-01T00:00:00.1234561Z", 123457},
	    {"1970-01-01T00:00:00.000000001Z", 1},    {"1970-01-01T00:00:00.999999999Z", 1000000},
	    {"1969-12-31T23:59:59.9999999Z", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		dw_usec value = -7;

		assert_int_equal(dw_parse_time(samples[i].text, &value), DW_OK);
		assert_true(value == samples[i].value);
	}
}

static void time_malformed_is_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "now",
	    "1780306200",
	    "2026-06-01",
	    "2026-06-01T09:30Z",
	    "2026-06-01T09:30:00",
	    "2026-06-01T09:30:00 Z",
	    "2026-06-01T09:30:00Z ",
	    " 2026-06-01T09:30:00Z",
	    "2026-06-01_09:30:00Z",
	    "2026-6-1T09:30:00Z",
	    "26-06-01T09:30:00Z",
	    "-2026-06-01T09:30:00Z",
	    "+2026-06-01T09:30:00Z",
	    "02026-06-01T09:30:00Z",
	    "2026-06-01T09:30:00.Z",
	    "2026-06-01T09:30:00,5Z",
	    "2026-06-01T09:30:00.0123456789Z",
	    "2026-06-01T09:30:00+0100",
	    "2026-06-01T09:30:00+1:00",
	    "2026-06-01T09:30:00+01",
	    "2026-06-01T09:30:00CET",
	    "2026-06-01T09:30:00ZZ",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		dw_usec value = 42;

		assert_int_equal(dw_parse_time(bad[i], &value), DW_EINVAL);
		assert_true(value == 42);
	}
	assert_int_equal(dw_parse_time(NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_parse_time("1970-01-01T00:00:00Z", NULL), DW_EINVAL);
}

static void time_that_does_not_exist_is_not_malformed(void **state)
{
	static const char *const bad[] = {
	    "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00Z",
	    "2026-00-01T00:00:00Z",         "2026-13-01T00:00:00Z",      "2026-06-00T00:00:00Z",
	    "2026-06-31T00:00:00Z",         "2023-02-29T00:00:00Z",      "1900-02-29T00:00:00Z",
	    "2026-06-01T24:00:00Z",         "2026-06-01T09:60:00Z",      "2016-12-31T23:59:60Z",
	    "2026-06-01T09:30:00+24:00",    "2026-06-01T09:30:00+01:60",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		dw_usec value = 42;

		assert_int_equal(dw_parse_time(bad[i], &value), DW_ELIMIT);
		assert_true(value == 42);
	}
}

static void time_formatted_is_rfc3339(void **state)
{
	static const struct sample samples[] = {
	    {"1970-01-01T00:00:00.000000Z", 0},
	    {"1969-12-31T23:59:59.999999Z", -1},
	    {"2026-06-01T09:30:00.250000Z", INT64_C(1780306200250000)},
	    {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999)},
	    {"+10000-01-01T00:00:00.000000Z", INT64_C(253402300800000000)},
	    {"0000-12-31T00:00:00.000000Z", INT64_C(-62135683200000000)},
	    {"-0001-12-31T00:00:00.000000Z", INT64_C(-62167305600000000)},
	    {"+294247-01-10T04:00:54.775806Z", INT64_MAX - 1},
	    {"-290308-12-21T19:59:05.224192Z", INT64_MIN},
	    {"never", DW_NEVER},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		char text[DW_TIME_SIZE];

		dw_format_time(samples[i].value, text);
		assert_string_equal(text, samples[i].text);
	}
}

static void time_formatted_is_parsed_to_itself(void **state)
{
	const dw_usec first = INT64_C(-62135596800000000);
	const uint64_t span = UINT64_C(253402300800000000) + UINT64_C(62135596800000000);
	struct rng rng = seed_of_test();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		dw_usec time = first + (dw_usec)rng_below(&rng, span);
		dw_usec again = 0;
		char text[DW_TIME_SIZE];

		dw_format_time(time, text);
		assert_int_equal(dw_parse_time(text, &again), DW_OK);
		assert_true(again == time);
	}
}

/* is_answer: what reading any text may answer. */
static bool is_answer(int status)
{
	return status == DW_OK || status == DW_EINVAL || status == DW_ELIMIT;
}

static void time_of_random_text_is_defined(void **state)
{
	static const char letters[] = "0123456789-:.TZtz+ dhmsu";
	struct rng rng = seed_of_test();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[36];
		size_t length = (size_t)rng_below(&rng, sizeof text);
		dw_usec value;

		for (size_t k = 0; k < length; k++)
			text[k] = letters[rng_below(&rng, sizeof letters - 1)];
		text[length] = '\0';
		assert_true(is_answer(dw_parse_time(text, &value)));
		assert_true(is_answer(dw_parse_duration(text, &value)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(duration_well_formed_is_exact),
	    cmocka_unit_test(duration_malformed_is_refused),
	    cmocka_unit_test(duration_too_long_is_not_malformed),
	    cmocka_unit_test(time_well_formed_is_exact),
	    cmocka_unit_test(time_finer_than_a_microsecond_is_never_early),
	    cmocka_unit_test(time_malformed_is_refused),
	    cmocka_unit_test(time_that_does_not_exist_is_not_malformed),
	    cmocka_unit_test(time_formatted_is_rfc3339),
	    cmocka_unit_test(time_formatted_is_parsed_to_itself),
	    cmocka_unit_test(time_of_random_text_is_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
