/* Every public macro, expanded in a program: run.sh compiles it in each language the headers
 * promise, with the warnings that a user's build may have. */
#include "durawheel/store.h"
#include "durawheel/wheel.h"

#include <inttypes.h>
#include <stdio.h>

static int failed;

static void equal(const char *what, dw_usec found, dw_usec wanted)
{
	if (found == wanted)
		return;
	printf("%s is %" PRId64 ", not %" PRId64 "\n", what, found, wanted);
	failed = 1;
}

#define EQUAL(macro, wanted) equal(#macro, macro, wanted)

/* What a program does with durations at compile time. */
static const dw_usec table[] = {DW_MILLISECONDS(1), DW_SECONDS(1.5), DW_DAYS(365)};
enum { TICK = DW_MILLISECONDS(20) };

static void check_durations(void)
{
	int three = 3;
	unsigned char four = 4;
	size_t five = 5;
	float half = 0.5f;

	EQUAL(table[0], 1000);
	EQUAL(table[1], 1500000);
	EQUAL(table[2], 31536000000000);
	EQUAL(TICK, 20000);
	EQUAL(DW_MILLISECONDS(1.5), 1500);
	EQUAL(DW_MILLISECONDS(0.0005), 0);
	EQUAL(DW_SECONDS(-2.5), -2500000);
	EQUAL(DW_SECONDS(half), 500000);
	EQUAL(DW_SECONDS(three + 1), 4000000);
	EQUAL(DW_MINUTES(four), 240000000);
	EQUAL(DW_MINUTES(0.5), 30000000);
	EQUAL(DW_HOURS(five), 18000000000);
	EQUAL(DW_HOURS(1 / 2.0), 1800000000);
	EQUAL(DW_DAYS(1.0 / 3), 28800000000);
	EQUAL(DW_DAYS(100000), 8640000000000000);
	EQUAL(DW_SECONDS(1) * 2 / DW_MILLISECONDS(1), 2000);
	EQUAL(DW_NEVER, INT64_MAX);
}

static void check_limits(void)
{
	char time[DW_TIME_SIZE];
	char message[DW_MESSAGE_SIZE];

	EQUAL(sizeof time >= sizeof "-292277-12-31T23:59:59.999999Z", 1);
	EQUAL(sizeof message, 256);
	EQUAL(sizeof DW_VERSION > 5, 1);
	EQUAL(DW_ID_MAX, 255);
	EQUAL(DW_TOPIC_MAX, 63);
	EQUAL(DW_DATA_DEFAULT / 2, 32768);
	EQUAL(DW_DATA_MAX / DW_DATA_DEFAULT, 16);
	EQUAL(DW_HOLDS_MAX, 1024);
	EQUAL(DW_RETRIES_MAX, 16);
	EQUAL(DW_CRASHES_MAX, 64);
	EQUAL(DW_LIST_MAX, 1000);
	EQUAL(DW_NEW, 1);
	EQUAL(DW_OP_NEW | DW_OP_CLAIMED | DW_OP_WITHDRAWN | DW_OP_VERDICT, 15);
}

int main(void)
{
	check_durations();
	check_limits();
	return failed;
}
